package ui

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"blik/internal/test/uitest"
	"blik/ui/xwidget"
)

// Commands given while a job runs wait in a visible list, from which each can be removed.
func TestCommandsAreQueued(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.block.Store(true)
	h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyF5})
	if !h.c.session.Busy() || !h.panel.progress.Times.Visible() || h.panel.next.Visible() {
		t.Fatal("a running job is not shown")
	}
	h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyF6})
	h.k.actions.do("file.saveMask")
	h.k.actions.do("file.savePicture")
	h.files.Open("/art/b.tif")
	if n := len(h.c.session.Queue().Waiting()); n != 4 {
		t.Fatalf("%d commands wait, want 4", n)
	}
	rows := h.panel.progress.List
	if texts := fixedTexts(rows); texts != "Next: Correct all|Next: Save mask|Next: Save picture|Next: Open b.tif" {
		t.Errorf("the list says %q", texts)
	}
	h.k.actions.do("find.run")
	if texts := fixedTexts(rows); !strings.HasSuffix(texts, "|and 1 more") {
		t.Errorf("the list says %q", texts)
	}
	// The second and then the last entry are removed, so the mask is not saved.
	drop := uitest.Find[*xwidget.ToolButton](rows)
	test.Tap(drop[1])
	test.Tap(uitest.Find[*xwidget.ToolButton](rows)[3])
	if texts := fixedTexts(rows); texts != "Next: Correct all|Next: Save picture|Next: Open b.tif" {
		t.Errorf("the list says %q", texts)
	}
	h.c.session.Cancel()
	h.block.Store(false)
	for h.c.session.Busy() || len(h.c.session.Queue().Waiting()) > 0 {
		(<-h.queue)()
	}
	// There was nothing to correct or save, and the other picture is open.
	if got := h.c.session.Document().Path(); got != "/art/b.tif" || len(h.pictureFiles) > 0 || len(h.masks) > 0 {
		t.Errorf("%s is open, %d pictures and %d masks were saved", got, len(h.pictureFiles), len(h.masks))
	}
	if len(rows.Objects) > 0 || h.panel.progress.Row.Visible() {
		t.Error("the list is not empty")
	}
}

// A question holds the queue until it is answered.
func TestAQuestionHoldsTheQueue(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.k.actions.do("correct.all")
	h.k.actions.do("file.savePicture")
	h.files.Open("/art/b.tif")
	h.exists["/art/a_corrected.png"] = true
	for h.dialogTexts() == "" {
		(<-h.queue)()
	}
	if h.c.session.Document().Path() != "/art/a.png" || len(h.c.session.Queue().Waiting()) != 1 {
		t.Fatalf("%s is open and %d wait while a question is shown", h.c.session.Document().Path(), len(h.c.session.Queue().Waiting()))
	}
	h.press("Overwrite")
	h.settle()
	if len(h.pictureFiles["/art/a_corrected.png"]) == 0 {
		t.Error("the picture was not saved")
	}
	if h.c.session.Document().Path() != "/art/b.tif" {
		t.Errorf("%s is open", h.c.session.Document().Path())
	}
}

// Whoever wants to check the findings first stays at this picture, although the next one was to be opened.
func TestCheckingEmptiesTheQueue(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.result.Findings[0].Check = true
	h.k.actions.do("find.run")
	place := h.panel.tabs.Position().Y
	h.k.actions.do("correct.all")
	h.k.actions.do("file.savePicture")
	h.files.Open("/art/b.tif")
	h.awaitDialog("should be looked at first")
	if y := h.panel.tabs.Position().Y; y < place+20 {
		t.Errorf("below the queue the tabs are at %g, without it at %g", y, place)
	}
	h.press("Check")
	if y := h.panel.tabs.Position().Y; y != place {
		t.Errorf("the tabs are at %g, before the queue at %g", y, place)
	}
	if path := h.c.session.Document().Path(); path != "/art/a.png" || len(h.c.session.Queue().Waiting()) > 0 {
		t.Errorf("%s is open, and %d tasks wait", path, len(h.c.session.Queue().Waiting()))
	}
	if !h.c.found.Checking() {
		t.Error("the findings to look at are not listed")
	}
	if got := h.status.message.Text(); !strings.Contains(got, "removed from the queue") {
		t.Errorf("the status bar says %q", got)
	}
}

// A queued correction is for the finding that was selected when it was queued.
func TestQueuedCorrectionKeepsItsFinding(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("find.next")
	h.k.actions.do("correct.selected")
	first, _ := h.c.found.Selected()
	h.k.actions.do("find.next")
	second, _ := h.c.found.Selected()
	h.k.actions.do("correct.selected")
	h.k.actions.do("find.next")
	for h.c.session.Busy() || len(h.c.session.Queue().Waiting()) > 0 {
		(<-h.queue)()
	}
	for _, f := range h.c.session.Document().Spots() {
		if f.State == 0 {
			t.Errorf("finding %d is not corrected; %d and %d were queued", f.ID, first.ID, second.ID)
		}
	}
}

// The status bar shows the progress of a job while the panel is hidden.
func TestProgressWithoutThePanel(t *testing.T) {
	h := newHarness(t, "en").opened()
	if got := h.status.jobText(); got != "" {
		t.Errorf("%q without a running job", got)
	}
	h.k.actions.do("view.panel")
	h.block.Store(true)
	h.k.actions.do("find.run")
	h.k.actions.do("correct.all")
	if got := h.status.job.Text(); !h.status.job.Visible() || got != "0\u00a0%, 0 s so far, 1 waiting" {
		t.Errorf("the status bar says %q", got)
	}
	h.k.actions.do("view.panel")
	if h.status.job.Visible() {
		t.Error("the progress is shown twice")
	}
	h.c.session.Queue().Withdraw(h.c.session.Queue().Waiting()[0].ID)
	h.c.session.Cancel()
	h.settle()
}

// fixedTexts joins the lines of a part of the window.
func fixedTexts(o fyne.CanvasObject) string {
	var texts []string
	for _, f := range uitest.Find[*xwidget.FixedText](o) {
		texts = append(texts, f.Text())
	}
	return strings.Join(texts, "|")
}
