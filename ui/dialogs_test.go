package ui

import (
	"testing"

	"fyne.io/fyne/v2"
)

func (h *harness) enter() { h.keys.Key(&fyne.KeyEvent{Name: fyne.KeyReturn}) }

// Enter presses the button of a dialog that stands out.
func TestEnterAnswersDialogs(t *testing.T) {
	h := newHarness(t, "en").opened()
	for _, show := range []func(){h.showKeys, h.showAbout, h.showInformation, func() { h.showSentence("no") }} {
		if show(); !h.dialogOpen() {
			t.Fatal("no dialog")
		}
		if h.enter(); h.dialogOpen() {
			t.Errorf("Enter leaves a dialog with %q open", h.dialogTexts())
		}
	}

	// Changes that are not saved: saving stands out.
	h.do("find.run")
	h.settle()
	h.dialogs.path = "/art/mask.png"
	h.open("/art/b.tif")
	if !h.dialogOpen() {
		t.Fatal("the guard does not ask")
	}
	h.enter()
	h.settle()
	if h.written["/art/mask.png"] == nil || h.doc.Path() != "/art/b.tif" {
		t.Errorf("written %d masks, open is %s", len(h.written), h.doc.Path())
	}
}

// What cannot be taken back is not done by Enter.
func TestEnterDoesNoHarm(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.do("find.run")
	h.settle()
	h.do("correct.all")
	h.settle()
	h.dialogs.path = "/art/a.png"
	h.exists["/art/a.png"] = true
	h.do("file.savePictureAs")
	if !h.dialogOpen() {
		t.Fatal("replacing the source is not asked about")
	}
	h.enter()
	h.settle()
	if h.dialogOpen() || len(h.pictureFiles) > 0 {
		t.Errorf("Enter replaced the source: %d files", len(h.pictureFiles))
	}
}
