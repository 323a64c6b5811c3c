package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"

	"blik/app/imagefile"
	"blik/app/preset"
	"blik/app/project"
	"blik/app/session"
	"blik/app/session/analysis"
	"blik/app/session/film"
	"blik/app/session/findings"
	"blik/app/session/preview"
	"blik/app/session/store"
	"blik/internal/message"
	"blik/ui/filedialog"
	"blik/ui/prompt"
)

// presetExtension is the extension of preset files.
const presetExtension = "json"

func baseName(path string) string { return filepath.Base(path) }

// files opens and saves pictures, masks and presets, and asks the questions that this requires.
type files struct {
	k        *kit
	session  *session.Session
	found    *findings.Findings
	preview  *preview.Preview
	frames   *film.Film
	store    *store.Store
	analysis *analysis.Analysis
	dialogs  filedialog.Dialogs
	// presets is the folder of the presets in the menu, empty for none.
	presets string
}

// choosePicture lets the user choose a picture.
func (f *files) choosePicture() {
	f.dialogs.Open(filedialog.Request{
		Title: f.k.t("Open picture"), Folder: f.session.Settings().LastFolder,
		Name: f.k.t("Pictures (TIFF, PNG, JPEG)"), Extensions: imagefile.Extensions(),
	}, f.chosen(f.open))
}

// chooseFolder lets the user choose a folder, all pictures of which become the filmstrip.
func (f *files) chooseFolder() {
	f.dialogs.Choose(filedialog.Request{Title: f.k.t("Open folder"), Folder: f.session.Settings().LastFolder},
		f.chosen(func(path string) { f.openAll(path) }))
}

// openAll adds pictures and folders to the filmstrip and opens the first picture.
func (f *files) openAll(paths ...string) {
	first, ok := film.FirstPicture(paths)
	if !ok {
		f.k.say(f.k.t("No pictures in the folder %s.", baseName(paths[0])))
		return
	}
	f.addFrames(paths)
	f.open(first)
}

// chosen passes on the path of a file dialog, unless it was cancelled.
func (f *files) chosen(use func(path string)) func(string, error) {
	return func(path string, err error) {
		switch {
		case errors.Is(err, filedialog.ErrBusy):
			f.k.say(f.k.t("A file dialog is already open"))
		case err != nil:
			f.k.prompts.ShowError("Could not show the file dialog", err)
		case path != "":
			use(path)
		}
	}
}

// open shows another picture once the work on this one is saved or discarded.
func (f *files) open(path string) { f.openThen(path, func() {}) }

// openThen is open, and calls then when the picture is open.
func (f *files) openThen(path string, then func()) {
	f.wait(message.Of("Open %s", baseName(path)), func() { f.openNow(path, then) })
}

// wait calls do when no job is running, not even a search that follows the parameters: now, or from the queue.
func (f *files) wait(name message.Message, do func()) {
	if f.session.Queue().Add(name, do) {
		f.k.sayQueued(name)
	}
}

// waitHere is wait for work on the open picture: if another one is open by then, do is not called.
func (f *files) waitHere(name message.Message, do func()) {
	doc := f.session.Document()
	f.wait(name, func() {
		if f.session.Document() == doc {
			do()
		}
	})
}

// openNow is openThen for when no job is running.
func (f *files) openNow(path string, then func()) {
	f.guard(func() {
		f.store.Open(path, func(err error) {
			if !f.k.prompts.Ended("Could not open the picture", err) {
				return
			}
			doc := f.session.Document()
			text := f.k.t("%s: %s × %s px, %d bit", baseName(path), f.k.texts.Int(doc.Size().X),
				f.k.texts.Int(doc.Size().Y),
				doc.Picture().Depth())
			switch c := f.store.Continued(); {
			case c.Err != nil:
				f.k.prompts.ShowError("The project was not used", c.Err)
			case !c.Date.IsZero():
				text += ". " + f.k.t("Continuing from the project of %s", c.Date.Format("2006-01-02 15:04"))
				if !c.Remark.IsZero() {
					text += "; " + f.k.texts.Sprint(c.Remark)
				}
			}
			if path := f.store.LeftManual(); path != "" {
				text += ". " + f.k.t("Adaptive mode again: the manual values were for %s", baseName(path))
			}
			f.k.say(text)
			then()
		})
	})
}

// maskSuffix ends the proposed names of masks.
const maskSuffix = "_mask"

