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
	"blik/processing/learn"
)

// Device is what a session computes on; *device.Switch is one.
type Device interface {
	Runner
	Choose(name string, opened func())
	State() device.State
	Close(ctx context.Context) error
}

// Options are what a session is made from.
type Options struct {
	Files  Files
	Device Device
	// Engine computes; nil is On(Device).
	Engine Engine
	// Devices lists the devices of the machine; it may take its time.
	Devices func() ([]device.Device, error)
	// Settings are changed in place; SettingsPath is their file, empty to keep them nowhere.
	Settings     *settings.Settings
	SettingsPath string
	// Journal is the folder in which unsaved work is written down, empty to do without.
	Journal string
	// Thumbnails keeps small pictures of the recent files; nil keeps none.
	Thumbnails *thumbnail.Cache
	// Version is that of the program, for reports.
	Version string
	// Dispatch runs functions on the goroutine that the session belongs to, in their order.
	Dispatch func(func())
	// Ahead is what is read of the picture that will be opened first; it may be nil.
	Ahead *Ahead
	// Panicked is called for a panic in a job, on the job's goroutine.
	Panicked func(*job.PanicError)
}

// Session is one document with all that is done to it. It belongs to the goroutine of Options.Dispatch, on which the
// listeners and all callbacks run as well.
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
	// looking computes layers, counting histograms, beside the job.
	looking, counting latest

	// Settle ends what the user is drawing, so that it is part of the document before anything else changes or reads
	// it. It may be nil.
	Settle func()
	// Held, which may be nil, reports whether what is queued has to wait although no job runs.
	Held func() bool
	// Visible returns the part of the picture that is in sight, which another detection shows first. It may be nil.
	Visible func() image.Rectangle
	// Previewed, if not nil, is called after a detection or a correction that followed a change of the parameters.
	Previewed func(Outcome, error)

	doc *document.Document
	// original is the file that the picture was read from.
	original *imagefile.File
	// before shows the original, after what corrections made of it, mask the mask.
	before, after *view.Pyramid
	mask          *view.MaskPyramid
	// screen converts its pixels for small pictures.
	screen *colour.Screen
	shown  *document.Corrections
	// left is what was shown before that, for a step back.
	left pictured
	// touched is what the spot wand marked last.
	touched touched
	// compared is what the mask is compared with, nil for nothing.
	compared *compared
	// maskFile is where the mask was saved last, and maskState what the file was then (imagefile.State); written is
	// where the corrected picture was saved.
	maskFile, maskState string
	written             Written
	// overwritten is the generation of the mask whose findings are corrected in the original itself, which was
	// overwritten; 0 if it was not.
	overwritten uint64

	// lessons are the decisions about pictures that were learned from, by their paths.
	lessons map[string][]learn.Spot
	// memory keeps what was measured of the picture.
	memory *processing.Memory
	// detectedWith are the parameters of the last detection as they were set.
	detectedWith processing.Params
	// previewing says that the job follows a change of the parameters, wanted that another detection has to follow, and
	// corrects that another correction of the selected finding has.
	previewing, wanted, corrects bool
	// whole says that the job searches the whole picture after a part of it was shown, keepsPart that the part stays.
	whole, keepsPart bool
	// partShare is the largest share of a picture, with its surroundings, that is searched before the whole.
	partShare    float64
	afterPreview func()
	// placeholder shows the picture that is being read; nil for none.
	placeholder *view.Pyramid
	// placeholderWait is the longest time that reading waits for it; placeholderShown ends the wait.
	placeholderWait  time.Duration
	placeholderShown func()
	// ahead is what was read of the first picture before the session was there; nil for nothing.
	ahead *Ahead
	// continued says what became of the project of the open picture, kept what the one on the disk holds.
	continued Continued
	project   project.State
	kept      kept
	// film is the filmstrip, small a small picture of the open one.
	film  film
	small image.Image
	// listing says which findings are listed.
	listing Listing
	listed  listed

	last      state
	listeners []func(Change)

	// journal keeps what is not saved, in journalDir; nil keeps nothing. originalState is that of the original's file
	// when it was read; forget says that the user has given up what is not saved.
	journal       *journal
	journalDir    string
	originalState string
	forget        bool
}

// New returns a session without a document.
func New(o Options) *Session {
	s := &Session{
		files: o.Files, engine: o.Engine, device: o.Device, list: o.Devices, settings: o.Settings, path: o.SettingsPath,
		thumbs: o.Thumbnails, partShare: usualPartShare, ahead: o.Ahead, placeholderWait: defaultPlaceholderWait,
		version: o.Version, dispatch: o.Dispatch, jobs: job.NewRunner(o.Dispatch, o.Panicked),
	}
	if s.engine == nil {
		s.engine = On(o.Device)
	}
	s.looking.jobs, s.counting.jobs = job.NewRunner(o.Dispatch, o.Panicked), job.NewRunner(o.Dispatch, o.Panicked)
	if o.Journal != "" {
		s.journalDir, s.journal = o.Journal, newJournal(atomicfile.Disk{}, o.Journal, s.notKept)
	}
	s.last = s.now()
	return s
}

