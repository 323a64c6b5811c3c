package ui

import (
	"context"
	"image"
	"image/draw"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"blik/app/colour"
	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/imagefile/container"
	"blik/app/report"
	"blik/app/view"
	"blik/internal/message"
	"blik/internal/test/testpic"
	"blik/internal/test/uitest"
	"blik/processing"
	"blik/processing/detect"
	"blik/ui/look"
	"blik/ui/xwidget"
)

// found returns a window whose picture has two findings: 4 pixels at (20, 10) and 2 at (100, 50).
func found(t *testing.T, lang string) *harness {
	t.Helper()
	h := newHarness(t, lang).opened()
	h.k.actions.do("find.run")
	h.settle()
	return h
}

// fixed is found with both findings corrected.
func fixed(t *testing.T, lang string) *harness {
	t.Helper()
	h := found(t, lang)
	h.k.actions.do("correct.all")
	h.settle()
	return h
}

// red returns the first sample of a pixel, now and in the original.
func (h *harness) red(x, y int) (now, source float64) {
	p, _ := h.c.session.Document().PixelAt(x, y)
	return p.Samples[0], p.Source[0]
}

// shown reports whether the viewport shows corrections.
func (h *harness) shown() bool {
	before, after := h.c.session.Pictures()
	return before != after
}

// setParam sets a parameter as a form does.
func (h *harness) setParam(t *testing.T, s processing.Spec, v float64) {
	t.Helper()
	if err := h.c.preview.SetParam(s, v); err != nil {
		t.Fatal(err)
	}
}

func TestCorrectAll(t *testing.T) {
	h := found(t, "en")
	h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyF6})
	if !h.panel.progress.Row.Visible() || h.panel.steps.Visible() {
		t.Error("a running correction is not shown")
	}
	h.settle()
	if len(h.spots) != 2 || len(h.spots[0].Runs) != 1 || h.spots[0].Method != processing.MethodAuto {
		t.Errorf("asked for %+v", h.spots)
	}
	if now, source := h.red(21, 10); now != float64(processing.MethodHarmonic) || source != 100 {
		t.Errorf("pixel 21, 10 is %v, was %v", now, source)
	}
	if h.c.session.Document().Stats().Spots != 2 {
		t.Error("the correction changed the mask")
	}
	if says := h.status.message.Text(); h.k.display.maskShown || !strings.HasPrefix(says, "2 findings corrected in ") ||
		!strings.HasSuffix(says, " ms on fake; the mask is hidden (M)") {
		t.Errorf("mask shown %v, status %q", h.k.display.maskShown, h.status.message.Text())
	}
	if h.panel.tabs.SelectedIndex() != 2 {
		t.Error("the correction tab is not selected")
	}
	if !h.shown() || h.panel.findings.cell(0, 6) != "harmonic" || h.status.compare.Text() != "corrected" {
		t.Errorf("list says %q, status %q", h.panel.findings.cell(0, 6), h.status.compare.Text())
	}
	_, after := h.c.session.Pictures()
	h.k.actions.do("correct.all")
	h.settle()
	if _, now := h.c.session.Pictures(); now != after {
		t.Error("the same correction again changed the view")
	}
	h.k.actions.do("edit.undo")
	if h.c.session.Document().Corrections() != nil || h.shown() || h.status.compare.Text() != "" ||
		h.c.session.Document().Stats().Spots != 2 {
		t.Error("undo did not restore exactly the original")
	}
	if !h.k.display.maskShown {
		t.Error("the mask stays hidden after the correction was undone")
	}
	h.k.actions.do("edit.redo")
	if now, _ := h.red(21, 10); now == 100 || !h.shown() || h.k.display.maskShown {
		t.Error("redo did not correct again, or left the mask over the corrections")
	}
	h.k.actions.do("correct.removeAll")
	if !h.k.display.maskShown {
		t.Error("the mask stays hidden after all corrections were removed")
	}
	// A mask that the user has hidden stays hidden.
	h.k.actions.do("view.mask")
	h.k.actions.do("edit.undo")
	h.k.actions.do("edit.redo")
	if h.k.display.maskShown {
		t.Error("the mask that was hidden by hand is shown")
	}
}

// Corrections that change nothing count as corrections, as they do in the list, and the status bar says so.
func TestUnchangedIsCounted(t *testing.T) {
	h := newHarness(t, "en")
	pic := h.pictures["/art/a.png"]
	h.pictures["/art/a.png"] = testpic.Flat(pic.Width, pic.Height, pic.Channels, uint8(processing.MethodHarmonic))
	h.opened()
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("correct.all")
	h.settle()
	if says := h.status.message.Text(); !strings.HasPrefix(says, "2 findings corrected in ") ||
		!strings.HasSuffix(says, " ms on fake; no pixel changed in 2 of them; the mask is hidden (M)") {
		t.Errorf("status %q", says)
	}
	if next := h.panel.next.Text(); next != "2 corrected: compare (C), save (Ctrl+S)" {
		t.Errorf("the panel says %q", next)
	}
}

