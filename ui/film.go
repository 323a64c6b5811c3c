package ui

import (
	"path/filepath"

	"blik/app/session/film"
	"blik/internal/message"
	"blik/ui/filmstrip"
)

// filmPart is the filmstrip as a part of the window.
type filmPart struct{ *filmstrip.Strip }

func newFilmPart(c *common, open func(path string)) filmPart {
	return filmPart{filmstrip.New(filmstrip.Options{
		Texts: c.k.texts, Tips: c.k.tips, Keys: c.k.keys, Session: c.session, Frames: c.frames,
		Open: open, ErrorText: c.k.prompts.ErrorText,
	})}
}

func (p filmPart) update(c change) {
	if c.Film || c.Document {
		p.Update(c.Document)
	}
}

// openFrame opens a picture of the filmstrip; the work on the previous one is stored in its project without a question.
func (f *files) openFrame(path string) {
	if doc := f.session.Document(); doc != nil && doc.Path() == path {
		return
	}
	name := message.Of("Open %s", baseName(path))
	if f.session.Queue().Add(name, func() { f.kept(func() { f.openNow(path, func() {}) }) }) {
		f.k.sayQueued(name)
	}
}

// openBeside opens the next or previous picture of the filmstrip.
func (f *files) openBeside(direction int) func() {
	return func() {
		if path, ok := f.frames.Beside(direction); ok {
			f.openFrame(path)
		}
	}
}

// kept stores the work on the open picture, if any, in its project, and then calls next.
func (f *files) kept(next func()) {
	f.k.display.end()
	mask, picture := f.store.Unsaved()
	if f.session.Document() == nil || !mask && !picture && !f.store.UnsavedDecisions() {
		next()
		return
	}
	f.saveProject(next)
}

// addFolder fills the filmstrip with the folder of the open picture.
func addFolder(f *files) { f.addFrames([]string{filepath.Dir(f.session.Document().Path())}) }

// addFrames adds pictures and folders to the filmstrip.
func (f *files) addFrames(paths []string) {
	n := f.frames.Add(paths)
	f.k.say(f.k.texts.Plural(n, "%s picture added to the filmstrip", "%s pictures added to the filmstrip",
		f.k.texts.Int(n)))
}

// batch processes all pictures of the filmstrip.
func (f *files) batch(correct bool) func() {
	return func() {
		f.kept(func() {
			f.frames.RunBatch(correct, f.k.texts.Code(), func(b film.Batch, err error) {
				if f.k.prompts.Ended("Could not process the pictures", err) {
					f.k.say(f.k.t("%s done, %s skipped, %s failed", f.k.texts.Int(b.Done), f.k.texts.Int(b.Skipped),
						f.k.texts.Int(b.Failed)))
				}
			})
		})
	}
}
