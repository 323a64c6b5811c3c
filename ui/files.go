package ui

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/preset"
	"blik/app/view"
	"blik/processing"
	"blik/ui/filedialog"
)

// presetEnding is that of the files of presets.
const presetEnding = "json"

func baseName(path string) string { return filepath.Base(path) }

// started runs when the window is on the screen. damaged is what was wrong with the settings, if anything.
func (w *window) started(o Options, damaged error) {
	if damaged != nil {
		w.showError(damaged)
	}
	w.log.view(w.port)
	w.openDevices()
	w.offerCrashLogs()
	for i := len(o.Files) - 1; i > 0; i-- {
		if abs, err := filepath.Abs(o.Files[i]); err == nil {
			w.settings.AddRecent(abs)
		}
	}
	if len(o.Files) == 0 {
		return
	}
	then := func() {}
	if o.Detect {
		then = w.detect
	}
	w.openThen(o.Files[0], then)
}

// chooseFile lets the user choose a picture.
func (w *window) chooseFile() {
	w.files.Open(filedialog.Request{
		Title: w.t("dialog.open"), Folder: w.settings.LastFolder,
		Name: w.t("filter.pictures"), Endings: imagefile.Endings(),
	}, w.chosen(w.open))
}

// chosen passes on the path of a file dialog that was not cancelled.
func (w *window) chosen(use func(path string)) func(string, error) {
	return func(path string, err error) {
		switch {
		case errors.Is(err, filedialog.ErrBusy):
			w.say(w.t("status.dialogOpen"))
		case err != nil:
			w.showError(err)
		case path != "":
			use(path)
		}
	}
}

// opened is a picture made ready to be shown.
type opened struct {
	file    *imagefile.File
	doc     *document.Document
	pyramid *view.Pyramid
	mask    *view.MaskPyramid
}

// open shows another picture, after the work on this one is safe.
func (w *window) open(path string) { w.openThen(path, func() {}) }

