package ui

import (
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"blik/app/document"
	"blik/app/session/findings"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// listed returns the list as it is shown, one string a row.
func (h *harness) listed() (rows []string) {
	for row := range h.panel.findings.table.Rows() {
		var cells []string
		for column := range findingColumns {
			cells = append(cells, h.panel.findings.cell(row, column))
		}
		rows = append(rows, strings.ReplaceAll(strings.Join(cells, "|"), "\u00a0", " "))
	}
	return rows
}

func (h *harness) checkList(what string, want ...string) {
	h.tb.Helper()
	got := h.listed()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		h.tb.Errorf("%s: the list is\n%s\nexpected\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Findings are decided with keys, one after the other, and the list follows.
func TestDecideByKeys(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	first, second := "1|22|10|4|3.5||–", "2|101|50|2|3.5||–"
	h.checkList("found", first, second)
	h.k.actions.do("find.keep")
	if s, ok := h.c.found.Selected(); !ok || s.ID != 1 || s.Decision != document.Undecided {
		t.Errorf("keep without a selection selects %+v", s)
	}
	h.k.display.toggleMask()
	h.k.keys.Rune('k')
	h.checkList("kept", "✓ "+first, second)
	if h.k.display.maskShown {
		t.Error("keeping a finding, which does not change the mask, shows the mask")
	}
	if row := h.panel.findings.table.Selected(); row != 1 {
		t.Errorf("row %d is selected after keeping the first", row)
	}
	h.k.keys.Rune('о') // J on a Russian keyboard
	h.checkList("ignored", "✓ "+first)
	if !h.k.display.maskShown {
		t.Error("the mask was changed while hidden")
	}
	if text := h.panel.findings.sum.Text; text != "1 finding, 4 px, 0.02 %; 1 kept, 1 ignored" {
		t.Errorf("the sum says %q", text)
	}
	h.k.actions.do("find.run")
	h.settle()
	if text := h.status.message.Text(); !strings.HasPrefix(text, "Found 2 findings (yours: 1 kept, 1 ignored as before) in ") {
		t.Errorf("another search says %q", text)
	}
	h.k.actions.do("edit.undo")
	h.panel.findings.choice.SetSelected("Ignored")
	h.checkList("ignored ones", "× 2|101|50|2|3.5||–")
	h.k.actions.do("find.next")
	if s, ok := h.c.found.Selected(); !ok || s.Decision != document.Ignored {
		t.Errorf("selected is %+v", s)
	}
	if h.panel.correction.method.Disabled() != true || !h.panel.correction.correct.Disabled() {
		t.Error("an ignored finding can be corrected")
	}
	h.k.actions.do("find.keep")
	h.checkList("restored")
	h.panel.findings.choice.SetSelected("All in the mask")
	h.checkList("both kept", "✓ "+first, "✓ "+second)
	for range 3 {
		h.k.actions.do("edit.undo")
	}
	h.checkList("all undone", first, second)
}

// A finding keeps its number when another one is ignored, and the saved list says the same as the window.
func TestNumbersStay(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.c.found.Select(h.c.session.Document().Spots()[0])
	h.k.actions.do("find.ignore")
	h.checkList("the first is ignored", "2|101|50|2|3.5||–")
	if text := h.status.message.Text(); text != "Finding 2, 2 px" {
		t.Errorf("the status bar says %q", text)
	}
	if why := h.panel.findings.why.Text; !strings.HasPrefix(why, "Finding 2 ") {
		t.Errorf("the reasons are %q", why)
	}
	h.k.actions.do("correct.all")
	h.settle()
	if text := h.panel.correction.spot.Text(); !strings.HasPrefix(text, "No. 2, ") {
		t.Errorf("the correction panel says %q", text)
	}
	if got := h.c.session.Document().CorrectedNumbers(); !slices.Equal(got, []int{2}) {
		t.Errorf("the report numbers the corrections %v", got)
	}
	for choice, id := range map[string]string{"All in the mask": "2", "Ignored": "1"} {
		h.panel.findings.choice.SetSelected(choice)
		path := filepath.Join(t.TempDir(), "list.csv")
		if err := h.c.found.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		if len(lines) != 2 || strings.Split(lines[1], ",")[1] != id {
			t.Errorf("%s: the saved list is\n%s\nwant one finding, %s", choice, data, id)
		}
	}
}

// The list is sorted by clicks on column heads and limited by minimum values.
func TestListIsSortedAndLimited(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	p := h.panel.findings
	first, second := "1|22|10|4|3.5||–", "2|101|50|2|3.5||–"
	p.table.OnHead(1)
	p.table.OnHead(1)
	h.checkList("by x, descending", second, first)
	if p.head(1) != "x ↓" || p.head(0) != "No." {
		t.Errorf("heads %q, %q", p.head(0), p.head(1))
	}
	p.table.OnHead(3)
	h.checkList("largest first", first, second)
	h.k.actions.do("find.next")
	h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyF3})
	if s, _ := h.c.found.Selected(); s.ID != 2 {
		t.Errorf("after two steps %d is selected", s.ID)
	}
	p.bounds[0].SetText("3")
	p.bounds[0].FocusLost()
	h.checkList("at least 3 px", first)
	if !strings.HasSuffix(p.sum.Text, "; 1 listed") {
		t.Errorf("the sum says %q", p.sum.Text)
	}
	p.bounds[0].SetText("many")
	p.bounds[0].FocusLost()
	if text := h.status.message.Text(); text != "Area: enter a number." {
		t.Errorf("for text that is not a number the status says %q", text)
	}
	p.bounds[2].SetText("40 %")
	p.bounds[2].FocusLost()
	if b := h.c.found.Listing().Contrast; !b.Set || b.Least != 0.4 {
		t.Errorf("a contrast in per cent sets %+v", b)
	}
	p.bounds[2].SetText("")
	p.bounds[2].FocusLost()
	if h.c.found.Listing().Area.Set || p.bounds[0].Text != "" {
		t.Errorf("%q sets a bound", "many")
	}
	h.dialogs.path = filepath.Join(t.TempDir(), "list.csv")
	h.k.actions.do("find.save")
	data, err := os.ReadFile(h.dialogs.path)
	if err != nil || strings.Count(string(data), "\n") != 3 {
		t.Errorf("saved %q, %v", data, err)
	}
	h.k.actions.do("find.ignoreListed")
	h.checkList("all ignored")
	if says := h.status.message.Text(); says != "2 findings ignored" {
		t.Errorf("the text is %q", says)
	}
	h.c.found.SetListing(findings.Listing{Choice: findings.Ignored})
	h.k.actions.do("find.keepListed")
	if h.c.session.Document().Stats().Spots != 2 {
		t.Error("keeping an ignored finding did not restore it")
	}
}

// Findings are centred at the chosen zoom; a finding larger than the window is shown whole.
func TestZoomAtAFinding(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	port := h.k.display.port
	for _, zoom := range []float64{1, 2, 4} {
		h.c.review.setReviewZoom(zoom)
		h.k.actions.do("view.fit")
		h.k.actions.do("find.next")
		if z := port.Transform().Zoom; z != zoom {
			t.Errorf("zoom %g, want %g", z, zoom)
		}
	}
	h.c.review.setReviewZoom(0)
	port.SetZoom(3)
	h.k.actions.do("find.next")
	if z := port.Transform().Zoom; z != 3 {
		t.Errorf("the zoom changed from 3 to %g", z)
	}
	h.c.review.setReviewZoom(32)
	h.c.found.Select(h.c.session.Document().Spots()[0])
	port.Centre(image.Rect(0, 0, 200, 100), 32)
	if z := port.Transform().Zoom; z >= 32 || z*200 > float64(port.Device().X) {
		t.Errorf("a finding of 200 × 100 px is shown at %g", z)
	}
}

// T shows thumbnails of the same findings instead of the table; a click selects one.
func TestThumbnails(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.k.keys.Rune('t')
	p := h.panel.findings
	if !p.thumbs.Visible() || p.table.Visible() || h.panel.tabs.SelectedIndex() != 1 {
		t.Fatal("no thumbnails are visible")
	}
	if n := p.thumbs.Length(); n != 2 {
		t.Fatalf("%d thumbnails, want 2", n)
	}
	p.thumbs.OnSelected(1)
	if s, _ := h.c.found.Selected(); s.ID != 2 {
		t.Errorf("finding %d is selected", s.ID)
	}
	h.k.actions.do("correct.selected")
	h.settle()
	for id, want := range []struct {
		text  string
		after bool
	}{{"1   3.5   –", false}, {"2   3.5   harmonic", true}} {
		o := newThumb()
		p.thumbs.UpdateItem(id, o)
		if o.text.Text() != want.text || o.before.Image == nil || (o.after.Image != nil) != want.after {
			t.Errorf("thumbnail %d says %q, after: %v", id, o.text.Text(), o.after.Image != nil)
		}
	}
	h.k.keys.Rune('t')
	if p.thumbs.Visible() || !p.table.Visible() {
		t.Error("the table is not shown again")
	}
}

// All listed findings, and only those, are corrected by a method at once.
func TestCorrectListed(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.c.found.SetListing(findings.Listing{Area: findings.Bound{Set: true, Least: 3}})
	h.c.treatment.correctListed(processing.MethodExemplar)
	h.settle()
	spots := h.c.session.Document().Spots()
	if spots[0].Method != processing.MethodExemplar || spots[1].State != document.Uncorrected {
		t.Errorf("%+v", spots)
	}
	h.c.found.SetListing(findings.Listing{Area: findings.Bound{Set: true, Least: 99}})
	h.c.treatment.correctListed(processing.MethodExemplar)
	if h.c.session.Busy() || h.status.message.Text() != "None of the listed findings is in the mask" {
		t.Errorf("with an empty list the status says %q", h.status.message.Text())
	}
	h.k.keys.Rune('n')
	if text := h.status.message.Text(); text != "None of the findings is in the list" {
		t.Errorf("N in an empty list: the status says %q", text)
	}
}

// The corrections of a project are shown when its picture is opened.
func TestProjectIsShownCorrected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	// open opens the picture and returns what is drawn at its first finding.
	open := func(work ...string) color.Color {
		h := newHarness(t, "en")
		h.pictures[path] = testpic.Flat(200, 100, 3, 100)
		h.files.Open(path)
		h.settle()
		for _, id := range work {
			h.k.actions.do(id)
			h.settle()
		}
		port := h.k.display.port
		at := port.Transform().ImageToScreen(processing.Point{X: 22, Y: 10.5})
		place := fyne.CurrentApp().Driver().AbsolutePositionForObject(port)
		return h.win.Canvas().Capture().At(int(place.X)+int(at.X), int(place.Y)+int(at.Y))
	}
	before, want := open(), open("find.run", "correct.all", "file.saveProject")
	if got := open(); got != want || got == before {
		t.Errorf("%v is drawn, want %v; before the correction it was %v", got, want, before)
	}
}

