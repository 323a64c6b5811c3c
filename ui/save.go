package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/processing"
	"blik/ui/filedialog"
)

// pictureFile is where the corrected picture was saved last.
type pictureFile struct {
	path  string
	lossy bool
}

// savePicture writes the corrected picture to where it was saved before, or else beside the source. next, which may be
// nil, runs after it is on the disk.
func (w *window) savePicture(next func()) {
	switch {
	case w.doc.Corrections() == nil:
		w.say(w.t("status.nothingCorrected"))
	case w.saved.path != "":
		w.writePicture(w.saved.path, imagefile.SaveOptions{Overwrite: true, AllowLossy: w.saved.lossy}, next)
	case w.file.Format == imagefile.JPEG:
		w.askContainer(next)
	default:
		w.writePicture(imagefile.DefaultName(w.doc.Path(), w.file.SaveFormat()), imagefile.SaveOptions{}, next)
	}
}

// askContainer says why a JPEG is saved as another kind of file, and which it may be.
func (w *window) askContainer(next func()) {
	as := func(f imagefile.Format) func() {
		return func() { w.writePicture(imagefile.DefaultName(w.doc.Path(), f), imagefile.SaveOptions{}, next) }
	}
	name := baseName(imagefile.DefaultName(w.doc.Path(), imagefile.TIFF))
	text, answers := "jpeg.text", []answer{
		{w.t("button.png"), widget.MediumImportance, as(imagefile.PNG)},
		{w.t("button.tiff"), widget.HighImportance, as(imagefile.TIFF)},
	}
	if w.inks() {
		text, answers = "jpeg.inkText", answers[1:]
	}
	w.ask(w.t("jpeg.title"), w.t(text, "Name", baseName(w.doc.Path()), "Result", name), answers)
}

// inks says whether the picture is CMYK, which PNG cannot hold.
func (w *window) inks() bool { return w.doc.Picture().Channels == 4 }

// savePictureAs asks for a place and writes the corrected picture there.
func (w *window) savePictureAs(next func()) {
	if w.doc.Corrections() == nil {
		w.say(w.t("status.nothingCorrected"))
		return
	}
	path := w.saved.path
	if path == "" {
		path = imagefile.DefaultName(w.doc.Path(), w.file.SaveFormat())
	}
	w.files.Save(filedialog.Request{
		Title: w.t("dialog.savePicture"), Folder: filepath.Dir(path), File: baseName(path),
		Name: w.t("filter.pictures"), Endings: w.file.SaveEndings(),
	}, w.chosen(func(path string) {
		// The dialog has asked about a file that is there; that it is the source itself takes an answer of its own.
		o := imagefile.SaveOptions{Overwrite: true}
		if !w.isSource(path) {
			w.writePicture(path, o, next)
			return
		}
		w.ask(w.t("source.title"), w.t("source.text", "Name", baseName(path)), []answer{
			{w.t("button.replaceSource"), widget.DangerImportance, func() { w.writePicture(path, o, next) }},
		})
	}))
}

