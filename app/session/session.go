package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"time"

	"blik/app/colour"
	"blik/app/device"
	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/job"
	"blik/app/project"
	"blik/app/settings"
	"blik/app/thumbnail"
	"blik/app/view"
	"blik/internal/atomicfile"
	"blik/processing"
	"blik/processing/detect"
	"blik/processing/learn"
)

// Device runs the jobs of a session; *device.Switch implements it.
type Device interface {
	Runner
	Choose(name string, opened func())
	State() device.State
	Close(ctx context.Context) error
}

// Options are the parts of a session.
type Options struct {
	Files  Files
	Device Device
	// Engine detects and corrects; nil means On(Device).
	Engine Engine
	// Devices lists the devices of the machine. It may be slow; it is called on another goroutine.
	Devices func() ([]device.Device, error)
	// Settings are changed in place. SettingsPath is their file, or empty to not save them.
	Settings     *settings.Settings
	SettingsPath string
	// Journal is the folder for the journal of unsaved work, or empty for none.
	Journal string
	// Thumbnails stores the thumbnails of recent files; it may be nil.
	Thumbnails *thumbnail.Cache
	// Version is the version of the program, for reports.
	Version string
	// Dispatch queues a function to run on the session's goroutine, in order. It does not wait.
	Dispatch func(func())
	// Ahead is the placeholder of the picture that will be opened first; it may be nil.
	Ahead *Ahead
	// Panicked is called when a job panics, on the job's goroutine.
	Panicked func(*job.PanicError)
}

// Session holds one document and everything that works on it. It belongs to the goroutine of Options.Dispatch;
// listeners and callbacks also run there.
type Session struct {
	files    Files
	engine   Engine
	device   Device
	list     func() ([]device.Device, error)
	devices  []device.Device
	settings *settings.Settings
	path     string
	thumbs   *thumbnail.Cache
	version  string
	dispatch func(func())
	jobs     *job.Runner
	progress job.Update
	queue    queue
	// inspecting computes layers and counting histograms, in parallel with the job.
	inspecting, counting latest

	// Settle, which may be nil, completes what the user is drawing. It is called before anything else changes or reads
	// the document.
	Settle func()
	// Hold, which may be nil, reports whether the queue must wait although no job runs.
	Hold func() bool
	// Visible, which may be nil, returns the visible part of the picture. Previews search it first.
	Visible func() image.Rectangle
	// Previewed, which may be nil, is called after a detection or a correction that followed a change of the
	// parameters.
	Previewed func(Outcome, error)

	doc *document.Document
	// original is the file of the picture.
	original *imagefile.File
	// before shows the original, after the corrected picture, mask the mask.
	before, after *view.Pyramid
	mask          *view.MaskPyramid
	// screen converts the picture's samples for thumbnails and close-ups. shown are the corrections that after shows.
	screen *colour.Screen
	shown  *document.Corrections
	// previous is what after showed before, so that an undo is fast.
	previous pictureView
	// touched is what Touch marked last.
	touched touched
	// compared is the mask to compare with; nil for none.
	compared *compared
	// maskFile is the file in which the mask was last saved, maskState its state then (imagefile.State). written is the
	// corrected picture that was last saved.
	maskFile, maskState string
	written             Written
	// overwritten is the generation of the mask when the corrected picture replaced the original; 0 if it did not.
	overwritten uint64

	// lessons holds the decisions that were learned from, by the path of the picture.
	lessons map[string][]learn.Spot
	// table holds what the network found in the picture; nil if it was not searched yet.
	table *detect.Table
	// detectedWith are the parameters that were set for the last detection.
	detectedWith processing.Params
	preview      preview
	// placeholder shows the picture that is being read; nil for none.
	placeholder *view.Pyramid
	// placeholderWait is the longest time that reading waits for it; placeholderShown ends the wait.
	placeholderWait  time.Duration
	placeholderShown func()
	// ahead is the placeholder that was read before the session existed; nil for none.
	ahead *Ahead
	// continued says whether the project of the open picture was used. project is its file, kept the work that the file
	// holds.
	continued Continued
	project   project.State
	kept      kept
	// film is the filmstrip, small the thumbnail of the open picture.
	film  film
	small image.Image
	// listing says which findings are listed, and in which order.
	listing Listing
	listed  listed

	last      state
	listeners []func(Change)

	// journal, which may be nil, stores unsaved work in journalDir. originalState is the state of the original's file
	// when it was read. forget is set if the user does not want to keep unsaved work.
	journal       *journal
	journalDir    string
	originalState string
	forget        bool
}