// A project stores the work beside the picture, and opening the picture restores it.
func TestProjectOfAPicture(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.png")
	start := func() *harness {
		h := newHarness(t, "en")
		h.pictures[path] = testpic.Flat(200, 100, 3, 100)
		h.files.Open(path)
		h.settle()
		return h
	}
	h := start()
	h.k.actions.do("find.run")
	h.settle()
	h.k.keys.Rune('k')
	h.k.keys.Rune('k')
	went := false
	h.files.Guard(func() { went = true })
	if went {
		t.Error("unsaved work was discarded")
	}
	h.press("Save project")
	h.settle()
	if !went {
		t.Error("saving did not continue with the next picture")
	}
	if text := h.status.message.Text(); text != "Project saved: a.png.blik.json" {
		t.Errorf("the status says %q", text)
	}
	h = start()
	h.checkList("opened again", "✓ 1|22|10|4|3.5||–", "2|101|50|2|3.5||–")
	if text := h.status.message.Text(); !strings.Contains(text, "Continuing from the project of 20") {
		t.Errorf("the status says %q", text)
	}
	if strings.HasPrefix(h.win.Title(), "•") {
		t.Errorf("the title %q marks unsaved work", h.win.Title())
	}
	again := false
	h.files.Guard(func() { again = true })
	if !again {
		t.Error("the program asks about work stored in the project")
	}
	// Meanwhile another window saves its work.
	other := start()
	other.k.actions.do("file.saveProject")
	other.settle()
	h.k.keys.Rune('j')
	h.k.actions.do("file.saveProject")
	h.settle()
	if text := h.dialogTexts(); !strings.Contains(text, "Another program has changed a.png.blik.") {
		t.Errorf("another window's project: the dialog says %q", text)
	}
	h.press("Overwrite")
	h.settle()
	if text := h.status.message.Text(); text != "Project saved: a.png.blik.json" {
		t.Errorf("after the answer the status says %q", text)
	}
}

// The summary says once how many findings are expected to be wrong; the reasons of each do not.
func TestExpectedWrongIsSaidOnce(t *testing.T) {
	h := newHarness(t, "en").opened()
	for i := range h.result.Findings {
		h.result.Findings[i].Evidence = detect.Evidence{Strength: 4, Rise: 60, Certainty: 0.5}
	}
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("find.next")
	if got := h.panel.findings.sum.Text; got != "2 findings, 6 px, 0.03 %; about 1 is expected to be wrong" {
		t.Errorf("the summary says %q", got)
	}
	// Another mode does not change what the findings were judged by.
	h.k.actions.do("find.manual")
	h.settle()
	if got := h.panel.findings.sum.Text; !strings.HasSuffix(got, "expected to be wrong") {
		t.Errorf("in manual mode the summary says %q", got)
	}
	h.k.actions.do("find.next")
	if got := h.panel.findings.why.Text; !strings.Contains(got, "strength") || strings.Contains(got, "50") {
		t.Errorf("the reasons are %q", got)
	}
}
