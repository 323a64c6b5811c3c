// Package files opens and saves pictures, masks, projects and presets, and asks the questions that this requires.
package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"blik/app/i18n"
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
	"blik/ui/words"
)

// PresetExtension is the extension of preset files.
const PresetExtension = "json"

// Options are what files needs from the session and from the window. Functions without arguments return what is
// current.
type Options struct {
	Session  *session.Session
	Found    *findings.Findings
	Preview  *preview.Preview
	Frames   *film.Film
	Store    *store.Store
	Analysis *analysis.Analysis

	Prompts *prompt.Prompts
	Dialogs filedialog.Dialogs
	Texts   func() *i18n.Printer
	Words   func() *words.Words
	// Presets returns the folder of the presets in the menu, empty for none. PresetsChanged is called when one is
	// saved.
	Presets        func() string
	PresetsChanged func()
	// Say shows a passing message. Blocked reports whether a dialog covers the window.
	Say     func(text string)
	Blocked func() bool
	// Wait calls do when no job is running, not even a search that follows the parameters: now, or from the queue.
	Wait func(name message.Message, do func())
	// ShowMask makes the mask visible, EndDrawing ends the gesture of a tool.
	ShowMask, EndDrawing func()
	// SaveMaskKey returns the key that saves the mask.
	SaveMaskKey func() string
}

// Files opens and saves.
type Files struct {
	o Options
	// Course says where the filmstrip goes.
	Course *Course
}

func New(o Options) *Files { return &Files{o, &Course{session: o.Session, frames: o.Frames}} }

func (f *Files) t(format message.Text, args ...any) string {
	return f.o.Texts().Sprintf(format, args...)
}

// ChoosePicture lets the user choose a picture.
func (f *Files) ChoosePicture() {
	f.o.Dialogs.Open(filedialog.Request{
		Title: f.t("Open picture"), Folder: f.o.Session.Settings().LastFolder,
		Name: f.pictures(imagefile.Extensions()), Extensions: imagefile.Extensions(),
	}, f.chosen(f.Open))
}

// pictures names the formats with these extensions.
func (f *Files) pictures(extensions []string) string {
	var names []string
	for _, format := range imagefile.Formats() {
		if slices.Contains(extensions, format.Extensions()[0]) {
			names = append(names, string(format))
		}
	}
	return f.t("Pictures (%s)", strings.Join(names, ", "))
}

// ChooseFolder lets the user choose a folder, all pictures of which become the filmstrip.
func (f *Files) ChooseFolder() {
	f.o.Dialogs.Choose(filedialog.Request{Title: f.t("Open folder"), Folder: f.o.Session.Settings().LastFolder},
		f.chosen(func(path string) { f.OpenAll([]string{path}, func() {}) }))
}

// OpenAll adds pictures and folders to the filmstrip, opens the first picture, and calls then when it is open.
func (f *Files) OpenAll(paths []string, then func()) {
	first, ok := film.FirstPicture(paths)
	if !ok {
		f.o.Say(f.t("No pictures in the folder %s.", filepath.Base(paths[0])))
		return
	}
	f.AddFrames(paths)
	f.OpenThen(first, then)
}

// ChooseFolderFor lets the user choose a folder for something else.
func (f *Files) ChooseFolderFor(title message.Text, folder string, use func(path string)) {
	f.o.Dialogs.Choose(filedialog.Request{Title: f.t(title), Folder: folder}, f.chosen(use))
}

// chosen passes on the path of a file dialog, unless it was cancelled.
func (f *Files) chosen(use func(path string)) func(string, error) {
	return func(path string, err error) {
		switch {
		case errors.Is(err, filedialog.ErrBusy):
			f.o.Say(f.t("A file dialog is already open"))
		case err != nil:
			f.o.Prompts.ShowError("Could not show the file dialog", err)
		case path != "":
			use(path)
		}
	}
}

// Open shows another picture once the work on this one is saved or discarded.
func (f *Files) Open(path string) { f.OpenThen(path, func() {}) }

// OpenThen is Open, and calls then when the picture is open.
func (f *Files) OpenThen(path string, then func()) {
	f.o.Wait(message.Of("Open %s", filepath.Base(path)), func() { f.openNow(path, then) })
}