// openThen shows another picture and goes on when it is there.
func (w *window) openThen(path string, then func()) {
	if w.jobs.Busy() {
		w.say(w.t("status.busy"))
		return
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	w.guard(func() { w.load(path, then) })
}

// load reads a picture, shows it in place of what is open, and goes on when it is there.
func (w *window) load(path string, then func()) {
	work := func(ctx context.Context, report processing.Progress) (opened, error) {
		stage := processing.Text{EN: baseName(path), RU: baseName(path)}
		report(stage, 0)
		file, err := w.engine.read(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			w.dispatch(func() { w.forget(path) })
		}
		if err != nil {
			return opened{}, err
		}
		report(stage, 0.6)
		doc, err := document.New(path, file.Picture)
		if err != nil {
			return opened{}, err
		}
		pyramid, err := view.NewPyramid(ctx, file.Picture, view.WithProfile(file.Profile), view.WithOrientation(file.Orientation))
		if err != nil {
			return opened{}, err
		}
		report(stage, 0.9)
		return opened{file, doc, pyramid, view.NewMaskPyramid(doc.Mask())}, ctx.Err()
	}
	start(w, work, func(o opened) {
		w.show(path, o)
		then()
	})
}

// forget takes a file that is gone out of the recent ones.
func (w *window) forget(path string) {
	w.settings.RemoveRecent(path)
	w.refreshMenu()
}

// show makes an opened picture the window's.
func (w *window) show(path string, o opened) {
	w.port.End()
	w.doc, w.file = o.doc, o.file
	w.before, w.after, w.shown = o.pyramid, o.pyramid, nil
	w.maskFile, w.saved, w.result, w.replaced = "", pictureFile{}, written{}, 0
	w.source, w.split, w.heldKey, w.heldButton = false, false, 0, false
	for _, id := range []string{"tool.brush", "tool.eraser"} {
		w.tools[id].(interface{ Forget() }).Forget()
	}
	w.settings.AddRecent(path)
	w.saveSettings()
	w.port.SetPicture(o.pyramid, o.mask)
	w.status.values.SetWidest(w.widestPixel())
	w.refreshAll()
	size := o.doc.Size()
	w.say(w.t("status.opened", "Name", baseName(path), "W", w.texts.Int(size.X), "H", w.texts.Int(size.Y),
		"Depth", o.doc.Picture().Depth()))
	w.log.line("picture %s %d %d", path, size.X, size.Y)
}

// dropped opens the first file dropped on the window: a preset, or a picture.
func (w *window) dropped(_ fyne.Position, uris []fyne.URI) {
	if len(uris) == 0 || w.dialogOpen() {
		return
	}
	path := uris[0].Path()
	if strings.EqualFold(filepath.Ext(path), ".json") {
		w.readPreset(path)
		return
	}
	w.open(path)
}

// guard goes on after asking what becomes of corrections and of a mask that are not saved.
func (w *window) guard(next func()) {
	w.port.End()
	if w.doc == nil || !w.doc.Dirty() && !w.doc.PictureDirty() {
		next()
		return
	}
	if w.dialogOpen() {
		return
	}
	title, text, save := "guard.title", "guard.text", func() { w.saveMask(next) }
	switch {
	case w.doc.PictureDirty() && w.doc.Dirty():
		title, text, save = "guard.bothTitle", "guard.bothText", func() { w.savePicture(func() { w.saveMask(next) }) }
	case w.doc.PictureDirty():
		title, text, save = "guard.pictureTitle", "guard.pictureText", func() { w.savePicture(next) }
	}
	w.ask(w.t(title), w.t(text, "Name", baseName(w.doc.Path())), []answer{
		{w.t("button.discard"), widget.MediumImportance, next},
		{w.t("button.save"), widget.HighImportance, save},
	})
}

// saveMask writes the mask to where it was saved before, or asks for a place. next, which may be nil, runs after it is
// on the disk.
func (w *window) saveMask(next func()) {
	if w.maskFile == "" {
		w.saveMaskAs(next)
		return
	}
	w.writeMask(w.maskFile, next)
}

// saveMaskAs asks for a place and writes the mask there.
func (w *window) saveMaskAs(next func()) {
	base := baseName(w.doc.Path())
	folder, name := filepath.Dir(w.doc.Path()), strings.TrimSuffix(base, filepath.Ext(base))+"_mask.png"
	if w.maskFile != "" {
		folder, name = filepath.Dir(w.maskFile), baseName(w.maskFile)
	}
	w.files.Save(filedialog.Request{
		Title: w.t("dialog.saveMask"), Folder: folder, File: name,
		Name: w.t("filter.masks"), Endings: imagefile.PNG.Endings(),
	}, w.chosen(func(path string) { w.writeMask(path, next) }))
}

func (w *window) writeMask(path string, next func()) {
	w.port.End()
	doc := w.doc
	shot := doc.Snapshot()
	work := func(ctx context.Context, report processing.Progress) (struct{}, error) {
		report(processing.Text{EN: baseName(path), RU: baseName(path)}, 0)
		return struct{}{}, w.engine.writeMask(ctx, path, shot.Mask())
	}
	start(w, work, func(struct{}) {
		doc.MarkSaved(shot.Generation)
		w.maskFile = path
		w.refreshTitle()
		w.say(w.t("status.saved", "Path", path))
		w.log.line("saved %s", path)
		if next != nil {
			next()
		}
	})
}

// chooseMask lets the user choose a mask of the picture's size to go on with.
func (w *window) chooseMask() {
	w.files.Open(filedialog.Request{
		Title: w.t("dialog.loadMask"), Folder: filepath.Dir(w.doc.Path()),
		Name: w.t("filter.masks"), Endings: imagefile.MaskEndings(),
	}, w.chosen(w.loadMask))
}

func (w *window) loadMask(path string) {
	w.port.End()
	doc, size := w.doc, w.doc.Size()
	work := func(ctx context.Context, report processing.Progress) (*processing.Mask, error) {
		report(processing.Text{EN: baseName(path), RU: baseName(path)}, 0)
		return w.engine.readMask(ctx, path, size.X, size.Y)
	}
	start(w, work, func(m *processing.Mask) {
		if doc != w.doc {
			return
		}
		w.port.End()
		dirty, err := doc.LoadMask(m)
		if err != nil {
			w.showError(err)
			return
		}
		w.showMask()
		w.port.MaskChanged(dirty)
		w.refreshMask()
		w.say(w.t("status.maskLoaded", "Name", baseName(path)))
	})
}

func (w *window) loadPreset() {
	w.files.Open(filedialog.Request{
		Title: w.t("dialog.loadPreset"), Folder: w.settings.LastFolder,
		Name: w.t("filter.presets"), Endings: []string{presetEnding},
	}, w.chosen(w.readPreset))
}

func (w *window) readPreset(path string) {
	p, err := preset.Read(path)
	if err != nil {
		w.showError(err)
		return
	}
	w.setParams(p)
	w.say(w.t("status.presetLoaded", "Name", baseName(path)))
}

func (w *window) savePreset() {
	w.files.Save(filedialog.Request{
		Title: w.t("dialog.savePreset"), Folder: w.settings.LastFolder, File: "preset.json",
		Name: w.t("filter.presets"), Endings: []string{presetEnding},
	}, w.chosen(func(path string) {
		if err := preset.Write(context.Background(), path, w.settings.Params); err != nil {
			w.showError(err)
			return
		}
		w.say(w.t("status.presetSaved", "Name", baseName(path)))
	}))
}
