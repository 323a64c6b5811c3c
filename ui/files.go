package ui

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"blik/app/imagefile"
	"blik/app/preset"
	"blik/app/session"
	"blik/ui/filedialog"
)

// presetEnding is that of the files of presets.
const presetEnding = "json"

func baseName(path string) string { return filepath.Base(path) }

// files opens and saves pictures, masks and presets, and asks what has to be asked.
type files struct {
	*common
	dialogs filedialog.Dialogs
}

// choosePicture lets the user choose a picture.
func (f *files) choosePicture() {
	f.dialogs.Open(filedialog.Request{
		Title: f.t("dialog.open"), Folder: f.Settings().LastFolder, Name: f.t("filter.pictures"), Endings: imagefile.Endings(),
	}, f.chosen(f.open))
}

// chosen passes on the path of a file dialog that was not cancelled.
func (f *files) chosen(use func(path string)) func(string, error) {
	return func(path string, err error) {
		switch {
		case errors.Is(err, filedialog.ErrBusy):
			f.say(f.t("status.dialogOpen"))
		case err != nil:
			f.prompts.showError(err)
		case path != "":
			use(path)
		}
	}
}

// open shows another picture, after the work on this one is safe.
func (f *files) open(path string) { f.openThen(path, func() {}) }

// openThen shows another picture and goes on when it is open.
func (f *files) openThen(path string, then func()) {
	if f.Busy() {
		f.say(f.t("status.busy"))
		return
	}
	f.guard(func() {
		f.Open(path, func(err error) {
			if !f.prompts.ended(err) {
				return
			}
			doc := f.Document()
			f.say(f.t("status.opened", "Name", baseName(path), "W", f.texts.Int(doc.Size().X), "H", f.texts.Int(doc.Size().Y),
				"Depth", doc.Picture().Depth()))
			then()
		})
	})
}

// dropped opens the first file dropped on the window: a preset, or a picture.
func (f *files) dropped(_ fyne.Position, uris []fyne.URI) {
	if len(uris) == 0 || f.actions.blocked() {
		return
	}
	path := uris[0].Path()
	if strings.EqualFold(filepath.Ext(path), ".json") {
		f.readPreset(path)
		return
	}
	f.open(path)
}

// guard goes on after asking what becomes of corrections and of a mask that are not saved.
func (f *files) guard(next func()) {
	f.display.port.End()
	mask, picture := f.Unsaved()
	if !mask && !picture {
		next()
		return
	}
	if f.actions.blocked() {
		return
	}
	title, text, save := "guard.title", "guard.text", func() { f.saveMask(next) }
	switch {
	case picture && mask:
		title, text, save = "guard.bothTitle", "guard.bothText", func() { f.savePicture(func() { f.saveMask(next) }) }
	case picture:
		title, text, save = "guard.pictureTitle", "guard.pictureText", func() { f.savePicture(next) }
	}
	f.prompts.ask(f.t(title), f.t(text, "Name", baseName(f.Document().Path())), []answer{
		{f.t("button.discard"), widget.MediumImportance, next},
		{f.t("button.save"), widget.HighImportance, save},
	})
}

// saveMask writes the mask to where it was saved before, or asks for a place, and goes on when it is on the disk.
func (f *files) saveMask(next func()) {
	if f.MaskFile() == "" {
		f.saveMaskAs(next)
		return
	}
	f.writeMask(f.MaskFile(), next)
}

// saveMaskAs asks for a place and writes the mask there.
func (f *files) saveMaskAs(next func()) {
	path := f.MaskFile()
	if path == "" {
		picture := f.Document().Path()
		path = strings.TrimSuffix(picture, filepath.Ext(picture)) + "_mask.png"
	}
	f.dialogs.Save(filedialog.Request{
		Title: f.t("dialog.saveMask"), Folder: filepath.Dir(path), File: baseName(path),
		Name: f.t("filter.masks"), Endings: imagefile.PNG.Endings(),
	}, f.chosen(func(path string) { f.writeMask(path, next) }))
}

func (f *files) writeMask(path string, next func()) {
	f.SaveMask(path, func(err error) {
		if f.prompts.ended(err) {
			f.say(f.t("status.saved", "Path", path))
			next()
		}
	})
}

// chooseMask lets the user choose a mask of the picture's size to go on with.
func (f *files) chooseMask() {
	f.dialogs.Open(filedialog.Request{
		Title: f.t("dialog.loadMask"), Folder: filepath.Dir(f.Document().Path()),
		Name: f.t("filter.masks"), Endings: imagefile.MaskEndings(),
	}, f.chosen(func(path string) {
		f.LoadMask(path, func(err error) {
			if f.prompts.ended(err) {
				f.display.showMask()
				f.say(f.t("status.maskLoaded", "Name", baseName(path)))
			}
		})
	}))
}

