package ui

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/storage"

	"blik/internal/test/testpic"
	"blik/processing"
)

// Opening, loading and saving wait for a search that follows the parameters. Work on a picture is dropped if another
// one is open by then.
func TestPreviewMakesOthersWait(t *testing.T) {
	h := found(t, "en")
	h.block.Store(true)
	s := testpic.Spec(t, "sensitivity")
	h.setParam(t, s, s.Max)
	if !h.c.preview.Previewing() {
		t.Fatal("no search follows the change of parameters")
	}
	loaded := processing.NewMask(200, 100)
	loaded.Pix[50*200+20] = 255
	h.masks["/art/a_mask.png"] = loaded
	h.files.Dropped(fyne.Position{}, []fyne.URI{storage.NewFileURI("/art/a_mask.png")})
	h.files.WriteMask("/art/out.png", false, func() {})
	h.files.Open("/art/b.tif")
	h.files.WriteMask("/art/late.png", false, func() {})
	if n := len(h.c.session.Queue().Waiting()); n != 4 || h.c.session.Document().Path() != "/art/a.png" {
		t.Fatalf("%d wait, %s is open", n, h.c.session.Document().Path())
	}
	h.block.Store(false)
	h.c.session.Cancel()
	for h.c.session.Busy() || len(h.c.session.Queue().Waiting()) > 0 {
		(<-h.queue)()
	}
	if got := h.c.session.Document().Path(); got != "/art/b.tif" {
		t.Errorf("%s is open", got)
	}
	if saved := h.masks["/art/out.png"]; saved == nil || !slices.Equal(saved.Pix, loaded.Pix) {
		t.Error("the loaded mask was not saved")
	}
	if h.masks["/art/late.png"] != nil {
		t.Error("the mask of another picture was saved")
	}
}