// waitHere is Options.Wait for work on the open picture: if another one is open by then, do is not called.
func (f *Files) waitHere(name message.Message, do func()) {
	doc := f.o.Session.Document()
	f.o.Wait(name, func() {
		if f.o.Session.Document() == doc {
			do()
		}
	})
}

// openNow is OpenThen for when no job is running.
func (f *Files) openNow(path string, then func()) {
	f.Guard(func() {
		f.Course.opening = path
		f.o.Store.Open(path, func(err error) {
			f.Course.opened(path, err)
			if !f.o.Prompts.Ended("Could not open the picture", err) {
				return
			}
			doc := f.o.Session.Document()
			text := f.t("%s: %s × %s px, %d bit", filepath.Base(path), f.o.Texts().Int(doc.Size().X),
				f.o.Texts().Int(doc.Size().Y),
				doc.Picture().Depth())
			switch c := f.o.Store.Continued(); {
			case c.Err != nil:
				f.o.Prompts.ShowError("The project was not used", c.Err)
			case !c.Date.IsZero():
				text += ". " + f.t("Continuing from the project of %s", c.Date.Format("2006-01-02 15:04"))
				if !c.Remark.IsZero() {
					text += "; " + f.o.Texts().Sprint(c.Remark)
				}
			}
			if path := f.o.Store.LeftManual(); path != "" {
				text += ". " + f.t("Adaptive mode again: the manual values were for %s", filepath.Base(path))
			}
			f.o.Say(text)
			then()
		})
	})
}

// maskSuffix ends the proposed names of masks.
const maskSuffix = "_mask"

// Dropped handles files dropped on the window: several pictures or a folder go into the filmstrip; a mask, a preset, a
// picture, or the picture of a project is opened.
func (f *Files) Dropped(_ fyne.Position, uris []fyne.URI) {
	if len(uris) == 0 || f.o.Blocked() {
		return
	}
	path := uris[0].Path()
	if info, err := os.Stat(path); len(uris) > 1 || err == nil && info.IsDir() {
		var paths []string
		for _, u := range uris {
			paths = append(paths, u.Path())
		}
		f.OpenAll(paths, func() {})
		return
	}
	if strings.HasSuffix(strings.TrimSuffix(path, filepath.Ext(path)), maskSuffix) && f.o.Session.Document() != nil {
		f.LoadMask(path, false)
		return
	}
	if picture, ok := project.PictureOf(path); ok {
		f.Open(picture)
		return
	}
	if strings.EqualFold(filepath.Ext(path), ".json") {
		f.ReadPreset(path)
		return
	}
	f.Open(path)
}

// Guard asks what to do with unsaved corrections, an unsaved mask or unsaved decisions, and then calls next.
func (f *Files) Guard(next func()) {
	f.leave(next, func(mask, picture bool) {
		if !f.o.Blocked() {
			f.askToSave(mask, picture, next)
		}
	})
}

// leave calls unsaved if there is work on the open picture that is not saved, and next otherwise. The project of a
// picture of the filmstrip stores first that all is saved; one that cannot be written is no obstacle.
func (f *Files) leave(next func(), unsaved func(mask, picture bool)) {
	f.o.EndDrawing()
	if mask, picture := f.o.Store.Unsaved(); mask || picture || f.o.Store.UnsavedDecisions() {
		unsaved(mask, picture)
		return
	}
	if !f.Course.within() || f.o.Session.Busy() || f.o.Store.Stored() {
		next()
		return
	}
	f.o.Store.SaveProject(false, func(error) { next() })
}

// askToSave asks what to do with an unsaved mask, unsaved corrections or both. If there are neither, it asks about
// decisions, which only a project can store.
func (f *Files) askToSave(mask, picture bool, next func()) {
	project := func() { f.SaveProject(next) }
	title, name, save := message.Text("Unsaved decisions"), message.Text("Save project"), project
	text := message.Text("Your decisions about the findings of %s are not saved. A project stores them.")
	switch {
	case picture && mask:
		title, text = "Unsaved corrections and mask", "The corrected picture %s and its mask have not been saved."
		name, save = "Save both", func() { f.SavePicture(func() { f.SaveMask(next) }) }
	case picture:
		title, text = "Unsaved corrections", "The corrected picture %s has not been saved."
		name, save = "Save picture", func() { f.SavePicture(next) }
	case mask:
		title, text = "Unsaved mask", "The mask of %s has unsaved changes."
		name, save = "Save mask", func() { f.SaveMask(next) }
	}
	answers := []prompt.Answer{prompt.Plain(f.t("Don't save"), next)}
	if mask || picture {
		answers = append(answers, prompt.Plain(f.t("Save project"), project))
	}
	f.o.Prompts.Ask(f.t(title), f.t(text, filepath.Base(f.o.Session.Document().Path())),
		append(answers, prompt.Main(f.t(name), save)))
}

