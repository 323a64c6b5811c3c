package ui

import (
	"strings"
	"testing"

	"blik/processing"
	"blik/ui/tool"
)

// The mask is changed by shapes drawn with the lasso, by the search region, and by one pixel at its edges.
func TestMaskByAreas(t *testing.T) {
	h := newHarness(t, "en").opened()
	area := func(want int, what string) {
		t.Helper()
		if got := h.session.Document().Stats().Area; got != want {
			t.Errorf("%s: the mask has %d pixels, expected %d", what, got, want)
		}
	}
	h.actions.do("tool.lasso")
	draw := func(e tool.Event) {
		l := h.toolbox.tools["tool.lasso"]
		for i, p := range []processing.Point{{X: 10, Y: 10}, {X: 30, Y: 10}, {X: 30, Y: 20}, {X: 10, Y: 20}} {
			e.At = p
			if i == 0 {
				l.Press(e)
			} else {
				l.Move(e)
			}
		}
		l.Release()
	}
	draw(tool.Event{})
	area(200, "lasso")
	h.actions.do("edit.shrink")
	area(18*8, "shrunk")
	h.keys.Rune('.')
	area(200, "grown again")
	if h.actions.can("edit.addRegion") {
		t.Error("marking the region is not available")
	}
	h.toolbox.SetRegion(&processing.Region{Shape: processing.RectangleShape,
		Points: []processing.Point{{X: 20, Y: 10}, {X: 40, Y: 20}}})
	h.actions.do("edit.keepRegion")
	area(100, "only inside the region")
	h.actions.do("edit.addRegion")
	area(200, "the region marked")
	h.actions.do("edit.takeRegion")
	area(0, "the region taken out")
	for range 3 {
		h.actions.do("edit.undo")
	}
	area(200, "undone")
	draw(tool.Event{Secondary: true})
	area(0, "the lasso with the right button")
	h.display.toggleMask()
	h.actions.do("edit.grow")
	if !h.display.maskShown {
		t.Error("the mask was changed while hidden")
	}
}

// A click with the wand marks and selects a bright spot in one step; a click on it removes it again.
func TestWand(t *testing.T) {
	h := newHarness(t, "en")
	pic := h.pictures["/art/a.png"]
	for y := 40; y < 44; y++ {
		for x := 60; x < 66; x++ {
			for c := range 3 {
				pic.U8[(y*pic.Width+x)*3+c] = 240
			}
		}
	}
	h.opened()
	h.display.toggleMask()
	h.keys.Rune('w')
	click := func(x, y float64) {
		h.toolbox.tools["tool.wand"].Press(tool.Event{At: processing.Point{X: x, Y: y}, Slack: 3})
	}
	click(63.5, 41.5)
	spots := h.session.Document().Spots()
	if len(spots) != 1 || spots[0].Detected || spots[0].Left > 60 || spots[0].Left+spots[0].Width < 66 {
		t.Fatalf("%+v", spots)
	}
	if f, ok := h.found.Selected(); !ok || f.ID != 1 {
		t.Error("the marked finding is not selected")
	}
	if !h.display.maskShown {
		t.Error("the mask was changed while hidden")
	}
	h.actions.do("edit.undo")
	if n := h.session.Document().Stats().Area; n != 0 {
		t.Errorf("%d pixels after undo", n)
	}
	h.actions.do("edit.redo")
	click(61.5, 42.5)
	if n := h.session.Document().Stats().Area; n != 0 {
		t.Errorf("%d pixels of the removed finding are left", n)
	}
	// A glint hit from beside it is removed by another click there, and marked by a third.
	for i, marked := range []bool{true, false, true, false} {
		if click(57.5, 41.5); (h.session.Document().Stats().Area > 0) != marked {
			t.Errorf("click %d beside the glint leaves %d pixels", i, h.session.Document().Stats().Area)
		}
	}
	click(150, 80)
	if text := h.status.message.Text(); text != "Nothing is brighter than its surroundings here" {
		t.Errorf("for a click on nothing the status says %q", text)
	}
	click(-5, 80)
	click(1e9, 80)
}

// A picture that is not a mask is loaded, or compared with, only after a question; without it nothing changes.
func TestPictureAsMask(t *testing.T) {
	h := newHarness(t, "en").opened()
	photo := processing.NewMask(200, 100)
	photo.Pix[0], photo.Pix[50] = 200, 255
	h.masks["/art/photo.png"], h.dialogs.path = photo, "/art/photo.png"
	for _, id := range []string{"file.loadMask", "file.compareMask"} {
		h.actions.do(id)
		h.settle()
		if text := h.dialogTexts(); !strings.HasPrefix(text, "/art/photo.png: this is not a mask.\n\nIn a mask,") {
			t.Errorf("%s: the question is %q", id, text)
		}
		h.press("Cancel")
		h.settle()
		if _, on := h.analysis.Comparison(); on || h.session.Document().Generation() != 0 {
			t.Errorf("%s: the picture was used without consent", id)
		}
	}
	h.files.loadMask("/art/photo.png")
	h.settle()
	h.press("Use it as a mask")
	h.settle()
	if n := h.session.Document().Stats().Area; n != 2 {
		t.Errorf("the mask has %d pixels, want 2", n)
	}
	if text := h.status.message.Text(); text != "Mask loaded: photo.png, 2 findings" {
		t.Errorf("the status bar says %q", text)
	}
	h.actions.do("file.compareMask")
	h.settle()
	h.press("Use it as a mask")
	h.settle()
	if _, on := h.analysis.Comparison(); !on {
		t.Error("the mask is not compared")
	}
	h.masks["/art/dark.png"] = processing.NewMask(200, 100)
	h.files.loadMask("/art/dark.png")
	h.settle()
	if text := h.status.message.Text(); !strings.HasPrefix(text, "Mask loaded: dark.png. It is empty: ") {
		t.Errorf("the status bar says %q", text)
	}
}