// Outlines do not hide corrections, so they stay.
func TestOutlinesStay(t *testing.T) {
	h := found(t, "en")
	h.k.actions.do("view.outlines")
	h.k.actions.do("correct.all")
	h.settle()
	if says := h.status.message.Text(); h.k.display.port.Options().Mode != view.Outlines ||
		!strings.HasSuffix(says, " ms on fake") {
		t.Errorf("mode %v, status %q", h.k.display.port.Options().Mode, h.status.message.Text())
	}
}

// The view of changed pixels follows corrections and stays, and the status bar explains its colours.
func TestChangedPixels(t *testing.T) {
	h := found(t, "en")
	h.k.actions.do("view.changed")
	want := "Changed pixels: marked in orange, halo in blue, veil in pink"
	if says := h.status.message.Text(); says != want {
		t.Errorf("status %q", says)
	}
	if o := h.k.display.port.Options(); o.Mode != view.Changed || o.Other != nil {
		t.Errorf("nothing is corrected, and %+v is shown", o)
	}
	h.k.actions.do("correct.all")
	h.settle()
	// The view is made on another goroutine.
	for h.k.display.port.Options().Other == nil {
		(<-h.queue)()
	}
	if o := h.k.display.port.Options(); o.Mode != view.Changed || o.Other == nil || o.Other.Mask().Area() == 0 {
		t.Errorf("everything is corrected, and %+v is shown", o)
	}
}

func TestCorrectionIsCancelled(t *testing.T) {
	h := found(t, "en")
	h.block.Store(true)
	h.k.actions.do("correct.all")
	h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyEscape})
	h.settle()
	if h.status.message.Text() != "Cancelled" || h.c.session.Document().Corrections() != nil || !h.k.display.maskShown {
		t.Errorf("status %q", h.status.message.Text())
	}
}

// The panel names the next step and highlights its button.
func TestNextStep(t *testing.T) {
	h := newHarness(t, "en").opened()
	check := func(what, words string, find, correct, save widget.Importance) {
		t.Helper()
		p := h.panel
		if p.next.Text() != words || p.run.Importance != find || p.correct.Importance != correct ||
			p.correction.save.Importance != save {
			t.Errorf("%s: %q, importances %v, %v, %v", what, p.next.Text(), p.run.Importance, p.correct.Importance,
				p.correction.save.Importance)
		}
	}
	const low, high = widget.MediumImportance, widget.HighImportance
	check("opened", "Find glare (F5) or paint it (B)", high, low, low)
	h.k.actions.do("correct.all")
	if h.c.session.Busy() || h.status.message.Text() != "Find glare (F5) or paint it (B)" {
		t.Errorf("correcting an empty mask: %q", h.status.message.Text())
	}
	h.k.actions.do("find.run")
	h.settle()
	check("found", "2 findings are not corrected: press F6", low, high, low)
	h.k.actions.do("find.next")
	h.k.keys.Rune('a')
	h.settle()
	check("one of two", "1 finding is not corrected: press F6", low, high, low)
	h.k.actions.do("correct.all")
	h.settle()
	check("corrected", "2 corrected: compare (C), save (Ctrl+S)", low, low, high)
	h.k.actions.do("file.savePicture")
	h.settle()
	check("saved", "All 2 findings corrected and saved", low, low, low)
	h.k.actions.do("edit.clear")
	check("cleared", "Find glare (F5) or paint it (B)", high, low, low)
	h.result = &detect.Found{Mask: processing.NewMask(200, 100)}
	h.k.actions.do("find.run")
	h.settle()
	check("nothing found", "No glare found: raise the sensitivity or paint it (B)", high, low, low)
}