// dropped handles files dropped on the window: several pictures or a folder go into the filmstrip; a mask, a preset, a
// picture, or the picture of a project is opened.
func (f *files) dropped(_ fyne.Position, uris []fyne.URI) {
	if len(uris) == 0 || f.k.actions.blocked() {
		return
	}
	path := uris[0].Path()
	if info, err := os.Stat(path); len(uris) > 1 || err == nil && info.IsDir() {
		var paths []string
		for _, u := range uris {
			paths = append(paths, u.Path())
		}
		f.openAll(paths...)
		return
	}
	if strings.HasSuffix(strings.TrimSuffix(path, filepath.Ext(path)), maskSuffix) && f.session.Document() != nil {
		f.loadMask(path)
		return
	}
	if picture, ok := project.PictureOf(path); ok {
		f.open(picture)
		return
	}
	if strings.EqualFold(filepath.Ext(path), ".json") {
		f.readPreset(path)
		return
	}
	f.open(path)
}

// guard asks what to do with unsaved corrections and an unsaved mask, and then calls next.
func (f *files) guard(next func()) {
	f.k.display.end()
	mask, picture := f.store.Unsaved()
	if !mask && !picture && !f.store.UnsavedDecisions() {
		next()
		return
	}
	if f.k.actions.blocked() {
		return
	} else if !mask && !picture {
		f.guardDecisions(next)
		return
	}
	title, text, name := message.Text("Unsaved mask"), message.Text("The mask of %s has unsaved changes."),
		message.Text("Save mask")
	save := func() { f.saveMask(next) }
	switch {
	case picture && mask:
		title, text = "Unsaved corrections and mask", "The corrected picture %s and its mask have not been saved."
		name, save = "Save both", func() { f.savePicture(func() { f.saveMask(next) }) }
	case picture:
		title, text = "Unsaved corrections", "The corrected picture %s has not been saved."
		name, save = "Save picture", func() { f.savePicture(next) }
	}
	f.k.prompts.Ask(f.k.t(title), f.k.t(text, baseName(f.session.Document().Path())), []prompt.Answer{
		prompt.Plain(f.k.t("Don't save"), next),
		prompt.Plain(f.k.t("Save project"), func() { f.saveProject(next) }),
		prompt.Main(f.k.t(name), save),
	})
}

// guardDecisions asks what to do with decisions that only a project can store.
func (f *files) guardDecisions(next func()) {
	f.k.prompts.Ask(f.k.t("Unsaved decisions"),
		f.k.t("Your decisions about the findings of %s are not saved. A project "+
			"stores them.", baseName(f.session.Document().Path())), []prompt.Answer{
			prompt.Plain(f.k.t("Don't save"), next),
			prompt.Main(f.k.t("Save project"), func() { f.saveProject(next) }),
		})
}

// saveProject writes the project of the work beside the picture, and calls next when it is on the disk.
func (f *files) saveProject(next func()) { f.writeProject(false, next) }

// writeProject writes the project. It asks before overwriting one that does not belong to this work.
func (f *files) writeProject(overwrite bool, next func()) {
	path, _ := project.Paths(f.session.Document().Path())
	f.waitHere(message.Of("Save %s", baseName(path)), func() {
		f.store.SaveProject(overwrite, func(err error) {
			switch {
			case errors.Is(err, imagefile.ErrForeign), errors.Is(err, imagefile.ErrExists):
				f.confirmForeign(err, path, func() { f.writeProject(true, next) })
			case f.k.prompts.Ended("Could not save the project", err):
				f.k.say(f.k.t("Project saved: %s", baseName(path)))
				next()
			}
		})
	})
}

// saveMask writes the mask to the file where it was saved before, or asks for one, and calls next when it is on the
// disk.
func (f *files) saveMask(next func()) {
	if f.store.MaskFile() == "" {
		f.saveMaskAs(next)
		return
	}
	f.writeMask(f.store.MaskFile(), false, next)
}

// saveMaskAs asks for a file and writes the mask there.
func (f *files) saveMaskAs(next func()) {
	path := f.store.MaskFile()
	if path == "" {
		picture := f.session.Document().Path()
		path = strings.TrimSuffix(picture, filepath.Ext(picture)) + maskSuffix + ".png"
	}
	f.dialogs.Save(filedialog.Request{
		Title: f.k.t("Save mask"), Folder: filepath.Dir(path), File: baseName(path),
		Name: f.k.t("Masks"), Extensions: imagefile.PNG.Extensions(),
	}, f.chosen(func(path string) {
		// The dialog has already asked about replacing an existing file; the original needs a question of its own.
		save := func() { f.writeMask(path, true, next) }
		if !f.store.IsOriginal(path) {
			save()
			return
		}
		f.k.prompts.Ask(f.k.t("Overwrite the original file?"),
			f.k.t("%s is the picture that you opened. The mask would take its place, and no original would remain.",
				baseName(path)), []prompt.Answer{prompt.Danger(f.k.t("Overwrite the original"), save)})
	}))
}

