// Package cancelling cancels jobs wherever they look at their context.
package cancelling

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// Context is cancelled after it has been checked a number of times. Left counts the checks still to come, After those
// since the cancel.
type Context struct {
	context.Context
	Left, After atomic.Int64
}

// After returns a context that is cancelled after so many checks.
func After(looks int) *Context {
	c := &Context{Context: context.Background()}
	c.Left.Store(int64(looks))
	return c
}

// Err implements context.Context.
func (c *Context) Err() error {
	if c.Left.Add(-1) >= 0 {
		return nil
	}
	c.After.Add(1)
	return context.Canceled
}

// Everywhere runs job to the end, where it must check its context at least so many times, and then cancels it at eight
// of these checks. After the cancel each worker and each nested stage may check once more.
func Everywhere(t *testing.T, least int, job func(ctx context.Context) error) {
	t.Helper()
	const plenty = 1 << 40
	all := After(plenty)
	if err := job(all); err != nil {
		t.Fatal(err)
	}
	looks := plenty - int(all.Left.Load())
	if looks < least {
		t.Errorf("looked at its context %d times, want at least %d", looks, least)
	}
	// The number of checks varies a little with the order in which workers finish.
	for n := 0; n < looks*9/10; n += 1 + looks/9 {
		c := After(n)
		if err := job(c); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at look %d of %d: error %v", n, looks, err)
		}
		if after := c.After.Load(); after > 24 {
			t.Errorf("cancelled at look %d of %d, and looked %d times more", n, looks, after)
		}
	}
}