func TestOneSpotByAnotherMethod(t *testing.T) {
	h := fixed(t, "en")
	c := h.panel.correction
	if !c.method.Disabled() || !c.correct.Disabled() || !c.unset.Disabled() {
		t.Error("the controls of the selected finding are enabled without one")
	}
	h.k.actions.do("find.next")
	h.k.actions.do("find.next")
	if c.spot.Text() != "No. 2, 2 px: harmonic" || c.method.Selected != "same as the others" {
		t.Errorf("%q, %q", c.spot.Text(), c.method.Selected)
	}
	c.method.SetSelected("exemplar")
	h.settle()
	if len(h.spots) != 1 || h.spots[0].ID != 2 || h.spots[0].Method != processing.MethodExemplar {
		t.Errorf("asked for %+v", h.spots)
	}
	if c.spot.Text() != "No. 2, 2 px: exemplar" || c.method.Selected != "exemplar" ||
		h.panel.findings.cell(1, 6) != "exemplar" || h.panel.findings.cell(0, 6) != "harmonic" {
		t.Errorf("%q, %q, list %q and %q", c.spot.Text(), c.method.Selected, h.panel.findings.cell(0, 6),
			h.panel.findings.cell(1, 6))
	}
	// The method of all findings changes; this finding keeps its own.
	h.c.preview.SetParams(func() processing.Params {
		p := h.c.session.Settings().Params
		p.Method = processing.MethodSubtract
		return p
	}())
	h.k.actions.do("correct.all")
	h.settle()
	if h.panel.findings.cell(0, 6) != "subtract" || h.panel.findings.cell(1, 6) != "exemplar" {
		t.Errorf("list %q and %q", h.panel.findings.cell(0, 6), h.panel.findings.cell(1, 6))
	}
	// The menu does the same.
	for _, m := range h.win.MainMenu().Items {
		for _, i := range m.Items {
			if i.Label == "Method of the selected finding" {
				if i.Disabled || !i.ChildMenu.Items[processing.MethodExemplar].Checked {
					t.Errorf("the menu of methods: disabled %v, items %v", i.Disabled,
						i.ChildMenu.Items[processing.MethodExemplar].Checked)
				}
				i.ChildMenu.Items[processing.MethodSubtract].Action()
				h.settle()
			}
		}
	}
	if h.panel.findings.cell(1, 6) != "subtract" {
		t.Errorf("after choosing in the menu the method is %q", h.panel.findings.cell(1, 6))
	}
	h.k.keys.Rune('ч')
	if now, source := h.red(100, 50); now != source || h.panel.findings.cell(1, 6) != "–" || !c.unset.Disabled() {
		t.Error("the correction was not removed")
	}
	h.k.actions.do("correct.removeAll")
	if h.c.session.Document().Corrections() != nil {
		t.Error("not all corrections were removed")
	}
}

// Erasing, ignoring or painting over corrected findings takes effect at once.
func TestMaskChangesUnderCorrections(t *testing.T) {
	h := fixed(t, "en")
	h.k.toolbox.toggle(processing.Point{X: 21.5, Y: 10.5}, 1)
	if now, source := h.red(21, 10); now != source || h.c.session.Document().Corrections().Len() != 1 {
		t.Error("an ignored finding is still corrected")
	}
	h.k.actions.do("edit.undo")
	if now, source := h.red(21, 10); now == source || h.c.session.Document().Corrections().Len() != 2 {
		t.Error("undo did not restore the correction")
	}
	h.k.toolbox.BeginStroke(document.Brush{Radius: 0.5}, processing.Point{X: 20.5, Y: 11.5})
	h.c.editor.EndStroke()
	if h.panel.findings.cell(0, 6) != "partly" || h.panel.next.Text() != "1 finding is not corrected: press F6" {
		t.Errorf("a spot that has grown: %q, %q", h.panel.findings.cell(0, 6), h.panel.next.Text())
	}
}