// SaveProject writes the project of the work beside the picture, and calls next when it is on the disk.
func (f *Files) SaveProject(next func()) { f.writeProject(false, next, nil) }

// writeProject writes the project. It asks before overwriting one that does not belong to this work. unwritable, which
// may be nil, replaces the message about a project that cannot be written.
func (f *Files) writeProject(overwrite bool, next func(), unwritable func(error)) {
	path, _ := project.Paths(f.o.Session.Document().Path())
	f.waitHere(message.Of("Save %s", filepath.Base(path)), func() {
		f.o.Store.SaveProject(overwrite, func(err error) {
			switch {
			case errors.Is(err, imagefile.ErrForeign), errors.Is(err, imagefile.ErrExists):
				f.confirmForeign(err, path, func() { f.writeProject(true, next, unwritable) })
			case unwritable != nil && imagefile.Unwritable(err):
				unwritable(err)
			case f.o.Prompts.Ended("Could not save the project", err):
				f.o.Say(f.t("Project saved: %s", filepath.Base(path)))
				next()
			}
		})
	})
}

// SaveMask writes the mask to the file where it was saved before, or asks for one, and calls next when it is on the
// disk.
func (f *Files) SaveMask(next func()) {
	if f.o.Store.MaskFile() == "" {
		f.SaveMaskAs(next)
		return
	}
	f.WriteMask(f.o.Store.MaskFile(), false, next)
}

// SaveMaskAs asks for a file and writes the mask there.
func (f *Files) SaveMaskAs(next func()) {
	path := f.o.Store.MaskFile()
	if path == "" {
		picture := f.o.Session.Document().Path()
		path = strings.TrimSuffix(picture, filepath.Ext(picture)) + maskSuffix + ".png"
	}
	f.o.Dialogs.Save(filedialog.Request{
		Title: f.t("Save mask"), Folder: filepath.Dir(path), File: filepath.Base(path),
		Name: f.t("Masks"), Extensions: imagefile.PNG.Extensions(),
	}, f.chosen(func(path string) {
		// The dialog has already asked about replacing an existing file; the original needs a question of its own.
		save := func() { f.WriteMask(path, true, next) }
		if !f.o.Store.IsOriginal(path) {
			save()
			return
		}
		f.o.Prompts.Ask(f.t("Overwrite the original file?"),
			f.t("%s is the picture that you opened. The mask would take its place, and no original would remain.",
				filepath.Base(path)), []prompt.Answer{prompt.Danger(f.t("Overwrite the original"), save)})
	}))
}

// WriteMask writes the mask. It asks before overwriting a file that another program has changed.
func (f *Files) WriteMask(path string, overwrite bool, next func()) {
	f.waitHere(message.Of("Save %s", filepath.Base(path)), func() {
		f.o.Store.SaveMask(path, overwrite, func(err error) {
			switch {
			case errors.Is(err, imagefile.ErrForeign), errors.Is(err, imagefile.ErrExists):
				f.confirmForeign(err, path, func() { f.WriteMask(path, true, next) })
			case f.o.Prompts.Saved("Could not save the mask", err, func() { f.SaveMaskAs(next) }):
				f.o.Say(f.t("Mask saved: %s", path))
				next()
			}
		})
	})
}

// confirmForeign asks whether the file that an error is about may be overwritten.
func (f *Files) confirmForeign(err error, path string, yes func()) {
	if of, ok := errors.AsType[*imagefile.Error](err); ok {
		path = of.Path
	}
	if !errors.Is(err, imagefile.ErrForeign) {
		f.o.Prompts.ConfirmReplace(path, yes)
		return
	}
	f.o.Prompts.Ask(f.t("Overwrite the file?"),
		f.t("Another program has changed %s since it was saved here. What it "+
			"changed would be lost.", filepath.Base(path)), []prompt.Answer{prompt.Danger(f.t("Overwrite"), yes)})
}

