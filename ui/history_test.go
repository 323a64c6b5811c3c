package ui

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2/widget"

	"blik/app/document"
	"blik/processing"
)

// paintAt paints a spot with the brush.
func (h *harness) paintAt(x, y float64) {
	h.k.toolbox.BeginStroke(document.Brush{Radius: 3}, processing.Point{X: x, Y: y})
	h.k.toolbox.editor.EndStroke()
}

// historyRow returns a row of the history as it is shown.
func (h *harness) historyRow(i int) (text string, undone bool) {
	l := widget.NewLabel("")
	h.panel.history.List.UpdateItem(i, l)
	return l.Text, l.Importance == widget.LowImportance
}

// A row of the history restores its step, whichever it is and in both directions.
func TestHistoryPanel(t *testing.T) {
	h := newHarness(t, "en")
	list := h.panel.history.List
	if list.Length() != 0 {
		t.Errorf("%d steps without a picture", list.Length())
	}
	h.opened()
	var masks [][]uint8
	for i := range 4 {
		masks = append(masks, slices.Clone(h.c.session.Document().Mask().Pix))
		h.paintAt(float64(30*i+20), 60)
	}
	masks = append(masks, slices.Clone(h.c.session.Document().Mask().Pix))
	if list.Length() != 5 {
		t.Fatalf("%d rows, want 5", list.Length())
	}
	for _, i := range []int{2, 4, 0, 3, 3, 1} {
		list.Select(i)
		if !slices.Equal(h.c.session.Document().Mask().Pix, masks[i]) {
			t.Errorf("step %d was not restored exactly", i)
		}
		for row := range 5 {
			text, undone := h.historyRow(row)
			if undone != (row > i) || row > 0 && !strings.HasSuffix(text, "Brush stroke") {
				t.Errorf("after step %d row %d is %q, undone %v", i, row, text, undone)
			}
		}
	}
	// A new step replaces the undone ones, and the selected row follows undo.
	h.paintAt(150, 20)
	if list.Length() != 3 {
		t.Errorf("%d rows, want 3", list.Length())
	}
	h.k.actions.do("edit.undo")
	if _, undone := h.historyRow(2); !undone {
		t.Error("undone steps are not muted")
	}
	if used := fixedTexts(h.panel.history.Object); !strings.Contains(used, "of 512 MiB") {
		t.Errorf("memory %q", used)
	}
}

// The history cannot change while a job works on the picture.
func TestHistoryWaitsForJobs(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.paintAt(20, 60)
	h.block.Store(true)
	h.k.actions.do("find.run")
	was := h.c.session.Document().Generation()
	h.panel.history.List.Select(0)
	if _, done := h.c.editor.History(); h.c.session.Document().Generation() != was || done != 1 {
		t.Error("a step was undone while a job was running")
	}
	h.k.say("")
	h.k.actions.do("edit.undo")
	if got := h.status.message.Text(); !strings.HasPrefix(got, "Another task is still running") {
		t.Errorf("the status bar says %q", got)
	}
	h.c.session.Cancel()
	h.settle()
	h.panel.history.List.Select(0)
	if _, done := h.c.editor.History(); done != 0 {
		t.Error("the step cannot be undone afterwards")
	}
}

// A search that follows the parameters does not keep a step from being undone.
func TestUndoDuringAPreview(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.block.Store(true)
	p := h.c.session.Settings().Params
	p.Sensitivity++
	h.c.preview.SetParams(p)
	if !h.c.preview.Previewing() {
		t.Fatal("the search does not follow the parameters")
	}
	h.k.actions.do("edit.undo")
	if _, done := h.c.editor.History(); done != 0 {
		t.Errorf("%d steps are done, the status bar says %q", done, h.status.message.Text())
	}
	h.block.Store(false)
	h.c.session.Cancel()
	h.settle()
}
