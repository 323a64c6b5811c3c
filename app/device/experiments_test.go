package device

import (
	"context"
	"errors"
	"testing"

	"blik/cuda/driver"
)

func TestExperiments(t *testing.T) {
	if p, err := Experiments(t.Context(), "cpu"); p != nil || err != nil {
		t.Errorf("on the CPU: %v, %v", p, err)
	}
	if _, err := Experiments(t.Context(), "gpu"); err == nil {
		t.Error("no error for an unknown device")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Experiments(cancelled, "auto"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, missing := List()
	p, err := Experiments(t.Context(), "auto")
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
	if p != nil || !errors.As(err, &why) || !Explain(err).Equal(Explain(missing)) {
		t.Errorf("%v, %v, the list says %v", p, err, missing)
	}
}

// provider is an open provider.
type provider struct {
	Provider
	closed chan struct{}
}

func (p provider) Close() error {
	close(p.closed)
	return nil
}

// A driver that hangs does not block a cancelled call; a device that opens later is closed.
func TestExperimentsOfADriverThatHangs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	gate, late := make(chan struct{}), provider{closed: make(chan struct{})}
	p, err := openUntil(ctx, func() (Provider, error) {
		cancel()
		<-gate
		return late, nil
	})
	if p != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", p, err)
	}
	close(gate)
	<-late.closed
}