// ChooseMask lets the user choose a mask of the picture's size to continue with.
func (f *Files) ChooseMask() {
	f.o.Dialogs.Open(filedialog.Request{
		Title: f.t("Load mask"), Folder: filepath.Dir(f.o.Session.Document().Path()),
		Name: f.t("Masks"), Extensions: imagefile.MaskExtensions(),
	}, f.chosen(func(path string) { f.LoadMask(path, false) }))
}

// LoadMask replaces the mask with one from a file. Unless any picture is meant, it asks first about a picture that
// hardly is a mask.
func (f *Files) LoadMask(path string, anyPicture bool) {
	f.waitHere(message.Of("Load %s", filepath.Base(path)), func() {
		f.o.Store.LoadMask(path, anyPicture, func(err error) {
			switch {
			case errors.Is(err, imagefile.ErrNotMask):
				f.confirmMask(err, func() { f.LoadMask(path, true) })
			case f.o.Prompts.Ended("Could not load the mask", err):
				f.o.ShowMask()
				n := f.o.Session.Document().Stats().Spots
				text := f.o.Texts().Plural(n, "Mask loaded: %s, %s finding", "Mask loaded: %s, %s findings",
					filepath.Base(path),
					f.o.Texts().Int(n))
				if n == 0 {
					text = f.t("Mask loaded: %s. It is empty: no pixel is at least half as bright as white",
						filepath.Base(path))
				}
				if remark, turned := f.o.Session.Shown().Original.TurnedRemark(); turned {
					text += ". " + f.o.Texts().Sprint(remark)
				}
				f.o.Say(text)
			}
		})
	})
}

// confirmMask says why a picture hardly is a mask, and asks whether it is meant as one.
func (f *Files) confirmMask(err error, yes func()) {
	f.o.Prompts.Ask(f.t("Use this picture as a mask?"),
		f.o.Texts().Error(err)+".\n\n"+f.t("In a mask, glare is white and "+
			"everything else is black. Every pixel whose brightest channel is at least half of white would be marked."),
		[]prompt.Answer{prompt.Plain(f.t("Use it as a mask"), yes)})
}

func (f *Files) ChoosePreset() {
	f.o.Dialogs.Open(filedialog.Request{
		Title: f.t("Load preset"), Folder: presetFolder(f.o),
		Name: f.t("Presets (JSON)"), Extensions: []string{PresetExtension},
	}, f.chosen(f.ReadPreset))
}

// presetFolder returns the folder in which preset dialogs start; it is created if missing.
func presetFolder(o Options) string {
	folder := o.Presets()
	if folder == "" || os.MkdirAll(folder, 0o700) != nil {
		return o.Session.Settings().LastFolder
	}
	return folder
}

func (f *Files) ReadPreset(path string) {
	p, remark, err := preset.Read(path)
	if err != nil {
		f.o.Prompts.ShowError("Could not load the preset", err)
		return
	}
	f.o.Preview.SetParams(p)
	text := f.t("Preset loaded: %s", filepath.Base(path))
	if !remark.IsZero() {
		text += "; " + f.o.Texts().Sprint(remark)
	}
	f.o.Say(text)
}

func (f *Files) SavePreset() {
	f.o.Dialogs.Save(filedialog.Request{
		Title: f.t("Save preset"), Folder: presetFolder(f.o), File: "preset.json",
		Name: f.t("Presets (JSON)"), Extensions: []string{PresetExtension},
	}, f.chosen(func(path string) {
		if err := preset.Write(context.Background(), path, f.o.Session.Settings().Params); err != nil {
			f.o.Prompts.ShowError("Could not save the preset", err)
			return
		}
		f.o.Say(f.t("Preset saved: %s", filepath.Base(path)))
		f.o.PresetsChanged()
	}))
}

// SavePicture writes the corrected picture, without a question if possible, and calls next when it is on the disk.
func (f *Files) SavePicture(next func()) {
	if !f.o.Session.Corrected() {
		f.o.Say(f.t("Nothing is corrected yet; %s saves the mask", f.o.SaveMaskKey()))
		return
	}
	if path, o, ok := f.o.Store.SaveTarget(); ok {
		f.WritePicture(path, o, next)
		return
	}
	f.askFormat(next)
}

