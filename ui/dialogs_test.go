package ui

import (
	"errors"
	"testing"

	"fyne.io/fyne/v2"
)

func (h *harness) enter() { h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyReturn}) }

// Enter presses the highlighted button of a dialog.
func TestEnterAnswersDialogs(t *testing.T) {
	h := newHarness(t, "en").opened()
	for _, show := range []func(){h.pages.showKeys, h.pages.showAbout,
		func() { h.k.actions.do("file.information") },
		func() { h.k.prompts.ShowError("Could not open the picture", errors.New("no")) }} {
		if show(); !h.dialogOpen() {
			t.Fatal("no dialog is shown")
		}
		if h.enter(); h.dialogOpen() {
			t.Errorf("Enter leaves a dialog with %q open", h.dialogTexts())
		}
	}

	// For unsaved changes, Save is highlighted.
	h.k.actions.do("find.run")
	h.settle()
	h.dialogs.path = "/art/mask.png"
	h.files.Open("/art/b.tif")
	if !h.dialogOpen() {
		t.Fatal("the guard does not ask")
	}
	h.enter()
	h.settle()
	if h.masks["/art/mask.png"] == nil || h.c.session.Document().Path() != "/art/b.tif" {
		t.Errorf("%d masks written, %s is open", len(h.masks), h.c.session.Document().Path())
	}
}

// Enter does nothing that cannot be undone.
func TestEnterDoesNoHarm(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("correct.all")
	h.settle()
	h.dialogs.path = "/art/a.png"
	h.exists["/art/a.png"] = true
	h.k.actions.do("file.savePictureAs")
	if !h.dialogOpen() {
		t.Fatal("replacing the original is not asked about")
	}
	h.enter()
	h.settle()
	if h.dialogOpen() || len(h.pictureFiles) > 0 {
		t.Errorf("Enter replaced the original: %d files", len(h.pictureFiles))
	}
}
