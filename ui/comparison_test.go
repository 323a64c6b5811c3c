package ui

import (
	"strings"
	"testing"

	"blik/processing"
)

// Two masks are compared in words and colours, which follow each change.
func TestComparison(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.masks["/art/other.png"] = processing.NewMask(200, 100)
	for x := 20; x < 30; x++ {
		h.masks["/art/other.png"].Pix[10*200+x] = 255
	}
	h.masks["/art/small.png"] = processing.NewMask(3, 3)
	if h.comparison.object.Visible() || h.k.actions.can("file.endCompare") {
		t.Error("a mask is compared at the start")
	}
	h.k.actions.do("find.run")
	h.settle()
	height := h.aids.object.Size().Height
	// A mask of another size is refused with a message.
	h.dialogs.path = "/art/small.png"
	h.k.actions.do("file.compareMask")
	h.settle()
	if said := h.dialogTexts(); !strings.Contains(said, "size") {
		t.Errorf("the dialog says %q", said)
	}
	h.press("OK")
	h.dialogs.path = "/art/other.png"
	h.k.actions.do("file.compareMask")
	h.settle()
	check := func(when string, texts ...string) {
		t.Helper()
		c := h.comparison
		for i, shown := range []string{c.sum.Text(), c.here.Text(), c.there.Text(), c.both.Text()} {
			if !strings.Contains(shown, texts[i]) {
				t.Errorf("%s: %q, want %q", when, shown, texts[i])
			}
		}
	}
	// The fake detection marks four of those pixels and two others.
	check("compared", "other.png: 33\u00a0%", "1 finding (2 px)", "0 findings (6 px)", "1 finding (4 px)")
	if !h.comparison.object.Visible() || h.k.display.port.Options().Other == nil {
		t.Error("the comparison is not shown")
	}
	if h.aids.object.Size().Height >= height {
		t.Error("the comparison lies over the picture")
	}
	h.k.actions.do("edit.clear")
	check("cleared", "0", "0 findings (0 px)", "1 finding (10 px)", "0 findings (0 px)")
	h.k.actions.do("file.endCompare")
	if h.comparison.object.Visible() || h.k.display.port.Options().Other != nil {
		t.Error("the comparison is still shown")
	}
	if now := h.aids.object.Size().Height; now != height {
		t.Errorf("the picture is %v high after the comparison, before it %v", now, height)
	}
	h.k.actions.do("file.compareMask")
	h.settle()
	h.files.Open("/art/b.tif")
	h.press("Don't save")
	h.settle()
	if h.comparison.object.Visible() {
		t.Error("the new picture is compared with the mask of the previous one")
	}
}
