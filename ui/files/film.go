package files

import (
	"path/filepath"
	"slices"

	"blik/app/session"
	"blik/app/session/film"
	"blik/app/session/store"
	"blik/internal/message"
)

// queued is a picture whose opening has an ID in the queue.
type queued struct {
	id   int
	path string
}

// towards returns the path of the picture that is open when the queue is empty.
func (f *Files) towards() string {
	queue := f.o.Session.Queue()
	switch {
	case slices.ContainsFunc(queue.Waiting(), func(w session.Waiting) bool { return w.ID == f.queued.id }):
		return f.queued.path
	case f.opening != "":
		return f.opening
	case f.o.Session.Document() == nil:
		return ""
	}
	return f.o.Session.Document().Path()
}

// OpenFrame opens a picture of the filmstrip; the work on the previous one is stored in its project without a question
// unless that cannot be written. It replaces another picture of the filmstrip at the end of the queue.
func (f *Files) OpenFrame(path string) {
	queue := f.o.Session.Queue()
	if n := len(queue.Waiting()); n > 0 && queue.Waiting()[n-1].ID == f.queued.id {
		queue.Withdraw(f.queued.id)
	}
	if f.towards() == path {
		return
	}
	name := message.Of("Open %s", filepath.Base(path))
	open := func() { f.openNow(path, func() {}) }
	if queue.Add(name, func() {
		f.opening = path
		f.leave(open, func(bool, bool) {
			f.writeProject(false, open, func(err error) {
				f.o.Say(f.o.Prompts.ErrorText(err))
				open()
			})
		})
		if !f.o.Session.Busy() {
			// It waits for the answer to a question.
			f.opening = ""
		}
	}) {
		f.queued = queued{queue.Waiting()[len(queue.Waiting())-1].ID, path}
		f.o.Say(f.o.Words().Queued(name))
	}
}

// Beside returns the path of the picture of the filmstrip that is direction places after the one that is open when the
// queue is empty; ok is false if there is none.
func (f *Files) Beside(direction int) (path string, ok bool) {
	return f.o.Frames.Beside(f.towards(), direction)
}

// OpenBeside opens the next or previous picture of the filmstrip.
func (f *Files) OpenBeside(direction int) func() {
	return func() {
		if path, ok := f.Beside(direction); ok {
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
