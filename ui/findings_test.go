package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"blik/app/document"
	"blik/app/session"
)

// row returns the list as it is shown, a row a line.
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

// Findings are decided by keys, one after the other, and the list follows.
func TestDecideByKeys(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.actions.do("find.run")
	h.settle()
	first, second := "1|22|10|4|3.5|0 %|–", "2|101|50|2|3.5|0 %|–"
	h.checkList("found", first, second)
	h.actions.do("find.keep")
	if s, ok := h.Selected(); !ok || s.ID != 1 || s.Decision != document.Undecided {
		t.Errorf("where none was selected, keeping selects %+v", s)
	}
	h.keys.Rune('k')
	h.checkList("kept", "✓ "+first, second)
	if row := h.panel.findings.table.Selected(); row != 1 {
		t.Errorf("row %d is selected after keeping the first", row)
	}
	h.keys.Rune('о') // J on a Russian keyboard
	h.checkList("ignored", "✓ "+first)
	if text := h.panel.findings.sum.Text; text != "1 finding, 4 px, 0.02 %; 1 kept, 1 ignored" {
		t.Errorf("the sum says %q", text)
	}
	h.panel.findings.choice.SetSelected("Ignored")
	h.checkList("ignored ones", "×|101|50|2|3.5|0 %|–")
	h.actions.do("find.next")
	if s, ok := h.Selected(); !ok || s.Decision != document.Ignored {
		t.Errorf("selected is %+v", s)
	}
	if h.panel.correction.method.Disabled() != true || !h.panel.correction.correct.Disabled() {
		t.Error("an ignored finding can be corrected")
	}
	h.actions.do("find.keep")
	h.checkList("restored")
	h.panel.findings.choice.SetSelected("All in the mask")
	h.checkList("both kept", "✓ "+first, "✓ "+second)
	for range 3 {
		h.actions.do("edit.undo")
	}
	h.checkList("all undone", first, second)
}

// The list is sorted by the heads of its columns and limited by least values.
func TestListIsSortedAndLimited(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.actions.do("find.run")
	h.settle()
	p := h.panel.findings
	first, second := "1|22|10|4|3.5|0 %|–", "2|101|50|2|3.5|0 %|–"
	p.table.OnHead(1)
	p.table.OnHead(1)
	h.checkList("by x, descending", second, first)
	if p.head(1) != "x ↓" || p.head(0) != "No." {
		t.Errorf("heads %q, %q", p.head(0), p.head(1))
	}
	p.table.OnHead(3)
	h.checkList("largest first", first, second)
	h.actions.do("find.next")
	h.keys.Key(&fyne.KeyEvent{Name: fyne.KeyF3})
	if s, _ := h.Selected(); s.ID != 2 {
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
	if h.Listing().Area.Set || p.bounds[0].Text != "" {
		t.Errorf("%q sets a bound", "many")
	}
	h.dialogs.path = filepath.Join(t.TempDir(), "list.csv")
	h.actions.do("find.save")
	data, err := os.ReadFile(h.dialogs.path)
	if err != nil || strings.Count(string(data), "\n") != 3 {
		t.Errorf("saved %q, %v", data, err)
	}
	h.actions.do("find.ignoreListed")
	h.checkList("all ignored")
	if says := h.status.message.Text(); says != "2 findings ignored" {
		t.Errorf("it says %q", says)
	}
	h.SetListing(session.Listing{Choice: session.Ignored})
	h.actions.do("find.keepListed")
	if h.Document().Stats().Spots != 2 {
		t.Error("keeping what is ignored did not restore it")
	}
}