func (f *files) choosePreset() {
	f.dialogs.Open(filedialog.Request{
		Title: f.t("dialog.loadPreset"), Folder: f.Settings().LastFolder, Name: f.t("filter.presets"), Endings: []string{presetEnding},
	}, f.chosen(f.readPreset))
}

func (f *files) readPreset(path string) {
	p, err := preset.Read(path)
	if err != nil {
		f.prompts.showError(err)
		return
	}
	f.SetParams(p)
	f.say(f.t("status.presetLoaded", "Name", baseName(path)))
}

func (f *files) savePreset() {
	f.dialogs.Save(filedialog.Request{
		Title: f.t("dialog.savePreset"), Folder: f.Settings().LastFolder, File: "preset.json",
		Name: f.t("filter.presets"), Endings: []string{presetEnding},
	}, f.chosen(func(path string) {
		if err := preset.Write(context.Background(), path, f.Settings().Params); err != nil {
			f.prompts.showError(err)
			return
		}
		f.say(f.t("status.presetSaved", "Name", baseName(path)))
	}))
}

// savePicture writes the corrected picture without a question where it can, and goes on when it is on the disk.
func (f *files) savePicture(next func()) {
	if !f.Corrected() {
		f.say(f.t("status.nothingCorrected"))
		return
	}
	if path, o, ok := f.SaveTarget(); ok {
		f.writePicture(path, o, next)
		return
	}
	f.askFormat(next)
}

// askFormat says why a JPEG is saved in another format, and asks for one.
func (f *files) askFormat(next func()) {
	path := f.Document().Path()
	as := func(format imagefile.Format) func() {
		return func() { f.writePicture(imagefile.DefaultName(path, format), imagefile.SaveOptions{}, next) }
	}
	text, answers := "jpeg.text", []answer{
		{f.t("button.png"), widget.MediumImportance, as(imagefile.PNG)},
		{f.t("button.tiff"), widget.HighImportance, as(imagefile.TIFF)},
	}
	if f.cmyk() {
		text, answers = "jpeg.inkText", answers[1:]
	}
	f.prompts.ask(f.t("jpeg.title"), f.t(text, "Name", baseName(path),
		"Result", baseName(imagefile.DefaultName(path, imagefile.TIFF))), answers)
}

// cmyk reports whether the picture is CMYK, which PNG cannot hold.
func (f *files) cmyk() bool { return f.Document().Picture().Channels == 4 }

// savePictureAs asks for a place and writes the corrected picture there.
func (f *files) savePictureAs() {
	if !f.Corrected() {
		f.say(f.t("status.nothingCorrected"))
		return
	}
	path, _, _ := f.SaveTarget()
	f.dialogs.Save(filedialog.Request{
		Title: f.t("dialog.savePicture"), Folder: filepath.Dir(path), File: baseName(path),
		Name: f.t("filter.pictures"), Endings: f.Original().SaveEndings(),
	}, f.chosen(func(path string) {
		// The dialog has asked about a file that exists; the original takes a question of its own.
		save := func() { f.writePicture(path, imagefile.SaveOptions{Overwrite: true}, func() {}) }
		if !f.IsOriginal(path) {
			save()
			return
		}
		f.prompts.ask(f.t("source.title"), f.t("source.text", "Name", baseName(path)), []answer{
			{f.t("button.replaceSource"), widget.DangerImportance, save},
		})
	}))
}

// writePicture writes the corrected picture and its report. It asks before a file is overwritten and about the loss of a
// JPEG.
func (f *files) writePicture(path string, o imagefile.SaveOptions, next func()) {
	f.SavePicture(path, f.texts.Lang(), o, func(err error) {
		var report *session.ReportError
		switch {
		case errors.Is(err, imagefile.ErrExists):
			f.prompts.confirmReplace(f.prompts.win, f.prompts.modals, path, func() {
				o.Overwrite = true
				f.writePicture(path, o, next)
			})
		case errors.Is(err, imagefile.ErrLossy):
			f.prompts.ask(f.t("lossy.title"), f.t("lossy.text", "Name", baseName(path)), []answer{
				{f.t("button.saveLossy"), widget.WarningImportance, func() {
					o.AllowLossy = true
					f.writePicture(path, o, next)
				}},
			})
		case errors.As(err, &report):
			f.say(f.savedText(f.Written()))
			if !errors.Is(err, context.Canceled) {
				f.prompts.showSentence(f.t("saved.noReport", "Error", f.prompts.errorText(report.Err)))
			}
		case f.prompts.ended(err):
			f.say(f.savedText(f.Written()))
			next()
		}
	})
}