func TestCompare(t *testing.T) {
	h := fixed(t, "en")
	at := h.k.display.port.Transform()
	check := func(what string, mode view.Compare, status string, overlay view.Mode) {
		t.Helper()
		if h.k.display.port.Compare() != mode || h.status.compare.Text() != status ||
			h.k.display.port.Options().Mode != overlay {
			t.Errorf("%s: mode %v, status %q, overlay %v", what, h.k.display.port.Compare(), h.status.compare.Text(),
				h.k.display.port.Options().Mode)
		}
		if h.k.display.port.Transform() != at {
			t.Errorf("%s moved the view", what)
		}
	}
	h.k.actions.do("view.mask")
	check("shown", view.CompareAfter, "corrected", view.PictureAndMask)

	// The driver reports the character after the key, and repeats both.
	press := func(code int, r rune) {
		h.k.keys.Down(&fyne.KeyEvent{Physical: fyne.HardwareKey{ScanCode: code}})
		h.k.keys.Rune(r)
		h.k.keys.Rune(r)
	}
	release := func(code int) { h.k.keys.Up(&fyne.KeyEvent{Physical: fyne.HardwareKey{ScanCode: code}}) }
	for _, r := range "cс" {
		press(54, r)
		check("held", view.CompareBefore, "ORIGINAL", view.PictureOnly)
		release(38)
		check("another key released", view.CompareBefore, "ORIGINAL", view.PictureOnly)
		release(54)
		check("released", view.CompareAfter, "corrected", view.PictureAndMask)
	}
	press(54, 'c')
	h.focusLost()
	check("focus lost", view.CompareAfter, "corrected", view.PictureAndMask)
	release(54)
	h.k.keys.Rune('c')
	check("a character without a key", view.CompareAfter, "corrected", view.PictureAndMask)

	hold := h.panel.correction.hold
	hold.MouseDown(&desktop.MouseEvent{})
	check("button held", view.CompareBefore, "ORIGINAL", view.PictureOnly)
	hold.MouseUp(&desktop.MouseEvent{})
	check("button released", view.CompareAfter, "corrected", view.PictureAndMask)
	hold.MouseDown(&desktop.MouseEvent{})
	hold.MouseOut()
	check("pointer left the button", view.CompareAfter, "corrected", view.PictureAndMask)

	h.k.keys.Rune('ы')
	check("split", view.CompareSplit, "original | corrected", view.PictureAndMask)
	if !h.panel.correction.split.Checked {
		t.Error("the split line is not ticked in the panel")
	}
	press(54, 'c')
	check("held over the split", view.CompareBefore, "ORIGINAL", view.PictureOnly)
	release(54)
	check("back at the split", view.CompareSplit, "original | corrected", view.PictureAndMask)
	h.panel.correction.split.SetChecked(false)
	check("split off", view.CompareAfter, "corrected", view.PictureAndMask)
	h.k.actions.do("view.source")
	check("source switched on", view.CompareBefore, "ORIGINAL", view.PictureOnly)
	h.k.actions.do("view.source")
	h.k.actions.do("view.split")
	h.k.actions.do("correct.removeAll")
	check("nothing to compare", view.CompareAfter, "", view.PictureAndMask)
	press(54, 'c')
	check("nothing to compare, held", view.CompareAfter, "", view.PictureAndMask)
	release(54)
	if h.k.actions.can("view.split") {
		t.Error("the split line is available without corrections")
	}
}

func TestSavePicture(t *testing.T) {
	h := fixed(t, "en")
	if !h.c.session.Document().PictureDirty() || h.bar.save.Disabled() {
		t.Error("saving is not available")
	}
	h.k.actions.do("file.savePicture")
	h.settle()
	if p := h.pictureFiles["/art/a_corrected.png"]; len(p) != 2 || p[0].Spot != 1 || len(p[1].U8) != 9 {
		t.Errorf("saved %+v", p)
	}
	if got, want := h.status.message.Text(), "Saved a_corrected.png. 8 pixels changed; everything else verified "+
		"identical"; got != want {
		t.Errorf("status %q", got)
	}
	if got, want := h.k.words.Extent(report.Extent{Marked: 1200, Halo: 30, Veil: 4}),
		"; marked 1,200 + halo 30 + veil 4 = 1,234 free to change"; got != want {
		t.Errorf("the pixels are counted as %q, want %q", got, want)
	}
	if result := h.panel.correction.result; !result.Visible() || !strings.Contains(result.Text, "verified") ||
		!strings.Contains(result.Text, "Report: a_corrected.en.html") {
		t.Errorf("result %q", result.Text)
	}
	if h.c.session.Document().PictureDirty() || h.dialogOpen() {
		t.Error("after saving, the picture still counts as unsaved")
	}
	r := h.reports[0]
	if r.Saved.Path != "/art/a_corrected.png" || r.Device != "fake" || r.Program != "1.2.3" || len(r.Patches) != 2 ||
		r.Mask.Area() != 6 ||
		len(r.Findings) != 2 || r.Params.Window != 21 || r.Params.Halo != processing.DefaultParams().Halo ||
		r.Date.IsZero() || r.Source.Path != "/art/a.png" {
		t.Errorf("reported %+v", r)
	}

	// Saving the program's own result again does not ask. Without the switch no report is written.
	h.exists["/art/a_corrected.png"] = true
	h.k.actions.do("correct.removeAll")
	h.k.actions.do("edit.undo")
	h.panel.correction.report.SetChecked(false)
	h.k.actions.do("file.savePicture")
	h.settle()
	if h.dialogOpen() || !h.options.Overwrite || len(h.reports) != 1 || h.c.session.Settings().WriteReport {
		t.Errorf("dialog %q, overwrite %v, %d reports", h.dialogTexts(), h.options.Overwrite, len(h.reports))
	}
}