// askFormat explains why a JPEG is saved in another format, and asks for one.
func (f *Files) askFormat(next func()) {
	path := f.o.Session.Document().Path()
	as := func(format imagefile.Format) func() {
		return func() { f.WritePicture(f.o.Store.ResultName(format), imagefile.SaveOptions{}, next) }
	}
	text := message.Text("%s is a JPEG, which loses quality each time it is written. The corrected picture is saved " +
		"as %s or as PNG, with the profile, metadata and resolution of the original. “Save picture as…” can still " +
		"write a JPEG.")
	answers := []prompt.Answer{
		prompt.Plain(f.t("Save as PNG"), as(imagefile.PNG)),
		prompt.Main(f.t("Save as TIFF"), as(imagefile.TIFF)),
	}
	if f.o.Session.Document().Picture().Channels == 4 { // PNG cannot hold CMYK
		text = "%s is a JPEG, which loses quality each time it is written. The corrected picture is saved as %s, " +
			"with the profile, metadata and resolution of the original. “Save picture as…” can still write a JPEG."
		answers = answers[1:]
	}
	f.o.Prompts.Ask(f.t("Save as TIFF or PNG?"), f.t(text, filepath.Base(path),
		filepath.Base(f.o.Store.ResultName(imagefile.TIFF))), answers)
}

// SavePictureAs asks for a file, writes the corrected picture there, and calls next when it is on the disk.
func (f *Files) SavePictureAs(next func()) {
	if !f.o.Session.Corrected() {
		f.o.Say(f.t("Nothing is corrected yet; %s saves the mask", f.o.SaveMaskKey()))
		return
	}
	path, _, _ := f.o.Store.SaveTarget()
	extensions := f.o.Session.Shown().Original.SaveExtensions()
	f.o.Dialogs.Save(filedialog.Request{
		Title: f.t("Save corrected picture"), Folder: filepath.Dir(path), File: filepath.Base(path),
		Name: f.pictures(extensions), Extensions: extensions,
	}, f.chosen(func(path string) {
		// The dialog has already asked about replacing an existing file; the original needs a question of its own.
		save := func(keep bool) {
			f.WritePicture(path, imagefile.SaveOptions{Overwrite: true, Keep: keep}, next)
		}
		if !f.o.Store.IsOriginal(path) {
			save(false)
			return
		}
		f.o.Prompts.Ask(f.t("Overwrite the original file?"),
			f.t("%s is the picture that you opened. Its pixels under the mask will be overwritten permanently, and "+
				"no original will remain unless you keep it as %s. Then the file is opened again.", filepath.Base(path),
				filepath.Base(imagefile.OriginalName(path))), []prompt.Answer{
				prompt.Danger(f.t("Overwrite the original"), func() { save(false) }),
				prompt.Plain(f.t("Keep the original too"), func() { save(true) }),
			})
	}))
}

// WritePicture writes the corrected picture and its report. It asks before overwriting a file, and about the loss in a
// JPEG.
func (f *Files) WritePicture(path string, o imagefile.SaveOptions, next func()) {
	f.waitHere(message.Of("Save %s", filepath.Base(path)), func() {
		f.o.Store.SavePicture(path, f.o.Texts().Code(), o, func(err error) {
			switch {
			case errors.Is(err, imagefile.ErrExists), errors.Is(err, imagefile.ErrForeign) && o.Expect != "":
				f.confirmForeign(err, path, func() {
					o.Overwrite, o.Expect = true, ""
					f.WritePicture(path, o, next)
				})
			case errors.Is(err, imagefile.ErrLossy):
				f.o.Prompts.Ask(f.t("JPEG loses quality"),
					f.t("%s would be a JPEG: the blocks of 8 or 16 pixels around each corrected spot are encoded "+
						"again and change slightly. TIFF and PNG keep every other pixel.", filepath.Base(path)),
					[]prompt.Answer{prompt.Warning(f.t("Save as JPEG"), func() {
						o.AllowLossy = true
						f.WritePicture(path, o, next)
					})})
			case f.o.Prompts.Saved("Could not save the picture", err, func() { f.SavePictureAs(next) }):
				f.o.Say(f.o.Words().Saved(f.o.Store.Written()))
				next()
			}
		})
	})
}