// writeMask writes the mask. It asks before overwriting a file that another program has changed.
func (f *files) writeMask(path string, overwrite bool, next func()) {
	f.waitHere(message.Of("Save %s", baseName(path)), func() {
		f.store.SaveMask(path, overwrite, func(err error) {
			switch {
			case errors.Is(err, imagefile.ErrForeign), errors.Is(err, imagefile.ErrExists):
				f.confirmForeign(err, path, func() { f.writeMask(path, true, next) })
			case f.k.prompts.Saved("Could not save the mask", err, func() { f.saveMaskAs(next) }):
				f.k.say(f.k.t("Mask saved: %s", path))
				next()
			}
		})
	})
}

// confirmForeign asks whether the file that an error is about may be overwritten.
func (f *files) confirmForeign(err error, path string, yes func()) {
	var of *imagefile.Error
	if errors.As(err, &of) {
		path = of.Path
	}
	if !errors.Is(err, imagefile.ErrForeign) {
		f.k.prompts.ConfirmReplace(path, yes)
		return
	}
	f.k.prompts.Ask(f.k.t("Overwrite the file?"),
		f.k.t("Another program has changed %s since it was saved here. What it "+
			"changed would be lost.", baseName(path)), []prompt.Answer{prompt.Danger(f.k.t("Overwrite"), yes)})
}

// chooseMask lets the user choose a mask of the picture's size to continue with.
func (f *files) chooseMask() {
	f.dialogs.Open(filedialog.Request{
		Title: f.k.t("Load mask"), Folder: filepath.Dir(f.session.Document().Path()),
		Name: f.k.t("Masks"), Extensions: imagefile.MaskExtensions(),
	}, f.chosen(f.loadMask))
}

// loadMask replaces the mask with one from a file. It asks first whether a picture that hardly is a mask is meant.
func (f *files) loadMask(path string) { f.loadPictureAsMask(path, false) }

func (f *files) loadPictureAsMask(path string, anyPicture bool) {
	f.waitHere(message.Of("Load %s", baseName(path)), func() {
		f.store.LoadMask(path, anyPicture, func(err error) {
			switch {
			case errors.Is(err, imagefile.ErrNotMask):
				f.confirmMask(err, func() { f.loadPictureAsMask(path, true) })
			case f.k.prompts.Ended("Could not load the mask", err):
				f.k.display.showMask()
				n := f.session.Document().Stats().Spots
				text := f.k.texts.Plural(n, "Mask loaded: %s, %s finding", "Mask loaded: %s, %s findings",
					baseName(path),
					f.k.texts.Int(n))
				if n == 0 {
					text = f.k.t("Mask loaded: %s. It is empty: no pixel is at least half as bright as white",
						baseName(path))
				}
				if remark, turned := f.session.Shown().Original.TurnedRemark(); turned {
					text += ". " + f.k.texts.Sprint(remark)
				}
				f.k.say(text)
			}
		})
	})
}

// confirmMask says why a picture hardly is a mask, and asks whether it is meant as one.
func (f *files) confirmMask(err error, yes func()) {
	f.k.prompts.Ask(f.k.t("Use this picture as a mask?"),
		f.k.texts.Error(err)+".\n\n"+f.k.t("In a mask, glare is white and "+
			"everything else is black. Every pixel whose brightest channel is at least half of white would be marked."),
		[]prompt.Answer{prompt.Plain(f.k.t("Use it as a mask"), yes)})
}

func (f *files) choosePreset() {
	f.dialogs.Open(filedialog.Request{
		Title: f.k.t("Load preset"), Folder: f.presetsFolder(),
		Name: f.k.t("Presets (JSON)"), Extensions: []string{presetExtension},
	}, f.chosen(f.readPreset))
}

// presetsFolder returns the folder in which preset dialogs start; it is created if missing.
func (f *files) presetsFolder() string {
	if f.presets == "" || os.MkdirAll(f.presets, 0o700) != nil {
		return f.session.Settings().LastFolder
	}
	return f.presets
}

func (f *files) readPreset(path string) {
	p, remark, err := preset.Read(path)
	if err != nil {
		f.k.prompts.ShowError("Could not load the preset", err)
		return
	}
	f.preview.SetParams(p)
	text := f.k.t("Preset loaded: %s", baseName(path))
	if !remark.IsZero() {
		text += "; " + f.k.texts.Sprint(remark)
	}
	f.k.say(text)
}

func (f *files) savePreset() {
	f.dialogs.Save(filedialog.Request{
		Title: f.k.t("Save preset"), Folder: f.presetsFolder(), File: "preset.json",
		Name: f.k.t("Presets (JSON)"), Extensions: []string{presetExtension},
	}, f.chosen(func(path string) {
		if err := preset.Write(context.Background(), path, f.session.Settings().Params); err != nil {
			f.k.prompts.ShowError("Could not save the preset", err)
			return
		}
		f.k.say(f.k.t("Preset saved: %s", baseName(path)))
		f.k.changed(change{Presets: true})
	}))
}

