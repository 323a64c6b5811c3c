package ui

import (
	"testing"

	"fyne.io/fyne/v2"

	"blik/ui/viewport"
)

// The second window shows the result at the place and zoom of the first one, and goes when it is closed.
func TestClientWindow(t *testing.T) {
	h := fixed(t, "en")
	before := len(h.app.Driver().AllWindows())
	h.k.actions.do("view.client")
	windows := h.app.Driver().AllWindows()
	if len(windows) != before+1 || !h.client.Shown() {
		t.Fatalf("%d windows, before %d", len(windows), before)
	}
	second := windows[len(windows)-1]
	if second.Title() != "Result – Blik" {
		t.Errorf("its title is %q", second.Title())
	}
	port := second.Content().(*fyne.Container).Objects[0].(*viewport.Viewport)
	original, result := h.c.session.Pictures()
	if !port.Shows(original) || original == result {
		t.Error("another picture is shown")
	}
	middle := func(v *viewport.Viewport) (x, y float64) {
		at := v.Transform()
		return at.X + float64(v.Device().X)/2/at.Zoom, at.Y + float64(v.Device().Y)/2/at.Zoom
	}
	h.k.display.port.SetZoom(4)
	x, y := middle(h.k.display.port)
	if u, v := middle(port); port.Transform().Zoom != 4 || u-x > 1 || x-u > 1 || v-y > 1 || y-v > 1 {
		t.Errorf("zoom %g about %g, %g; want 4 about %g, %g", port.Transform().Zoom, u, v, x, y)
	}
	h.setLanguage("ru")
	if second.Title() != "Результат – Blik" {
		t.Errorf("in Russian its title is %q", second.Title())
	}
	second.Close()
	if h.client.Shown() || h.k.actions.table["view.client"].checked() {
		t.Error("the closed window counts as shown")
	}
	h.k.actions.do("correct.remove")
	h.k.display.port.SetZoom(2)
}
