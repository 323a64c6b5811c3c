package ui

import (
	"math"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"blik/app/document"
	"blik/app/session/findings"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// many returns a search result of n findings of 1 to 12 pixels in a row, of which every third needs a look.
func many(n int) *detect.Found {
	const w, h = 400, 300
	r := &detect.Found{Mask: processing.NewMask(w, h)}
	for i := range n {
		side := 1 + i%12
		x, y := 20+i%12*30, 20+i/12*25
		f := detect.Finding{ID: i + 1, Left: x, Top: y, Width: side, Height: 1, Area: side, X: float64(x), Y: float64(y),
			Runs: []processing.Run{{Y: y, X0: x, X1: x + side}}}
		f.Check = i%3 == 0
		r.Findings = append(r.Findings, f)
		for at := x; at < x+side; at++ {
			r.Mask.Pix[y*w+at] = 255
		}
	}
	return r
}

// reviewing returns a window with n findings in a picture of 400 × 300 pixels.
func reviewing(t *testing.T, n int) *harness {
	t.Helper()
	h := newHarness(t, "en")
	h.pictures["/p.png"] = testpic.Flat(400, 300, 3, 90)
	h.result = many(n)
	h.files.Open("/p.png")
	h.settle()
	h.k.actions.do("find.run")
	h.settle()
	return h
}

// Every step of a review by keys shows the finding in the middle, some 40 pixels wide, with the list beside it and the
// mask as outlines.
func TestReviewByKeys(t *testing.T) {
	const n = 100
	h := reviewing(t, n)
	h.k.keys.Rune('n')
	for i := range n {
		f, ok := h.c.found.Selected()
		if !ok {
			t.Fatalf("step %d: nothing is selected", i)
		}
		port := h.k.display.port
		middle := port.Transform().ScreenToImage(processing.Point{X: float64(port.Device().X) / 2, Y: float64(port.Device().Y) / 2})
		if b := f.Bounds(); math.Abs(middle.X-float64(b.Min.X+b.Max.X)/2) > 1 ||
			math.Abs(middle.Y-float64(b.Min.Y+b.Max.Y)/2) > 1 {
			t.Fatalf("step %d: %v is in the middle, the finding is %v", i, middle, b)
		}
		// A power of two comes within a factor of √2 of 40 px, unless that would need more than the largest zoom.
		zoom := port.Transform().Zoom
		if width := float64(f.Width) * zoom; width > 57 || width < 28 && zoom != fittingZoom {
			t.Fatalf("step %d: a finding of %d px is %g px wide", i, f.Width, width)
		}
		if h.panel.tabs.SelectedIndex() != findingsTab || !h.k.display.reviewing {
			t.Fatalf("step %d: tab %d, outlines %v", i, h.panel.tabs.SelectedIndex(), h.k.display.reviewing)
		}
		h.k.keys.Rune([]rune("kj")[i%2])
	}
	if kept, _, ignored := h.c.found.Decided(); kept != n/2 || ignored != n/2 {
		t.Errorf("%d kept and %d ignored of %d", kept, ignored, n)
	}
	h.k.actions.do("edit.undo")
	if h.k.display.reviewing {
		t.Error("the mask stays outlined after the review")
	}
}

// A summary that takes another line pushes the rest down.
func TestSummaryGrows(t *testing.T) {
	h := reviewing(t, 12)
	p := h.panel.findings
	for width := float32(300); width > 200; width -= 20 {
		p.object.Resize(fyne.NewSize(width, 500))
		if p.sum.Size().Height < p.sum.MinSize().Height {
			t.Fatalf("resized to %g, the summary needs a height of %g, it has %g", width, p.sum.MinSize().Height,
				p.sum.Size().Height)
		}
		h.k.actions.do("find.next")
		h.k.actions.do("find.keep")
		if p.sum.Size().Height < p.sum.MinSize().Height {
			t.Fatalf("%g wide, the summary needs a height of %g, it has %g", width, p.sum.MinSize().Height, p.sum.Size().Height)
		}
	}
}

// While no finding is selected, the list has the room of the reasons.
func TestListTakesTheRoomOfTheReasons(t *testing.T) {
	h := reviewing(t, 12)
	p := h.panel.findings
	p.object.Resize(fyne.NewSize(380, 500))
	check := func(when string, why bool) {
		t.Helper()
		bottom := p.views.Position().Y + p.views.Size().Height
		if free := 500 - bottom; p.whyBox.Visible() != why || (free > 20) != why {
			t.Errorf("%s: the reasons are visible: %v; %g below the list", when, p.whyBox.Visible(), free)
		}
	}
	check("found", false)
	h.c.found.Select(h.c.found.Listed()[3])
	check("selected", true)
	h.k.actions.do("edit.clear")
	check("cleared", false)
}

// Before all findings are corrected, those that need a look are asked about.
func TestCorrectAllAsks(t *testing.T) {
	h := reviewing(t, 6)
	corrected := func() (n int) {
		for _, s := range h.c.session.Document().Spots() {
			if s.State == document.Corrected {
				n++
			}
		}
		return n
	}
	for range 4 {
		h.k.keys.Rune('n')
	}
	h.k.actions.do("correct.all")
	if !strings.Contains(h.dialogTexts(), "painted lights") {
		t.Fatalf("asks %q", h.dialogTexts())
	}
	h.press("Check")
	if h.c.found.SelectedRow() != 0 || len(h.c.found.Listed()) != 2 || corrected() != 0 {
		t.Errorf("row %d of %d is selected, %d corrected", h.c.found.SelectedRow(), len(h.c.found.Listed()), corrected())
	}
	h.panel.findings.sort(0)
	h.k.actions.do("find.keep")
	h.k.actions.do("correct.all")
	h.press("Correct the certain")
	h.settle()
	if n := corrected(); n != 5 {
		t.Errorf("%d corrected, want the kept one and the certain ones", n)
	}
	h.k.actions.do("correct.all")
	h.press("Correct all")
	h.settle()
	if n := corrected(); n != 6 {
		t.Errorf("%d corrected of 6", n)
	}
	if l := h.c.found.Listing(); l != (findings.Listing{}) {
		t.Errorf("after all is corrected the list is limited to %+v", l)
	}
	h.k.actions.do("correct.all")
	if h.dialogOpen() {
		t.Errorf("asks again: %q", h.dialogTexts())
	}
}

// While findings are reviewed and corrected one by one, the outlines stay; when all are corrected, the mask is hidden.
func TestCorrectWhileReviewing(t *testing.T) {
	h := reviewing(t, 2)
	for i, shown := range []bool{true, false} {
		h.k.keys.Rune('n')
		h.k.actions.do("correct.selected")
		h.settle()
		if h.k.display.maskShown != shown {
			t.Errorf("after correction %d the mask is shown: %v", i+1, h.k.display.maskShown)
		}
	}
}

// A step leaves the correction tab in front, which shows the selected finding corrected by each method. A check shows
// the list.
func TestStepsInTheCorrectionTab(t *testing.T) {
	h := reviewing(t, 6)
	h.panel.tabs.SelectIndex(correctionTab)
	for range 2 {
		h.k.keys.Rune('n')
	}
	if f, ok := h.c.found.Selected(); !ok || f.Number != 2 || h.panel.tabs.SelectedIndex() != correctionTab {
		t.Errorf("finding %d is selected (%v), tab %d is in front", f.Number, ok, h.panel.tabs.SelectedIndex())
	}
	h.k.actions.do("correct.all")
	h.press("Check")
	if h.panel.tabs.SelectedIndex() != findingsTab {
		t.Errorf("tab %d is in front of a check", h.panel.tabs.SelectedIndex())
	}
}

// When the last finding is checked, all are listed again, sorted as before.
func TestCheckEnds(t *testing.T) {
	h := reviewing(t, 6)
	before := findings.Listing{By: findings.ByScore}
	h.c.found.SetListing(before)
	h.k.actions.do("correct.all")
	h.press("Check")
	h.k.actions.do("find.keep")
	if l := h.c.found.Listing(); l.Choice != findings.ToCheck {
		t.Errorf("with one left the listing is %+v", l)
	}
	h.k.actions.do("find.ignore")
	if l := h.c.found.Listing(); l != before || h.panel.findings.choice.SelectedIndex() != 0 {
		t.Errorf("the listing is %+v, the list shows %q", l, h.panel.findings.choice.Selected)
	}
	if text := h.status.message.Text(); text != "All are checked: correct the findings (F6)" {
		t.Errorf("the status says %q", text)
	}
	h.k.actions.do("edit.undo")
	h.k.actions.do("correct.all")
	h.press("Check")
	h.pictures["/q.png"] = testpic.Flat(40, 30, 3, 90)
	h.files.Open("/q.png")
	h.press("Don't save")
	h.settle()
	if l := h.c.found.Listing(); l != before {
		t.Errorf("the list of another picture is limited to %+v", l)
	}
}

// If every finding needs a look, correcting the certain ones changes nothing and says so.
func TestCorrectNoneCertain(t *testing.T) {
	h := reviewing(t, 1)
	h.k.actions.do("correct.all")
	h.press("Correct the certain")
	h.settle()
	if h.dialogOpen() || h.c.session.Document().Spots()[0].State != document.Uncorrected {
		t.Errorf("dialog %q, status %q", h.dialogTexts(), h.status.message.Text())
	}
	if text := h.status.message.Text(); !strings.HasPrefix(text, "0 findings corrected") {
		t.Errorf("the status says %q", text)
	}
}