// New returns a session without a document.
func New(o Options) *Session {
	s := &Session{
		files: o.Files, engine: o.Engine, device: o.Device, list: o.Devices, settings: o.Settings, path: o.SettingsPath,
		thumbs: o.Thumbnails, ahead: o.Ahead, placeholderWait: defaultPlaceholderWait,
		version: o.Version, dispatch: o.Dispatch, jobs: job.NewRunner(o.Dispatch, o.Panicked),
	}
	if s.engine == nil {
		s.engine = On(o.Device)
	}
	s.preview = preview{s: s, partShare: defaultPartShare}
	s.inspecting.jobs, s.counting.jobs = job.NewRunner(o.Dispatch, o.Panicked), job.NewRunner(o.Dispatch, o.Panicked)
	if o.Journal != "" {
		s.journalDir, s.journal = o.Journal, newJournal(atomicfile.Disk{}, o.Journal, s.journalFailed)
	}
	s.last = s.now()
	return s
}

// Document returns the open document, or nil before the first. Only the session may change it.
func (s *Session) Document() *document.Document { return s.doc }

// Original returns the file that the picture was read from.
func (s *Session) Original() *imagefile.File { return s.original }

// Pictures returns the views of the original and the corrected picture; they are the same if nothing is corrected.
func (s *Session) Pictures() (before, after *view.Pyramid) { return s.before, s.after }

// MaskView returns the view of the mask.
func (s *Session) MaskView() *view.MaskPyramid { return s.mask }

// Settings returns the settings. Only the session may change Params and Recent.
func (s *Session) Settings() *settings.Settings { return s.settings }

// SaveSettings writes the settings, if they have a file.
func (s *Session) SaveSettings() error {
	if s.path == "" {
		return nil
	}
	return s.settings.Save(s.path)
}

// Corrected reports whether anything in the picture is corrected.
func (s *Session) Corrected() bool { return s.doc != nil && s.doc.Corrections() != nil }

// Unsaved reports whether the mask and the corrected picture contain work that is neither saved nor in the project.
func (s *Session) Unsaved() (mask, picture bool) {
	if s.doc == nil {
		return false, false
	}
	if s.safe() {
		return false, false
	}
	return s.doc.Dirty(), s.doc.PictureDirty()
}

// Busy reports whether a job runs.
func (s *Session) Busy() bool { return s.jobs.Busy() }

// Progress returns the last progress of the job.
func (s *Session) Progress() job.Update { return s.progress }

// Cancel cancels the job, if one runs.
func (s *Session) Cancel() { s.jobs.Cancel() }

// Close cancels all jobs, releases the device and closes the journal. It waits until that is done or ctx ends.
func (s *Session) Close(ctx context.Context) error {
	s.queue.waiting = nil
	return errors.Join(s.jobs.Close(ctx), s.inspecting.jobs.Close(ctx), s.counting.jobs.Close(ctx), s.device.Close(ctx),
		s.closeJournal(ctx))
}

// Start runs work as the session's one job and then calls done with its result or error. The error is context.Canceled
// after Cancel, and job.ErrBusy, immediately, if another job runs.
func Start[T any](s *Session, work job.Work[T], done func(T, error)) {
	start(s, Other, work, nil, done)
}

// start is Start for work whose result changes the session; for apply see begin.
func start[T any](s *Session, cause Cause, work job.Work[T], apply func(T) (image.Rectangle, error),
	done func(T, error),
) {
	s.settle()
	begin(s, cause, work, apply, done)
}