func TestSaveAsksBeforeReplacing(t *testing.T) {
	h := fixed(t, "en")
	h.exists["/art/a_corrected.png"] = true
	h.k.actions.do("file.savePicture")
	h.settle()
	if !strings.Contains(h.dialogTexts(), "a_corrected.png already exists") ||
		h.pictureFiles["/art/a_corrected.png"] != nil {
		t.Fatalf("the dialog says %q", h.dialogTexts())
	}
	h.press("Cancel")
	if h.pictureFiles["/art/a_corrected.png"] != nil || !h.c.session.Document().PictureDirty() {
		t.Error("saved after Cancel")
	}
	h.k.actions.do("file.savePicture")
	h.settle()
	h.press("Overwrite")
	h.settle()
	if h.pictureFiles["/art/a_corrected.png"] == nil || h.c.session.Document().PictureDirty() {
		t.Error("not saved after Overwrite")
	}
}

func TestSaveNothing(t *testing.T) {
	h := found(t, "en")
	h.k.actions.do("file.savePicture")
	h.k.actions.do("file.savePictureAs")
	if h.c.session.Busy() || len(h.dialogs.asked) != 0 ||
		h.status.message.Text() != "Nothing is corrected yet; Ctrl+M saves the mask" {
		t.Errorf("status %q", h.status.message.Text())
	}
}

// savingJPEG opens a JPEG, corrects it and saves it as far as to the first question.
func savingJPEG(t *testing.T, lang, path string, pic *processing.Picture) *harness {
	t.Helper()
	h := newHarness(t, lang)
	h.pictures[path] = pic
	h.files.Open(path)
	h.settle()
	for _, action := range []string{"find.run", "correct.all", "file.savePicture"} {
		h.k.actions.do(action)
		h.settle()
	}
	return h
}

func TestJPEG(t *testing.T) {
	for button, want := range map[string]string{"Save as TIFF": "/art/c_corrected.tif",
		"Save as PNG": "/art/c_corrected.png", "Cancel": ""} {
		h := savingJPEG(t, "en", "/art/c.jpg", testpic.Flat(200, 100, 3, 100))
		if said := h.dialogTexts(); !strings.Contains(said, "c.jpg is a JPEG") ||
			!strings.Contains(said, "c_corrected.tif") {
			t.Errorf("the dialog says %q", said)
		}
		h.press(button)
		h.settle()
		if (want != "") != (len(h.pictureFiles) == 1) || want != "" && h.pictureFiles[want] == nil {
			t.Errorf("%s: saved %v", button, h.pictureFiles)
		}
		if want != "" {
			continue
		}
		h.dialogs.path = "/art/lossy.jpg"
		h.k.actions.do("file.savePictureAs")
		h.settle()
		if r := h.dialogs.asked[0]; r.File != "c_corrected.tif" || !slices.Contains(r.Extensions, "jpg") ||
			r.Name != "Pictures (TIFF, PNG, JPEG)" {
			t.Errorf("asked %+v", r)
		}
		if said := h.dialogTexts(); !strings.Contains(said, "lossy.jpg would be a JPEG") || len(h.pictureFiles) != 0 {
			t.Errorf("the dialog says %q", said)
		}
		h.press("Save as JPEG")
		h.settle()
		if h.pictureFiles["/art/lossy.jpg"] == nil || !h.options.AllowLossy ||
			strings.Contains(h.status.message.Text(), "verified") {
			t.Errorf("status %q", h.status.message.Text())
		}
	}
}

// PNG cannot hold CMYK, so it is not offered.
func TestJPEGOfInks(t *testing.T) {
	h := savingJPEG(t, "ru", "/art/k.jpg",
		&processing.Picture{Width: 200, Height: 100, Channels: 4, U8: make([]uint8, 80000)})
	for _, b := range uitest.Find[*xwidget.Button](h.win.Canvas().Overlays().Top()) {
		if strings.Contains(b.Text, "PNG") {
			t.Errorf("offered %q", b.Text)
		}
	}
	h.press("Сохранить как TIFF")
	h.settle()
	h.k.actions.do("file.savePictureAs")
	if r := h.dialogs.asked[0]; h.pictureFiles["/art/k_corrected.tif"] == nil || slices.Contains(r.Extensions, "png") {
		t.Errorf("asked %+v, saved %v", r, h.pictureFiles)
	}
}

// A report states that earlier corrections were made with other parameters.
func TestReportOfSeveralCorrections(t *testing.T) {
	h := fixed(t, "en")
	usual := h.c.session.Settings().Params.Halo
	h.c.session.Settings().Params.Halo, h.c.session.Settings().Params.Method = 9, processing.MethodSubtract
	h.c.found.SelectNext(1)
	h.k.actions.do("correct.selected")
	h.settle()
	h.k.actions.do("file.savePicture")
	h.settle()
	r := h.reports[0]
	if len(r.Made) != 2 || r.Made[0].Halo != 9 || r.Made[1].Halo != usual || r.Params.Halo != 9 {
		t.Errorf("reported %+v, made with %+v", r.Params, r.Made)
	}
}

