package session_test

import (
	"image"
	"slices"
	"testing"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/session"
	"blik/processing"
)

// The view of changed pixels shows exactly those in which the corrected picture differs from the original, and those
// that were marked are in the mask.
func TestChangedView(t *testing.T) {
	t.Parallel()
	s, _ := searched(t, image.Rectangle{})
	if s.ChangedView() != nil {
		t.Error("pixels are changed before any correction")
	}
	s.CorrectAll(s.outcome)
	s.rest()
	doc := s.Document()
	result := *doc.Picture()
	result.U8 = slices.Clone(result.U8)
	for _, p := range doc.Corrections().Patches() {
		p.Apply(&result)
	}
	shown := false
	s.Subscribe(func(c session.Change) { shown = shown || c.Compared })
	if s.ChangedView() != nil {
		t.Error("the view is made at once, on the goroutine of the window")
	}
	for !shown {
		(<-s.queue)()
	}
	changed := s.ChangedView().Mask()
	count := map[uint8]int{}
	for i, kind := range changed.Pix {
		x, y := i%changed.Width, i/changed.Width
		if (kind != 0) != imagefile.DifferentPixel(doc.Picture(), &result, x, y) {
			t.Fatalf("pixel %d, %d: shown as %d", x, y, kind)
		}
		if marked := doc.Mask().Pix[i] >= processing.MaskLevel; kind != 0 && marked != (kind == document.ChangedMarked) {
			t.Fatalf("pixel %d, %d: shown as %d, marked %v", x, y, kind, marked)
		}
		count[kind]++
	}
	if count[document.ChangedMarked] == 0 || count[document.ChangedHalo] == 0 {
		t.Errorf("of each kind: %v", count)
	}
	s.Undo()
	if s.ChangedView() != nil {
		t.Error("pixels are shown as changed after the correction was undone")
	}
}
