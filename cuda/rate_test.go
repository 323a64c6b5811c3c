//go:build cuda && linux && amd64

package cuda

import (
	"context"
	"errors"
	"testing"
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
	if planes, bytes := b.Live(); planes != 0 || bytes != 0 {
		t.Errorf("%d planes, %d bytes are left on the device", planes, bytes)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, _, _, err := b.CopyRates(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
