//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"blik/cuda/driver"
)

func TestCopyRates(t *testing.T) {
	b := gpu(t)
	local, up, down, err := b.CopyRates(background)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f GB/s within the memory, %.1f to the device, %.1f back", local/1e9, up/1e9, down/1e9)
	if local <= 0 || up <= 0 || down <= 0 {
		t.Error("a copy without a rate")
	}
	released(t, b)
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, _, _, err := b.CopyRates(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A driver that fails at any call of the measurement is an error; one that first lacks memory is not.
func TestCopyRatesOfAFailingDriver(t *testing.T) {
	if alone(t) {
		return
	}
	// measure returns the driver's calls and requests for memory until the backend was open, and until the rates were
	// there.
	measure := func(mode string) (before, after [2]int, err error) {
		t.Helper()
		if err := os.Setenv("FAKE_CUDA", mode); err != nil {
			t.Fatal(err)
		}
		counted := func() (n [2]int) {
			text, err := os.ReadFile(os.Getenv("FAKE_CUDA_CALLS"))
			if err == nil {
				_, err = fmt.Sscan(string(text), &n[0], &n[1])
			}
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		b, err := Open(0)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		defer b.Close()
		before = counted()
		local, up, down, err := b.copyRates(background, 2*rateLeast)
		if err == nil && (local <= 0 || up <= 0 || down <= 0) {
			t.Errorf("%s: %g, %g, %g", mode, local, up, down)
		}
		return before, counted(), err
	}
	before, after, err := measure("")
	if err != nil || after[0]-before[0] < 50 || after[1]-before[1] != 3 {
		t.Fatalf("%v, calls %v to %v", err, before, after)
	}
	// The last calls free memory and events.
	for n := before[0] + 1; n <= after[0]-7; n += 3 {
		_, _, err := measure(fmt.Sprintf("break %d 719", n))
		var p *driver.Problem
		if !errors.As(err, &p) || p.Code != 719 {
			t.Errorf("all calls fail from %d on: %v", n, err)
		}
	}
	for n := before[1] + 1; n <= after[1]; n++ {
		_, _, err := measure(fmt.Sprintf("memory %d", n))
		var p *driver.Problem
		if !errors.As(err, &p) || p.Reason != driver.NoMemory {
			t.Errorf("no memory from request %d on: %v", n, err)
		}
	}
	// One request that fails is followed by a smaller one.
	for n := before[0] + 1; n <= before[0]+8; n++ {
		_, after, err := measure(fmt.Sprintf("fail %d 2", n))
		if err == nil && after[1] > before[1]+3 {
			return
		}
	}
	t.Error("no measurement went on with less memory")
}