// Document returns the open document, nil before the first. Only the session changes it.
func (s *Session) Document() *document.Document { return s.doc }

// Original returns the file that the picture was read from.
func (s *Session) Original() *imagefile.File { return s.original }

// Pictures returns what shows the original and the corrected picture, the same where nothing is corrected.
func (s *Session) Pictures() (before, after *view.Pyramid) { return s.before, s.after }

// MaskView returns what shows the mask.
func (s *Session) MaskView() *view.MaskPyramid { return s.mask }

// Settings returns the settings. Params and Recent are changed only by the session.
func (s *Session) Settings() *settings.Settings { return s.settings }

// SaveSettings writes the settings, if they are kept anywhere.
func (s *Session) SaveSettings() error {
	if s.path == "" {
		return nil
	}
	return s.settings.Save(s.path)
}

// Corrected reports whether anything in the picture is corrected.
func (s *Session) Corrected() bool { return s.doc != nil && s.doc.Corrections() != nil }

// Unsaved reports whether the mask and the corrected picture differ from what is on disk, and the project does not hold
// them either.
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

// Progress returns how far the job is.
func (s *Session) Progress() job.Update { return s.progress }

// Cancel cancels the job, if one runs.
func (s *Session) Cancel() { s.jobs.Cancel() }

// Close cancels the job, releases the device, ends the journal, and waits for them or for ctx.
func (s *Session) Close(ctx context.Context) error {
	s.queue.waiting = nil
	return errors.Join(s.jobs.Close(ctx), s.looking.jobs.Close(ctx), s.counting.jobs.Close(ctx), s.device.Close(ctx),
		s.closeJournal(ctx))
}

// Start runs work as the session's one job. done gets its result, or its error: context.Canceled after Cancel,
// job.ErrBusy at once if another job runs.
func Start[T any](s *Session, work job.Work[T], done func(T, error)) {
	start(s, Other, work, nil, done)
}

// start is Start for work whose result changes the session: apply takes it before listeners and done are called. What
// that takes of the session's goroutine comes in several pieces.
func start[T any](s *Session, cause Cause, work job.Work[T], apply func(T) (image.Rectangle, error), done func(T,
	error)) {
	s.settle()
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
		// Another document and what shows it change together.
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

// settle ends what the user is drawing.
func (s *Session) settle() {
	if s.Settle != nil {
		s.Settle()
	}
	if s.doc != nil && !s.keepsPart {
		s.doc.DropPart()
	}
}

// pictured is what shows the picture with corrections.
type pictured struct {
	of      *document.Corrections
	pyramid *view.Pyramid
}

// drawing is what shows the picture with other corrections, in the making.
type drawing struct {
	from    *view.Pyramid
	patches []processing.Patch
	made    pictured
	err     error
}

// draw begins to show what is corrected now; nil where nothing is to be made for that.
func (s *Session) draw() *drawing {
	now := s.doc.Corrections()
	if now == nil || now == s.shown || now == s.left.of {
		return nil
	}
	return &drawing{from: s.after, patches: s.doc.PatchesSince(s.shown), made: pictured{of: now}}
}

// make does the work, on any goroutine. It costs what has changed.
func (d *drawing) make() {
	if d == nil {
		return
	}
	if d.made.pyramid, d.err = d.from.With(context.Background(), d.patches); d.err != nil {
		d.err = fmt.Errorf("show the corrections: %w", d.err)
	}
}

// updatePictures shows what is corrected now. drawn may be what was made for that, beside other work; it counts for
// nothing where corrections have changed again.
func (s *Session) updatePictures(reopened bool, drawn *drawing) error {
	if reopened {
		s.after, s.shown, s.left = s.before, nil, pictured{}
	}
	now := s.doc.Corrections()
	if now == s.shown {
		return nil
	}
	next := s.left
	switch {
	case now == nil:
		next = pictured{nil, s.before}
	case now != s.left.of:
		if drawn == nil || drawn.made.of != now {
			drawn = s.draw()
			drawn.make()
		}
		if drawn.err != nil {
			return drawn.err
		}
		next = drawn.made
	}
	s.left = pictured{s.shown, s.after}
	s.shown, s.after = next.of, next.pyramid
	return nil
}

// SetParams replaces the parameters of detection and correction.
func (s *Session) SetParams(p processing.Params) {
	was := s.settings.Params
	s.settings.Params = p
	s.publish(Other, image.Rectangle{})
	s.preview()
	if correctsOtherwise(was, p) {
		s.previewCorrection()
	}
}

// SetParam sets one parameter.
func (s *Session) SetParam(spec processing.Spec, v float64) error {
	p := s.settings.Params
	if err := spec.Set(&p, v); err != nil {
		return err
	}
	s.SetParams(p)
	return nil
}

// TakeOver makes the detection parameters of the last detection those of manual mode.
func (s *Session) TakeOver() {
	p := WithStage(s.settings.Params, s.doc.Result().Params, processing.StageDetection)
	p.Mode = processing.Manual
	s.SetParams(p)
}
