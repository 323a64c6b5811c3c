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
		if got := h.c.session.Document().Stats().Area; got != want {
			t.Errorf("%s: the mask has %d pixels, expected %d", what, got, want)
		}
	}
	h.k.actions.do("tool.lasso")
	draw := func(e tool.Event) {
		l := h.k.toolbox.tools["tool.lasso"]
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
	h.k.actions.do("edit.shrink")
	area(18*8, "shrunk")
	h.k.keys.Rune('.')
	area(200, "grown again")
	if h.k.actions.can("edit.addRegion") {
		t.Error("marking the region is not available")
	}
	h.k.toolbox.SetRegion(&processing.Region{Shape: processing.RectangleShape,
		Points: []processing.Point{{X: 20, Y: 10}, {X: 40, Y: 20}}})
	h.k.actions.do("edit.keepRegion")
	area(100, "only inside the region")
	h.k.actions.do("edit.addRegion")
	area(200, "the region marked")
	h.k.actions.do("edit.takeRegion")
	area(0, "the region taken out")
	for range 3 {
		h.k.actions.do("edit.undo")
	}
	area(200, "undone")
	draw(tool.Event{Secondary: true})
	area(0, "the lasso with the right button")
	h.k.display.toggleMask()
	h.k.actions.do("edit.grow")
	if !h.k.display.maskShown {
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
	h.k.display.toggleMask()
	h.k.keys.Rune('w')
	click := func(x, y float64) {
		h.k.toolbox.tools["tool.wand"].Press(tool.Event{At: processing.Point{X: x, Y: y}, Slack: 3})
	}
	click(63.5, 41.5)
	spots := h.c.session.Document().Spots()
	if len(spots) != 1 || spots[0].Detected || spots[0].Left > 60 || spots[0].Left+spots[0].Width < 66 {
		t.Fatalf("%+v", spots)
	}
	if f, ok := h.c.found.Selected(); !ok || f.ID != 1 {
		t.Error("the marked finding is not selected")
	}
	if !h.k.display.maskShown {
		t.Error("the mask was changed while hidden")
	}
	h.k.actions.do("edit.undo")
	if n := h.c.session.Document().Stats().Area; n != 0 {
		t.Errorf("%d pixels after undo", n)
	}
	h.k.actions.do("edit.redo")
	click(61.5, 42.5)
	if n := h.c.session.Document().Stats().Area; n != 0 {
		t.Errorf("%d pixels of the removed finding are left", n)
	}
	// A glint hit from beside it is removed by another click there, and marked by a third.
	for i, marked := range []bool{true, false, true, false} {
		if click(57.5, 41.5); (h.c.session.Document().Stats().Area > 0) != marked {
			t.Errorf("click %d beside the glint leaves %d pixels", i, h.c.session.Document().Stats().Area)
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
		h.k.actions.do(id)
		h.settle()
		if text := h.dialogTexts(); !strings.HasPrefix(text, "/art/photo.png: this is not a mask.\n\nIn a mask,") {
			t.Errorf("%s: the question is %q", id, text)
		}
		h.press("Cancel")
		h.settle()
		if _, on := h.c.analysis.Comparison(); on || h.c.session.Document().Generation() != 0 {
			t.Errorf("%s: the picture was used without consent", id)
		}
	}
	h.files.LoadMask("/art/photo.png", false)
	h.settle()
	h.press("Use it as a mask")
	h.settle()
	if n := h.c.session.Document().Stats().Area; n != 2 {
		t.Errorf("the mask has %d pixels, want 2", n)
	}
	if text := h.status.message.Text(); text != "Mask loaded: photo.png, 2 findings" {
		t.Errorf("the status bar says %q", text)
	}
	h.k.actions.do("file.compareMask")
	h.settle()
	h.press("Use it as a mask")
	h.settle()
	if _, on := h.c.analysis.Comparison(); !on {
		t.Error("the mask is not compared")
	}
	h.masks["/art/dark.png"] = processing.NewMask(200, 100)
	h.files.LoadMask("/art/dark.png", false)
	h.settle()
	if text := h.status.message.Text(); !strings.HasPrefix(text, "Mask loaded: dark.png. It is empty: ") {
		t.Errorf("the status bar says %q", text)
	}
}