// The original is replaced only after a question of its own, and is then reopened with its mask.
func TestSaveOverTheSource(t *testing.T) {
	h := fixed(t, "en")
	before := h.c.session.Document()
	h.dialogs.path = "/art/../art/a.png"
	h.k.actions.do("file.savePictureAs")
	if said := h.dialogTexts(); !strings.Contains(said, "no original will remain") || len(h.pictureFiles) != 0 {
		t.Fatalf("the dialog says %q", said)
	}
	h.press("Cancel")
	h.k.actions.do("file.savePictureAs")
	h.press("Overwrite the original")
	h.settle()
	if h.pictureFiles[h.dialogs.path] == nil || h.c.session.Document() == before || h.c.session.Document().Stats().Spots != 2 ||
		h.c.session.Document().PictureDirty() {
		t.Errorf("saved %v, %+v", h.pictureFiles, h.c.session.Document().Stats())
	}
	if got := h.panel.next.Text(); got != "The corrections are in the original file" ||
		h.panel.correct.Importance != widget.MediumImportance {
		t.Errorf("next step: %q", got)
	}
	if r := h.dialogs.asked[0]; !slices.Equal(r.Extensions, []string{"png"}) || r.Folder != "/art" ||
		r.Name != "Pictures (PNG)" ||
		r.File != "a_corrected.png" {
		t.Errorf("asked %+v", r)
	}
}

func TestFailedSaveOfThePictureLosesNothing(t *testing.T) {
	h := fixed(t, "ru")
	h.saveErr = &imagefile.Error{Path: "/art/a_corrected.png", Kind: imagefile.ErrWrite,
		Fault: message.Of("not written: the disk is full")}
	h.k.actions.do("file.savePicture")
	h.settle()
	if said := h.dialogTexts(); !strings.Contains(said, "диск заполнен") || !h.c.session.Document().PictureDirty() ||
		h.c.session.Document().Corrections().Len() != 2 {
		t.Errorf("the dialog says %q", said)
	}
	for {
		if _, ok := h.c.store.Extent(); ok {
			break
		}
		(<-h.queue)()
	}
	if e, ok := h.c.store.Extent(); !ok || e.Marked == 0 || !strings.Contains(h.panel.correction.result.Text,
		"Ещё не сохранено") {
		t.Errorf("before saving the panel says %q, counted %+v", h.panel.correction.result.Text, e)
	}
	h.saveErr = nil
	h.dialogs.path = "/elsewhere/b.png"
	h.press("Сохранить в другом месте…")
	h.settle()
	if said := h.dialogTexts(); said != "" || h.c.session.Document().PictureDirty() || len(h.reports) != 1 ||
		h.pictureFiles["/elsewhere/b.png"] == nil {
		t.Errorf("the dialog says %q, %d reports", said, len(h.reports))
	}
}

// When all that is marked is corrected and saved, nothing is asked; what is marked after that is asked about.
func TestNothingIsAskedWhenAllIsSaved(t *testing.T) {
	h := fixed(t, "en")
	h.k.actions.do("file.savePicture")
	h.settle()
	if mask, picture := h.c.store.Unsaved(); mask || picture {
		t.Fatalf("unsaved: mask %v, picture %v", mask, picture)
	}
	size := h.c.session.Document().Size()
	h.c.session.Document().BeginStroke(document.Brush{Radius: 1}, float64(size.X-3), float64(size.Y-3))
	h.c.session.Document().EndStroke()
	if mask, picture := h.c.store.Unsaved(); !mask || picture {
		t.Fatalf("after a stroke, unsaved: mask %v, picture %v", mask, picture)
	}
	h.c.session.Document().Undo()
	h.files.Open("/art/b.tif")
	if h.settle(); h.dialogOpen() || h.c.session.Document().Path() != "/art/b.tif" {
		t.Errorf("the dialog says %q", h.dialogTexts())
	}
}

func TestUnsavedCorrectionsAreAskedAbout(t *testing.T) {
	for name, c := range map[string]struct {
		press       string
		keepMask    bool
		open        string
		saved, mask bool
	}{
		"both":          {"Save both", false, "/art/b.tif", true, true},
		"picture alone": {"Save picture", true, "/art/b.tif", true, false},
		"do not save":   {"Don't save", false, "/art/b.tif", false, false},
		"cancel":        {"Cancel", false, "/art/a.png", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := fixed(t, "en")
			if c.keepMask {
				h.c.session.Document().MarkSaved(h.c.session.Document().Generation())
			}
			if h.showTitle(); h.win.Title() != "• a.png – Blik" {
				t.Errorf("title %q", h.win.Title())
			}
			h.dialogs.path = "/art/mask.png"
			h.files.Open("/art/b.tif")
			if said := h.dialogTexts(); !strings.Contains(said, "corrected picture a.png") ||
				strings.Contains(said, "mask") == c.keepMask {
				t.Errorf("the dialog says %q", said)
			}
			h.press(c.press)
			h.settle()
			if h.c.session.Document().Path() != c.open || (len(h.pictureFiles) == 1) != c.saved ||
				(h.masks["/art/mask.png"] != nil) != c.mask {
				t.Errorf("%s is open, saved %v and %v", h.c.session.Document().Path(), h.pictureFiles, h.masks)
			}
		})
	}
}

