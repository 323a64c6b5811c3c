package session

import (
	"cmp"
	"context"
	"errors"
	"image"

	"blik/app/colour"
	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/job"
	"blik/app/settings"
	"blik/app/view"
	"blik/processing"
	"blik/processing/detect"
)

// Options are the parts of a session.
type Options struct {
	// Settings are changed in place. SettingsPath is their file, or empty to not save them.
	Settings     *settings.Settings
	SettingsPath string
	// Dispatch queues a function to run on the session's goroutine, in order. It does not wait.
	Dispatch func(func())
	// Settle, which may be nil, completes what the user is drawing. It is called before anything else changes or reads
	// the document.
	Settle func()
	// Hold, which may be nil, reports whether the queue must wait although no job runs.
	Hold func() bool
	// Panicked, which may be nil, is called when a job panics, on the job's goroutine.
	Panicked func(*job.PanicError)
}

// Open is an open picture with everything that is needed to show it. Original is the file of the picture, Before the
// view of it, Mask that of the mask; Screen converts its samples for thumbnails and close-ups.
type Open struct {
	Doc      *document.Document
	Original *imagefile.File
	Before   *view.Pyramid
	Mask     *view.MaskPyramid
	Screen   *colour.Screen
}

// Session holds one document, its views and the job that works on it, and tells listeners what has changed. It belongs
// to the goroutine of Options.Dispatch; listeners and callbacks also run there.
type Session struct {
	settings *settings.Settings
	path     string
	dispatch func(func())
	drawn    func()
	crash    func(*job.PanicError)
	jobs     *job.Runner
	progress job.Update
	// changing makes the view of the changed pixels.
	changing *job.Runner
	queue    *Queue

	open  Open
	views views
	// table holds what the network found in the picture; nil if it was not searched yet.
	table *detect.Table

	last      snapshot
	modules   []Module
	listeners []func(Change)
}

// Module is a part of the program that keeps a state of its own beside the document. Both functions may be nil.
type Module struct {
	// Changed sets in c what has changed in the module since the last call. What has changed in the document, and in
	// modules that were added before, is set already.
	Changed func(c *Change)
	// Close ends what the module does. It waits until that is done or ctx ends.
	Close func(ctx context.Context) error
}

// New returns a session without a document.
func New(o Options) *Session {
	s := &Session{
		settings: o.Settings, path: o.SettingsPath, dispatch: o.Dispatch, drawn: o.Settle, crash: o.Panicked,
		jobs: job.NewRunner(o.Dispatch, o.Panicked),
	}
	s.changing = s.Beside()
	s.queue = &Queue{s: s, hold: o.Hold}
	s.last = s.now()
	return s
}

func (s *Session) AddModule(m Module) { s.modules = append(s.modules, m) }

// Document returns the open document, or nil before the first.
func (s *Session) Document() *document.Document { return s.open.Doc }

// Shown returns the open picture; it is zero before the first.
func (s *Session) Shown() Open { return s.open }

// Show replaces the open picture. The caller publishes the change.
func (s *Session) Show(o Open) { s.open, s.table = o, nil }

// Pictures returns the views of the original and the corrected picture; they are the same if nothing is corrected.
func (s *Session) Pictures() (before, after *view.Pyramid) { return s.open.Before, s.views.after }

// Table returns what the network found in the picture; nil if it was not searched yet.
func (s *Session) Table() *detect.Table { return s.table }

// KeepTable keeps what the network found, until another picture is shown.
func (s *Session) KeepTable(t *detect.Table) { s.table = t }

// Settings returns the settings. Only the parts of the session may change Params and Recent.
func (s *Session) Settings() *settings.Settings { return s.settings }

// SaveSettings writes the settings, if they have a file.
func (s *Session) SaveSettings() error {
	if s.path == "" {
		return nil
	}
	return s.settings.Save(s.path)
}

// Corrected reports whether anything in the picture is corrected.
func (s *Session) Corrected() bool { return s.open.Doc != nil && s.open.Doc.Corrections() != nil }

