package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// While a picture is being read, its placeholder covers the open picture, and neither can be used.
func TestPlaceholder(t *testing.T) {
	h := newHarness(t, "en").opened()
	before := h.c.session.Document()
	if h.placeholder.object.Visible() {
		t.Error("a placeholder is shown although nothing is being read")
	}
	h.reading = make(chan struct{})
	open := func() {
		h.files.Open("/art/b.tif")
		for h.c.store.Placeholder() == nil && h.c.session.Busy() {
			(<-h.queue)()
		}
		h.placeholder.onScreen()
	}
	open()
	if h.c.store.Placeholder() == nil || !h.placeholder.object.Visible() || !h.placeholder.port.Shows(h.c.store.Placeholder()) {
		t.Fatal("no placeholder is shown while the picture is being read")
	}
	if h.k.display.port.Shows(h.c.store.Placeholder()) || h.c.session.Document() != before {
		t.Error("the placeholder is taken for the picture")
	}
	h.k.actions.do("view.mask")
	if !h.k.display.maskShown {
		t.Error("an action ran while a picture was being read")
	}
	h.build()
	if !h.placeholder.object.Visible() {
		t.Error("changing the language hides the placeholder")
	}
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(h.placeholder.port)
	size := h.placeholder.port.Size()
	middle := fyne.NewPos(at.X+size.Width/2, at.Y+size.Height/2)
	shown := h.placeholder.port.Transform()
	test.Scroll(h.win.Canvas(), middle, 0, 100)
	test.Drag(h.win.Canvas(), middle, 10, 10)
	if h.placeholder.port.Transform() != shown || h.c.session.Document().Dirty() {
		t.Error("the pointer reached the viewport")
	}
	h.k.actions.do("escape")
	h.settle()
	if h.c.store.Placeholder() != nil || h.placeholder.object.Visible() || h.c.session.Document() != before {
		t.Error("Esc does not show the open picture again")
	}
	open()
	close(h.reading)
	h.settle()
	if h.c.store.Placeholder() != nil || h.placeholder.object.Visible() || h.c.session.Document() == before {
		t.Error("the picture does not replace its placeholder")
	}
}