// isSource says whether path is the file that the picture was read from.
func (w *window) isSource(path string) bool {
	if filepath.Clean(path) == filepath.Clean(w.doc.Path()) {
		return true
	}
	a, errA := os.Stat(path)
	b, errB := os.Stat(w.doc.Path())
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// written is what saving a picture did.
type written struct {
	saved  *imagefile.Saved
	report string
}

// writePicture writes the corrected picture and the report on it. What Save does not do by itself is asked about: that a
// file is replaced, and the loss of a JPEG.
func (w *window) writePicture(path string, o imagefile.SaveOptions, next func()) {
	w.port.End()
	doc, file, shot := w.doc, w.file, w.doc.Snapshot()
	about := w.correctionReport(shot.Corrections)
	withReport, lang, stage := w.settings.WriteReport, w.texts.Lang(), w.t("stage.report")
	work := func(ctx context.Context, progress processing.Progress) (written, error) {
		o.Progress = progress
		saved, err := w.engine.save(ctx, file, path, about.Patches, o)
		if err != nil || !withReport {
			return written{saved: saved}, err
		}
		about.Saved, about.Date, about.Mask = saved, time.Now(), shot.Mask()
		progress(processing.Text{EN: stage, RU: stage}, 1)
		html, err := w.engine.report(ctx, about, lang)
		if err != nil {
			// The picture is on the disk: a report that failed, or was cancelled, does not undo that.
			err = &reportError{saved, err}
		}
		return written{saved, html}, err
	}
	failed := func(err error) bool {
		var incomplete *reportError
		switch {
		case errors.As(err, &incomplete):
			w.pictureWritten(doc, shot, written{saved: incomplete.saved})
			if !errors.Is(err, context.Canceled) {
				w.showSentence(w.t("saved.noReport", "Error", w.errorText(incomplete.err)))
			}
		case errors.Is(err, imagefile.ErrExists):
			w.confirmReplace(w.win, w.modals, path, func() {
				o.Overwrite = true
				w.writePicture(path, o, next)
			})
		case errors.Is(err, imagefile.ErrLossy):
			w.ask(w.t("lossy.title"), w.t("lossy.text", "Name", baseName(path)), []answer{
				{w.t("button.saveLossy"), widget.WarningImportance, func() {
					o.AllowLossy = true
					w.writePicture(path, o, next)
				}},
			})
		default:
			return false
		}
		return true
	}
	startOr(w, work, func(r written) {
		w.pictureWritten(doc, shot, r)
		if next != nil {
			next()
		}
	}, failed)
}

// reportError is a report that could not be written beside a picture that was.
type reportError struct {
	saved *imagefile.Saved
	err   error
}

func (e *reportError) Error() string { return e.err.Error() }
func (e *reportError) Unwrap() error { return e.err }

// pictureWritten shows what was saved.
func (w *window) pictureWritten(doc *document.Document, shot document.Snapshot, r written) {
	if doc != w.doc {
		return
	}
	doc.MarkPictureSaved(shot.Corrections.Generation())
	w.saved = pictureFile{r.saved.Path, r.saved.Lossy}
	w.result = r
	w.refreshTitle()
	w.refreshSteps()
	w.say(w.savedText(r))
	w.log.line("saved-picture %s", r.saved.Path)
	if w.isSource(r.saved.Path) {
		w.reopen(shot.Mask())
	}
}

// savedText says what was saved and what is proven of it.
func (w *window) savedText(r written) string {
	n := int(r.saved.PixelsChanged)
	fields := []any{"Name", baseName(r.saved.Path), "Pixels", w.texts.N("count.pixels", n), "Changed", w.texts.N("count.changed", n)}
	switch {
	case r.saved.Lossy:
		return w.t("saved.lossy", fields...)
	case r.saved.Proof != nil && r.saved.Proof.Holds():
		return w.t("saved.proven", fields...)
	default:
		return w.t("saved.plain", fields...)
	}
}

// correctionReport gathers what the report tells besides the mask and what saving finds out. The parameters are those of
// most places; there is at least one.
func (w *window) correctionReport(done *document.Corrections) report.Correction {
	var (
		made    []processing.Params
		devices []string
		places  = map[*document.Origin]int{}
		usual   *document.Origin
	)
	for _, o := range done.Origins() {
		made = append(made, o.Params)
		if !slices.Contains(devices, o.Device) {
			devices = append(devices, o.Device)
		}
		if places[o]++; usual == nil || places[o] > places[usual] {
			usual = o
		}
	}
	params := usual.Params
	if r := w.doc.Result(); r != nil {
		params = withStage(r.Params, params, processing.StageCorrection)
	}
	return report.Correction{
		Source: w.file, Program: w.version, Device: strings.Join(devices, ", "), Mode: usual.Params.Mode, Params: params,
		Findings: w.doc.Findings(), Patches: done.Patches(), Made: made,
	}
}

// reopen shows the source anew after it was replaced: what was corrected is now part of it, and saving again has to start
// from the new file.
func (w *window) reopen(mask *processing.Mask) {
	path, maskFile, result, clean := w.doc.Path(), w.maskFile, w.result, !w.doc.Dirty()
	w.load(path, func() {
		dirty, err := w.doc.LoadMask(mask)
		if err != nil {
			w.showError(err)
			return
		}
		if clean {
			w.doc.MarkSaved(w.doc.Generation())
		}
		w.maskFile, w.result, w.replaced = maskFile, result, w.doc.Generation()
		w.port.MaskChanged(dirty)
		w.refreshMask()
		w.say(w.savedText(result))
	})
}

// answer is a button of a question.
type answer struct {
	text       string
	importance widget.Importance
	do         func()
}

// ask shows a question with a way out and the given answers. Enter gives the one that stands out; where none does, or where
// it could not be taken back, Enter is the way out.
func (w *window) ask(title, text string, answers []answer) {
	label := widget.NewLabel(text)
	label.Wrapping = fyne.TextWrapWord
	d := dialog.NewCustomWithoutButtons(title, label, w.win)
	buttons := container.New(layout.NewHBoxLayout(), widget.NewButton(w.t("button.cancel"), d.Hide))
	var accept func()
	for _, a := range answers {
		answer := func() {
			d.Hide()
			a.do()
		}
		b := widget.NewButton(a.text, answer)
		b.Importance = a.importance
		buttons.Add(b)
		if a.importance == widget.HighImportance {
			accept = answer
		}
	}
	d.SetButtons([]fyne.CanvasObject{buttons})
	d.Resize(fyne.NewSize(480, 180))
	w.showDialog(d, accept)
}
