// Package cancelling cancels jobs wherever they look at their context.
package cancelling

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// looked is a context that is cancelled after it has been checked a given number of times.
type looked struct {
	context.Context
	left, after atomic.Int64
}

func cancelledAt(looks int) *looked {
	c := &looked{Context: context.Background()}
	c.left.Store(int64(looks))
	return c
}

func (c *looked) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	c.after.Add(1)
	return context.Canceled
}

// Everywhere runs job to the end, where it must check its context at least so many times, and then cancels it at eight
// of these checks. After the cancel each worker and each nested stage may check once more.
func Everywhere(t *testing.T, least int, job func(ctx context.Context) error) {
	t.Helper()
	const plenty = 1 << 40
	all := cancelledAt(plenty)
	if err := job(all); err != nil {
		t.Fatal(err)
	}
	looks := plenty - int(all.left.Load())
	if looks < least {
		t.Errorf("looked at its context %d times, want at least %d", looks, least)
	}
	// The number of checks varies a little with the order in which workers finish.
	for n := 0; n < looks*9/10; n += 1 + looks/9 {
		c := cancelledAt(n)
		if err := job(c); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at look %d of %d: error %v", n, looks, err)
		}
		if after := c.after.Load(); after > 24 {
			t.Errorf("cancelled at look %d of %d, and looked %d times more", n, looks, after)
		}
	}
}