// savePicture writes the corrected picture, without a question if possible, and calls next when it is on the disk.
func (f *files) savePicture(next func()) {
	if !f.session.Corrected() {
		f.k.say(f.k.t("Nothing is corrected yet; %s saves the mask", f.k.press(fileSaveMask)))
		return
	}
	if path, o, ok := f.store.SaveTarget(); ok {
		f.writePicture(path, o, next)
		return
	}
	f.askFormat(next)
}

// askFormat explains why a JPEG is saved in another format, and asks for one.
func (f *files) askFormat(next func()) {
	path := f.session.Document().Path()
	as := func(format imagefile.Format) func() {
		return func() { f.writePicture(f.store.ResultName(format), imagefile.SaveOptions{}, next) }
	}
	text := message.Text("%s is a JPEG, which loses quality each time it is written. The corrected picture is saved " +
		"as %s or as PNG, with the profile, metadata and resolution of the original. “Save picture as…” can still " +
		"write a JPEG.")
	answers := []prompt.Answer{
		prompt.Plain(f.k.t("Save as PNG"), as(imagefile.PNG)),
		prompt.Main(f.k.t("Save as TIFF"), as(imagefile.TIFF)),
	}
	if f.cmyk() {
		text = "%s is a JPEG, which loses quality each time it is written. The corrected picture is saved as %s, " +
			"with the profile, metadata and resolution of the original. “Save picture as…” can still write a JPEG."
		answers = answers[1:]
	}
	f.k.prompts.Ask(f.k.t("Save as TIFF or PNG?"), f.k.t(text, baseName(path),
		baseName(f.store.ResultName(imagefile.TIFF))), answers)
}

// cmyk reports whether the picture is CMYK, which PNG cannot hold.
func (f *files) cmyk() bool { return f.session.Document().Picture().Channels == 4 }

// savePictureAs asks for a file, writes the corrected picture there, and calls next when it is on the disk.
func (f *files) savePictureAs(next func()) {
	if !f.session.Corrected() {
		f.k.say(f.k.t("Nothing is corrected yet; %s saves the mask", f.k.press(fileSaveMask)))
		return
	}
	path, _, _ := f.store.SaveTarget()
	f.dialogs.Save(filedialog.Request{
		Title: f.k.t("Save corrected picture"), Folder: filepath.Dir(path), File: baseName(path),
		Name: f.k.t("Pictures (TIFF, PNG, JPEG)"), Extensions: f.session.Shown().Original.SaveExtensions(),
	}, f.chosen(func(path string) {
		// The dialog has already asked about replacing an existing file; the original needs a question of its own.
		save := func(keep bool) {
			f.writePicture(path, imagefile.SaveOptions{Overwrite: true, Keep: keep}, next)
		}
		if !f.store.IsOriginal(path) {
			save(false)
			return
		}
		f.k.prompts.Ask(f.k.t("Overwrite the original file?"),
			f.k.t("%s is the picture that you opened. Its pixels under the mask will be overwritten permanently, and "+
				"no original will remain unless you keep it as %s. Then the file is opened again.", baseName(path),
				baseName(imagefile.OriginalName(path))), []prompt.Answer{
				prompt.Danger(f.k.t("Overwrite the original"), func() { save(false) }),
				prompt.Plain(f.k.t("Keep the original too"), func() { save(true) }),
			})
	}))
}

// writePicture writes the corrected picture and its report. It asks before overwriting a file, and about the loss in a
// JPEG.
func (f *files) writePicture(path string, o imagefile.SaveOptions, next func()) {
	f.waitHere(message.Of("Save %s", baseName(path)), func() { f.writePictureNow(path, o, next) })
}

// writePictureNow is writePicture for when no job is running.
func (f *files) writePictureNow(path string, o imagefile.SaveOptions, next func()) {
	f.store.SavePicture(path, f.k.texts.Code(), o, func(err error) {
		switch {
		case errors.Is(err, imagefile.ErrExists), errors.Is(err, imagefile.ErrForeign) && o.Expect != "":
			f.confirmForeign(err, path, func() {
				o.Overwrite, o.Expect = true, ""
				f.writePicture(path, o, next)
			})
		case errors.Is(err, imagefile.ErrLossy):
			f.k.prompts.Ask(f.k.t("JPEG loses quality"),
				f.k.t("%s would be a JPEG: the blocks of 8 or 16 pixels around each corrected spot are encoded again "+
					"and change slightly. TIFF and PNG keep every other pixel.", baseName(path)), []prompt.Answer{
					prompt.Warning(f.k.t("Save as JPEG"), func() {
						o.AllowLossy = true
						f.writePicture(path, o, next)
					}),
				})
		case f.k.prompts.Saved("Could not save the picture", err, func() { f.savePictureAs(next) }):
			f.k.say(f.k.words.Saved(f.store.Written()))
			next()
		}
	})
}