// Each form changes the parameters of its stage only.
func TestTwoForms(t *testing.T) {
	h := fixed(t, "en")
	h.setParam(t, testpic.Spec(t, "halo"), 7)
	h.setParam(t, testpic.Spec(t, "margin"), 2)
	h.k.actions.do("find.takeOver")
	if p := h.c.session.Settings().Params; p.Halo != 7 || p.Margin != h.result.Params.Margin || p.Window != 21 ||
		p.Mode != processing.Manual {
		t.Errorf("%+v", p)
	}
	if h.panel.correction.form.Params() != h.c.session.Settings().Params ||
		h.panel.detection.form.Params() != h.c.session.Settings().Params {
		t.Error("the forms show different parameters")
	}
}

func TestApproximateColours(t *testing.T) {
	h := newHarness(t, "en")
	press := *colour.FromPicture(&processing.Picture{Channels: 3})
	press.Name, press.Exact, press.Reason = "Press", false, message.Of("the profile is for %s, the picture is %s",
		message.Of("grey"), message.Of("RGB"))
	h.profile = &press
	h.opened()
	fact := func(name string) string {
		for _, f := range h.k.words.Facts(h.c.session.Shown()) {
			if f.Name == name {
				return f.Value
			}
		}
		return ""
	}
	why := func() string { return h.k.words.Approximately(h.c.session.Shown().Original) }
	if fact("Profile") != "Press\nThe colours are shown approximately: the profile is for grey, the picture is RGB. "+
		"Those of the file stay unchanged." {
		t.Errorf("%q", fact("Profile"))
	}
	if len(h.status.colours.Objects) == 0 {
		t.Error("the status bar does not show that colours are approximate")
	}
	h.setLanguage("ru")
	if !strings.Contains(why(), "цвета профиля — оттенки серого, изображения — RGB") ||
		len(h.status.colours.Objects) == 0 {
		t.Errorf("in Russian %q", why())
	}
	h.profile = colour.FromPicture(&processing.Picture{Channels: 3})
	h.files.Open("/art/b.tif")
	h.settle()
	if why() != "" || len(h.status.colours.Objects) != 0 || fact("Профиль") != "нет; принят sRGB" {
		t.Errorf("exact colours: %q, %q", why(), fact("Профиль"))
	}
}

func TestInformation(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.c.session.Shown().Original.Orientation = 6
	h.c.session.Shown().Original.Info = container.Info{Compression: "none", Pictures: 3, Meta: container.Metadata{
		ICC: []byte{1}, EXIF: []byte{1}, XResolution: 300, YResolution: 300, Unit: container.UnitInch,
	}}
	var all []string
	for _, f := range h.k.words.Facts(h.c.session.Shown()) {
		all = append(all, f.Name+": "+f.Value)
	}
	want := []string{
		"File: /art/a.png", "Format: PNG, uncompressed", "Size: 200 × 100 px, 0.02 MP", "Samples: RGB, 8 bit",
		"Profile: none; treated as sRGB",
		"Resolution: 300 px/in", "Orientation: rotated for display only",
		"Pages: the first of 3; the others stay unchanged",
		"Metadata: ICC, EXIF",
	}
	if !slices.Equal(all, want) {
		t.Errorf("%q", all)
	}
	h.k.actions.do("file.information")
	if !strings.Contains(h.dialogTexts(), "300 px/in") {
		t.Errorf("the dialog says %q", h.dialogTexts())
	}
}

