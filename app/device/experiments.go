package device

import (
	"context"
	"fmt"

	"blik/lab/experiment"
)

// Provider computes the experiments' variants on a GPU until it is closed.
type Provider interface {
	experiment.Provider
	Close() error
}

// Experiments opens a GPU for experiments by a name that Open takes: the first one for "auto". For "cpu" both results
// are nil. Otherwise the error says why a GPU cannot be used; Explain puts it into words. The other variants of the
// experiments still run.
func Experiments(ctx context.Context, name string) (Provider, error) {
	c, err := parse(name)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil || !c.gpu {
		return nil, err
	}
	return openUntil(ctx, func() (Provider, error) { return openExperiments(c.ordinal) })
}

// openUntil also returns when ctx ends, because a driver may hang; a device that opens later is closed.
func openUntil(ctx context.Context, open func() (Provider, error)) (Provider, error) {
	type result struct {
		p   Provider
		err error
	}
	opened := make(chan result, 1)
	go func() {
		p, err := open()
		opened <- result{p, err}
	}()
	select {
	case r := <-opened:
		if r.err != nil {
			return nil, fmt.Errorf("experiments on a GPU: %w", r.err)
		}
		return r.p, nil
	case <-ctx.Done():
		go func() {
			if r := <-opened; r.err == nil {
				_ = r.p.Close()
			}
		}()
		return nil, ctx.Err()
	}
}
