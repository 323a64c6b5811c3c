package gpu

import (
	"context"
	"fmt"

	"blik/app/device"
	"blik/lab/experiment"
)

// Provider computes the experiments' variants on a GPU until it is closed.
type Provider interface {
	experiment.Provider
	Close() error
}

// Open opens a GPU for experiments by a name that device.Open takes: the first one for "auto". For "cpu" both results
// are nil. Otherwise the error says why a GPU cannot be used; device.Explain puts it into words. The other variants of
// the experiments still run.
func Open(ctx context.Context, name string) (Provider, error) {
	ordinal, ok, err := device.GPU(name)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil || !ok {
		return nil, err
	}
	return openUntil(ctx, func() (Provider, error) { return openProvider(ordinal) })
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