// Another language or appearance changes nothing else in what the picture shows.
func TestNothingElseChangesWithTheLook(t *testing.T) {
	h := fixed(t, "en")
	h.k.actions.do("find.next")
	h.k.display.showMask()
	h.k.actions.do("view.split")
	d := h.k.display
	if !d.reviewing || !d.split {
		t.Fatalf("reviewing %v, split %v", d.reviewing, d.split)
	}
	h.setLanguage("ru")
	h.setAppearance(look.Light)
	if !d.reviewing || !d.split || !d.maskShown {
		t.Errorf("reviewing %v, split %v, mask %v", d.reviewing, d.split, d.maskShown)
	}
	h = found(t, "en")
	h.k.keys.Rune('4')
	h.looked()
	layer := h.k.display.layer
	h.c.found.Select(h.c.found.Listed()[0])
	h.k.actions.do("correct.selected")
	h.settle()
	if h.k.display.maskShown {
		t.Fatal("the mask is shown after a correction")
	}
	h.setAppearance(look.Dark)
	if h.k.display.maskShown {
		t.Error("the mask is shown again")
	}
	if layer == nil || h.k.display.layer != layer {
		t.Error("the layer is computed again")
	}
}

// CMYK and 16-bit samples are shown with their original values.
func TestPixelTextOfCorrections(t *testing.T) {
	h := fixed(t, "ru")
	h.status.hovered(processing.Point{X: 21, Y: 10}, true)
	if got := h.status.values.Text(); got != "R 2  G 2  B 2  ← 100 100 100" {
		t.Errorf("%q", got)
	}
	p := document.Pixel{Channels: 4, Depth: 16, Samples: [4]float64{1, 2, 3, 65535}}
	if got := h.k.words.Pixel(p); got != "C 1  M 2  Y 3  K 65535" {
		t.Errorf("%q", got)
	}
	p = document.Pixel{Channels: 1, Depth: 32, Samples: [4]float64{0.25}, Source: [4]float64{1.5}, Corrected: true}
	if got := h.k.words.Pixel(p); got != "серый 0,25  ← 1,5" {
		t.Errorf("%q", got)
	}
}

// The stops of the sensitivity count what a search in the region would find.
func TestCountsFollowTheRegion(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 200, 120))
	for i := range img.Pix {
		img.Pix[i] = 60 + uint8(i%7)
	}
	for _, at := range []image.Point{{40, 60}, {150, 60}} {
		draw.Draw(img, image.Rectangle{at, at.Add(image.Pt(3, 3))}, image.White, image.Point{}, draw.Src)
	}
	h := (&harness{tb: t, queue: make(chan func(), 1000), fakeDevice: &fakeDevice{}, dialogs: &fakeDialogs{}}).start(
		real(), "en")
	h.files.Open(testpic.WritePNG(t, "p.png", img))
	h.settle()
	h.k.actions.do("find.run")
	h.settle()
	shows := func(when, want string) {
		t.Helper()
		for _, s := range uitest.Find[*xwidget.Select](h.panel.detection.form.Object) {
			if s.Selected == want {
				return
			}
		}
		t.Errorf("%s, nothing says %q", when, want)
	}
	shows("in the whole picture", "balanced: 2 findings")
	h.k.toolbox.SetRegion(&processing.Region{Points: []processing.Point{{X: 0, Y: 0}, {X: 90, Y: 120}}})
	shows("in a half", "balanced: 1 finding")
	h.k.toolbox.SetRegion(nil)
	shows("in the whole picture again", "balanced: 2 findings")
}

// The whole workflow with a real session on the sample: detect, correct, save, and verify the files.
func TestRealSession(t *testing.T) {
	testpic.Long(t)
	sample, err := filepath.Abs("../assets/sample.jpg")
	if err != nil {
		t.Fatal(err)
	}
	h := (&harness{tb: t, queue: make(chan func(), 1000), fakeDevice: &fakeDevice{}, dialogs: &fakeDialogs{}}).start(
		real(), "en")
	h.files.Open(sample)
	h.settle()
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("correct.all")
	h.press("Correct all")
	h.settle()
	h.dialogs.path = filepath.Join(t.TempDir(), "result.tif")
	h.k.actions.do("file.savePictureAs")
	h.settle()
	if h.dialogOpen() || !strings.Contains(h.status.message.Text(), "verified") {
		t.Fatalf("status %q, dialog %q, proof %+v", h.status.message.Text(), h.dialogTexts(), h.c.store.Written().Saved.Proof)
	}
	size := h.c.session.Document().Size()
	may := imagefile.MaskOf(size.X, size.Y, h.c.session.Document().Corrections().Patches())
	c, err := imagefile.Compare(context.Background(), sample, h.dialogs.path, may, imagefile.DefaultLimits(), false)
	if err != nil {
		t.Fatal(err)
	}
	if proof := c.Proof; !proof.Holds() || proof.Changed == 0 ||
		proof.MaskArea != int64(h.c.session.Document().Corrections().Pixels()) {
		t.Errorf("%+v", proof)
	}
	if files, _ := filepath.Glob(filepath.Join(filepath.Dir(h.dialogs.path), "*")); len(files) != 3 {
		t.Errorf("wrote %v, want a picture and two reports", files)
	}
}
