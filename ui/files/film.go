package files

import (
	"path/filepath"

	"blik/app/session/film"
	"blik/app/session/store"
	"blik/internal/message"
)

// OpenFrame opens a picture of the filmstrip; the work on the previous one is stored in its project without a question
// unless that cannot be written.
func (f *Files) OpenFrame(path string) {
	if doc := f.o.Session.Document(); doc != nil && doc.Path() == path {
		return
	}
	name := message.Of("Open %s", filepath.Base(path))
	open := func() { f.openNow(path, func() {}) }
	if f.o.Session.Queue().Add(name, func() {
		f.leave(open, func(bool, bool) {
			f.writeProject(false, open, func(err error) {
				f.o.Say(f.o.Prompts.ErrorText(err))
				open()
			})
		})
	}) {
		f.o.Say(f.o.Words().Queued(name))
	}
}

// OpenBeside opens the next or previous picture of the filmstrip.
func (f *Files) OpenBeside(direction int) func() {
	return func() {
		if path, ok := f.o.Frames.Beside(direction); ok {
			f.OpenFrame(path)
		}
	}
}

// AddFolder fills the filmstrip with the folder of the open picture.
func (f *Files) AddFolder() { f.AddFrames([]string{filepath.Dir(f.o.Session.Document().Path())}) }

// AddFrames adds pictures and folders to the filmstrip.
func (f *Files) AddFrames(paths []string) {
	n := f.o.Frames.Add(paths)
	f.o.Say(f.o.Texts().Plural(n, "%s picture added to the filmstrip", "%s pictures added to the filmstrip",
		f.o.Texts().Int(n)))
}

// Batch processes all pictures of the filmstrip.
func (f *Files) Batch(correct bool) func() {
	return func() {
		run := func() {
			f.o.Frames.RunBatch(correct, f.o.Texts().Code(), func(b film.Batch, err error) {
				if f.o.Prompts.Ended("Could not process the pictures", err) {
					f.o.Say(f.t("%s done, %s skipped, %s failed", f.o.Texts().Int(b.Done), f.o.Texts().Int(b.Skipped),
						f.o.Texts().Int(b.Failed)))
				}
			})
		}
		f.leave(run, func(bool, bool) { f.writeProject(false, run, nil) })
	}
}

// OpenSample opens the sample painting.
func (f *Files) OpenSample() {
	if path, err := store.WriteSample(); f.o.Prompts.Ended("Could not open the sample", err) {
		f.Open(path)
	}
}
