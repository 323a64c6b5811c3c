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
	if p != nil || !errors.As(err, &why) || Explain(err) != Explain(missing) {
		t.Errorf("%v, %v, the list says %v", p, err, missing)
	}
}
