package ui

import (
	"testing"

	"fyne.io/fyne/v2"

	"blik/app/view"
)

// A key shows original and result in turn, without the mask, until it is pressed again or Escape ends it. Holding the
// key does not end it again.
func TestBlink(t *testing.T) {
	h := fixed(t, "en")
	h.k.actions.do("view.mask")
	at := h.k.display.port.Transform()
	check := func(what string, mode view.Compare, status string, overlay view.Mode) {
		t.Helper()
		if port := h.k.display.port; port.Compare() != mode || h.status.compare.Text() != status ||
			port.Options().Mode != overlay || port.Transform() != at {
			t.Errorf("%s: mode %v, status %q, overlay %v", what, port.Compare(), h.status.compare.Text(),
				port.Options().Mode)
		}
	}
	held := &fyne.KeyEvent{Physical: fyne.HardwareKey{ScanCode: 51}}
	press := func() {
		h.k.keys.Down(held)
		for range 4 {
			h.k.keys.Rune('\\')
		}
		h.k.keys.Up(held)
	}
	wait := func(mode view.Compare) {
		for h.k.display.port.Compare() != mode {
			(<-h.queue)()
		}
	}
	press()
	check("begun", view.CompareBefore, "ORIGINAL", view.PictureOnly)
	wait(view.CompareAfter)
	check("the turn of the result", view.CompareAfter, "corrected", view.PictureOnly)
	h.k.actions.do("find.next")
	at = h.k.display.port.Transform()
	wait(view.CompareBefore)
	check("the turn of the original, at another finding", view.CompareBefore, "ORIGINAL", view.PictureOnly)
	press()
	check("pressed again", view.CompareAfter, "corrected", view.Outlines)
	press()
	h.k.actions.do("escape")
	check("escaped", view.CompareAfter, "corrected", view.Outlines)
	press()
	h.k.actions.do("view.split")
	check("split", view.CompareSplit, "original | corrected", view.Outlines)
	press()
	check("instead of the split line", view.CompareBefore, "ORIGINAL", view.PictureOnly)
	h.k.actions.do("correct.removeAll")
	if h.k.display.blinking() || h.k.actions.can("view.blink") {
		t.Error("it blinks although there is nothing to compare")
	}
}
