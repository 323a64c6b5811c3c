//go:build linux

package ui

import (
	"context"
	"strings"
	"testing"
)

// TestRunWithoutAnswer: a display that is named but not there is one sentence, not a panic of the toolkit.
func TestRunWithoutAnswer(t *testing.T) {
	t.Setenv("WAYLAND_DISPLAY", "")
	for _, display := range []string{"", ":59977", ":59977.0"} {
		t.Setenv("DISPLAY", display)
		if err := Run(context.Background(), Options{}); err == nil || !strings.Contains(err.Error(), "blik detect") {
			t.Errorf("DISPLAY=%q: %v", display, err)
		}
	}
}
