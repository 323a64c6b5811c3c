package files

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"blik/app/session"
	"blik/app/session/film"
	"blik/app/session/store"
	"blik/internal/message"
)

// Course knows which picture is open when the queue is empty.
type Course struct {
	session *session.Session
	frames  *film.Film
	// opening is the picture that is being opened; empty for none. queued is the last picture of the filmstrip that
	// waits for that, id its entry of the queue. failed is the picture that could not be opened, until another one is.
	opening, queued, failed string
	id                      int
}

// opened takes note that a picture was opened, or could not be.
func (c *Course) opened(path string, err error) {
	c.opening, c.failed = "", ""
	if err != nil && !errors.Is(err, context.Canceled) {
		c.failed = path
	}
}

// within reports whether the open picture is in the filmstrip.
func (c *Course) within() bool {
	if c.session.Document() == nil {
		return false
	}
	_, ok := c.frames.Beside(c.session.Document().Path(), 0)
	return ok
}

// end returns the path of the picture that is open when the queue is empty, or of the one that could not be opened, so
// that a step leads past it.
func (c *Course) end() string {
	waits := func(w session.Waiting) bool { return w.ID == c.id }
	switch {
	case slices.ContainsFunc(c.session.Queue().Waiting(), waits):
		return c.queued
	case c.opening != "":
		return c.opening
	case c.failed != "":
		return c.failed
	case c.session.Document() == nil:
		return ""
	}
	return c.session.Document().Path()
}

// Beside returns the path of the picture of the filmstrip that is direction places after that one; ok is false if there
// is none.
func (c *Course) Beside(direction int) (path string, ok bool) {
	return c.frames.Beside(c.end(), direction)
}

// OpenFrame opens a picture of the filmstrip; the work on the previous one is stored in its project without a question
// unless that cannot be written. It replaces another picture of the filmstrip at the end of the queue.
func (f *Files) OpenFrame(path string) {
	c, queue := f.Course, f.o.Session.Queue()
	if n := len(queue.Waiting()); n > 0 && queue.Waiting()[n-1].ID == c.id {
		queue.Withdraw(c.id)
	}
	c.failed = ""
	if c.end() == path {
		return
	}
	name := message.Of("Open %s", filepath.Base(path))
	open := func() { f.openNow(path, func() {}) }
	if queue.Add(name, func() {
		c.opening = path
		f.leave(open, func(bool, bool) {
			f.writeProject(false, open, func(err error) {
				f.o.Say(f.o.Prompts.ErrorText(err))
				open()
			})
		})
		if !f.o.Session.Busy() {
			// It waits for the answer to a question.
			c.opening = ""
		}
	}) {
		c.queued, c.id = path, queue.Waiting()[len(queue.Waiting())-1].ID
		f.o.Say(f.o.Words().Queued(name))
	}
}

// OpenBeside opens the next or previous picture of the filmstrip.
func (f *Files) OpenBeside(direction int) func() {
	return func() {
		if path, ok := f.Course.Beside(direction); ok {
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
				if !f.o.Prompts.Ended("Could not process the pictures", err) {
					return
				}
				text := f.t("%s done, %s skipped, %s failed", f.o.Texts().Int(b.Done), f.o.Texts().Int(b.Skipped),
					f.o.Texts().Int(b.Failed))
				if b.Changed {
					text += ". " + f.t("You changed the open picture meanwhile: open it again to see the result")
				}
				f.o.Say(text)
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