// begin starts work whose result changes the session. apply, if not nil, applies the result before listeners and done
// are called; it returns the part of the mask to redraw. What has to run on the session's goroutine is divided into
// steps, so that the window stays responsive.
func begin[T any](s *Session, cause Cause, work job.Work[T], apply func(T) (image.Rectangle, error),
	done func(T, error),
) {
	progressed := func(u job.Update) {
		s.progress = u
		s.notify(Change{Progress: true})
	}
	var pixels image.Rectangle
	var failed error
	take := func(v T) {
		if apply != nil {
			s.settle()
			pixels, failed = apply(v)
		}
	}
	var drawn *drawing
	steps := []job.Step[T]{
		{Do: take}, {Do: func(T) { s.doc.Spots() }}, {Do: func(T) { drawn = s.draw() }},
		{Aside: func(T) { drawn.make() }, Do: func(T) { failed = errors.Join(failed, s.updatePictures(false, drawn)) }},
	}
	if apply == nil || cause == Opened {
		// Another document and its views must change together.
		steps = nil
	}
	err := job.StartSteps(s.jobs, work, progressed, steps, func(v T, err error) {
		if err == nil && steps == nil {
			take(v)
		}
		ended := cause
		if err = cmp.Or(err, failed); err != nil || apply == nil {
			ended = Other
		}
		s.publish(ended, pixels)
		done(v, err)
		s.advance()
	})
	if err != nil {
		var none T
		done(none, err)
		return
	}
	progressed(job.Update{})
	s.publish(Other, image.Rectangle{})
}

// settle completes what the user is drawing, and removes a part of another detection that is only shown.
func (s *Session) settle() {
	s.endStroke()
	if s.doc != nil {
		s.doc.DropPart()
	}
}

// endStroke completes what the user is drawing.
func (s *Session) endStroke() {
	if s.Settle != nil {
		s.Settle()
	}
}

// pictureView is the view of the picture with certain corrections.
type pictureView struct {
	of      *document.Corrections
	pyramid *view.Pyramid
}

// drawing is a view of the picture with changed corrections that is being made.
type drawing struct {
	from    *view.Pyramid
	patches []processing.Patch
	made    pictureView
	err     error
}

// draw returns the drawing of the present corrections, or nil if they have a view already.
func (s *Session) draw() *drawing {
	now := s.doc.Corrections()
	if now == nil || now == s.shown || now == s.previous.of {
		return nil
	}
	return &drawing{from: s.after, patches: s.doc.PatchesSince(s.shown), made: pictureView{of: now}}
}

// make makes the view, on any goroutine. Its time is proportional to what has changed.
func (d *drawing) make() {
	if d == nil {
		return
	}
	if d.made.pyramid, d.err = d.from.With(context.Background(), d.patches); d.err != nil {
		d.err = fmt.Errorf("show the corrections: %w", d.err)
	}
}

// updatePictures shows the present corrections. drawn, which may be nil, is a drawing that was made on another
// goroutine; it is ignored if the corrections have changed since.
func (s *Session) updatePictures(reopened bool, drawn *drawing) error {
	if reopened {
		s.after, s.shown, s.previous = s.before, nil, pictureView{}
	}
	now := s.doc.Corrections()
	if now == s.shown {
		return nil
	}
	next := s.previous
	switch {
	case now == nil:
		next = pictureView{nil, s.before}
	case now != s.previous.of:
		if drawn == nil || drawn.made.of != now {
			drawn = s.draw()
			drawn.make()
		}
		if drawn.err != nil {
			return drawn.err
		}
		next = drawn.made
	}
	s.previous = pictureView{s.shown, s.after}
	s.shown, s.after = next.of, next.pyramid
	return nil
}

// SetParams replaces the parameters of detection and correction, and starts previews that follow them.
func (s *Session) SetParams(p processing.Params) {
	was := s.settings.Params
	s.settings.Params = p
	s.publish(Other, image.Rectangle{})
	s.preview.changed(was)
}

// SetParam sets one parameter, like SetParams. The error is that of Spec.Set.
func (s *Session) SetParam(spec processing.Spec, v float64) error {
	p := s.settings.Params
	if err := spec.Set(&p, v); err != nil {
		return err
	}
	s.SetParams(p)
	return nil
}

// TakeOver switches to manual mode with the detection parameters of the last detection.
func (s *Session) TakeOver() {
	p := WithStage(s.settings.Params, s.doc.Result().Params, processing.StageDetection)
	p.Mode = processing.Manual
	s.SetParams(p)
}
