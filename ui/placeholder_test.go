package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// While a picture is read, some of its pixels lie over the one that is open, and nothing can be done with either.
func TestPlaceholder(t *testing.T) {
	h := newHarness(t, "en").opened()
	before := h.Document()
	if h.placeholder.object.Visible() {
		t.Error("something is shown although nothing is read")
	}
	h.reading = make(chan struct{})
	open := func() {
		h.files.open("/art/b.tif")
		for h.Placeholder() == nil && h.Busy() {
			(<-h.queue)()
		}
		h.placeholder.onScreen()
	}
	open()
	if h.Placeholder() == nil || !h.placeholder.object.Visible() || !h.placeholder.port.Shows(h.Placeholder()) {
		t.Fatal("nothing is shown while the picture is read")
	}
	if h.display.port.Shows(h.Placeholder()) || h.Document() != before {
		t.Error("some pixels are taken for the picture")
	}
	h.actions.do("view.mask")
	if !h.display.maskShown {
		t.Error("an action was done while a picture is read")
	}
	h.build()
	if !h.placeholder.object.Visible() {
		t.Error("another language hides what is read")
	}
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(h.placeholder.port)
	size := h.placeholder.port.Size()
	middle := fyne.NewPos(at.X+size.Width/2, at.Y+size.Height/2)
	shown := h.placeholder.port.Transform()
	test.Scroll(h.win.Canvas(), middle, 0, 100)
	test.Drag(h.win.Canvas(), middle, 10, 10)
	if h.placeholder.port.Transform() != shown || h.Document().Dirty() {
		t.Error("the pointer reached what lies under it")
	}
	h.actions.do("escape")
	h.settle()
	if h.Placeholder() != nil || h.placeholder.object.Visible() || h.Document() != before {
		t.Error("Esc does not bring back what was open")
	}
	open()
	close(h.reading)
	h.settle()
	if h.Placeholder() != nil || h.placeholder.object.Visible() || h.Document() == before {
		t.Error("the picture is not shown in place of some pixels of it")
	}
}
