//go:build linux

package screen

import (
	"strings"
	"testing"

	"github.com/go-gl/glfw/v3.4/glfw"
)

// X11 is preferred to Wayland unless the user decides, and a Wayland display that does not answer is named.
func TestPlatform(t *testing.T) {
	for _, c := range []struct {
		wanted, x11, wayland string
		platform             glfw.Platform
	}{
		{"", ":0", "", glfw.PlatformX11},
		{"", ":0", "wayland-0", glfw.PlatformX11},
		{"", "", "wayland-0", glfw.PlatformWayland},
		{"wayland", ":0", "wayland-0", glfw.PlatformWayland},
		{"x11", "", "wayland-0", glfw.PlatformX11},
	} {
		t.Setenv("FYNE_PLATFORM", c.wanted)
		t.Setenv("DISPLAY", c.x11)
		t.Setenv("WAYLAND_DISPLAY", c.wayland)
		if got := platform(); got != c.platform {
			t.Errorf("FYNE_PLATFORM=%q DISPLAY=%q WAYLAND_DISPLAY=%q: platform %x", c.wanted, c.x11, c.wayland, got)
		}
	}
	t.Setenv("DISPLAY", ":59977")
	t.Setenv("FYNE_PLATFORM", "wayland")
	t.Setenv("WAYLAND_DISPLAY", "no-such-socket")
	if _, _, err := Renderer(); err == nil || !strings.Contains(err.Error(), "no-such-socket") {
		t.Error(err)
	}
}