// Busy reports whether a job runs.
func (s *Session) Busy() bool { return s.jobs.Busy() }

// Progress returns the last progress of the job.
func (s *Session) Progress() job.Update { return s.progress }

// Cancel cancels the job, if one runs.
func (s *Session) Cancel() { s.jobs.Cancel() }

// Queue returns what waits for the job.
func (s *Session) Queue() *Queue { return s.queue }

// Dispatch queues a function to run on the session's goroutine.
func (s *Session) Dispatch(do func()) { s.dispatch(do) }

// Beside returns a runner of jobs that run in parallel with the session's job. Whoever asks for it closes it.
func (s *Session) Beside() *job.Runner { return job.NewRunner(s.dispatch, s.crash) }

// Close cancels the job and closes the parts. It waits until that is done or ctx ends.
func (s *Session) Close(ctx context.Context) error {
	s.queue.waiting = nil
	err := errors.Join(s.jobs.Close(ctx), s.changing.Close(ctx))
	for _, p := range s.modules {
		if p.Close != nil {
			err = errors.Join(err, p.Close(ctx))
		}
	}
	return err
}

// Begin runs work as the session's one job and then calls done with its result or error. The error is context.Canceled
// after Cancel, and job.ErrBusy, immediately, if another job runs. It does not call Settle before. apply, if not nil,
// applies the result before listeners and done are called; it returns the part of the mask to redraw. What has to run
// on the session's goroutine is divided among handlers, so that the window stays responsive.
func Begin[T any](s *Session, cause Cause, work job.Work[T], apply func(T) (image.Rectangle, error),
	done func(T, error),
) {
	progressed := func(u job.Update) {
		s.progress = u
		s.Notify(Change{Progress: true})
	}
	var pixels image.Rectangle
	var failed error
	take := func(v T) {
		if apply != nil {
			s.Settle()
			pixels, failed = apply(v)
		}
	}
	var drawn *drawing
	handlers := []job.Handler[T]{
		{Do: take}, {Do: func(T) { s.open.Doc.Spots() }}, {Do: func(T) { drawn = s.views.draw(s.open.Doc) }},
		{Aside: func(T) { drawn.make() }, Do: func(T) {
			failed = errors.Join(failed, s.views.update(&s.open, false, drawn))
		}},
	}
	if apply == nil || cause == Opened {
		// Another document and its views must change together.
		handlers = nil
	}
	err := job.StartHandled(s.jobs, work, progressed, handlers, func(v T, err error) {
		if err == nil && handlers == nil {
			take(v)
		}
		ended := cause
		if err = cmp.Or(err, failed); err != nil || apply == nil {
			ended = Other
		}
		s.Publish(ended, pixels)
		done(v, err)
		s.queue.advance()
	})
	if err != nil {
		var none T
		done(none, err)
		return
	}
	progressed(job.Update{})
	s.Publish(Other, image.Rectangle{})
}

// Settle completes what the user is drawing, and removes a part of another detection that is only shown.
func (s *Session) Settle() {
	s.EndDrawing()
	if s.open.Doc != nil {
		s.open.Doc.DropPart()
	}
}

// EndDrawing completes what the user is drawing.
func (s *Session) EndDrawing() {
	if s.drawn != nil {
		s.drawn()
	}
}

// AskedWith returns p with the parameters of detection that a result was asked with. In adaptive mode that leaves those
// which only manual mode reads.
func AskedWith(p processing.Params, r *detect.Found) processing.Params {
	// What the classical detector chose in adaptive mode can be used in manual mode, and says so.
	manual := r.Params.Mode == processing.Manual && len(r.Chosen) == 0
	for _, s := range processing.SpecsOf(processing.StageDetection) {
		if manual || !s.Manual {
			// Values of valid parameters cause no error.
			_ = s.Set(&p, s.Get(r.Params))
		}
	}
	if p.Learned = r.Params.Learned; !manual {
		p.Mode = processing.Adaptive
	}
	return p
}
