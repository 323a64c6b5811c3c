package gpu

import (
	"blik/app/device"
	"context"
	"errors"
	"testing"

	"blik/cuda/driver"
)

func TestExperiments(t *testing.T) {
	if p, err := Open(t.Context(), "cpu"); p != nil || err != nil {
		t.Errorf("on the CPU: %v, %v", p, err)
	}
	if _, err := Open(t.Context(), "gpu"); err == nil {
		t.Error("no error for an unknown device")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(cancelled, "auto"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, missing := device.List()
	p, err := Open(t.Context(), "auto")
	if missing == nil {
		if err != nil || p.Name() == "" || len(p.Variants("sliding")) == 0 {
			t.Fatalf("%v, %v", p, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	var why *driver.Problem
	if p != nil || !errors.As(err, &why) || !device.Explain(err).Equal(device.Explain(missing)) {
		t.Errorf("%v, %v, the list says %v", p, err, missing)
	}
}

// late is an open provider.
type late struct {
	Provider
	closed chan struct{}
}

func (p late) Close() error {
	close(p.closed)
	return nil
}

// A driver that hangs does not block a cancelled call; a device that opens later is closed.
func TestExperimentsOfADriverThatHangs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	gate, open := make(chan struct{}), late{closed: make(chan struct{})}
	p, err := openUntil(ctx, func() (Provider, error) {
		cancel()
		<-gate
		return open, nil
	})
	if p != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", p, err)
	}
	close(gate)
	<-open.closed
}
