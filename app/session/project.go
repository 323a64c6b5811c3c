package session

import (
	"context"
	"errors"
	"image"
	"io/fs"
	"time"

	"blik/app/document"
	"blik/app/project"
	"blik/internal/message"
	"blik/processing"
)

// Continued says whether the project beside the open picture was used.
type Continued struct {
	// Date is when the project was saved; zero if there is none or it was not used.
	Date time.Time
	// Err is why it was not used; nil if it was or there is none.
	Err error
	// Remark says what of the project no longer exists; empty for nothing.
	Remark message.Message
}

// Continued says whether the project of the open picture was used.
func (s *Session) Continued() Continued { return s.continued }

// kept identifies the work that the project on disk holds.
type kept struct {
	doc         *document.Document
	mask        uint64
	corrections *document.Corrections
	result      *processing.Result
	region      *processing.Region
	decisions   *document.Decisions
}

// work identifies the present work on the open picture.
func (s *Session) work() kept {
	d := s.doc
	return kept{d, d.Generation(), d.Corrections(), d.Result(), d.Region(), d.Decisions()}
}

// safe reports whether the project holds all work on the open picture.
func (s *Session) safe() bool { return s.doc != nil && s.kept == s.work() }

// continueProject restores the work of the project beside a picture in its document, which no other goroutine uses yet.
// A project that does not fit is not an error but sets o.continued.Err.
func (s *Session) continueProject(ctx context.Context, path string, o *opened) error {
	state := project.Stat(path)
	p, err := project.Read(ctx, path, Limits())
	if errors.Is(err, fs.ErrNotExist) {
		return ctx.Err()
	}
	if err == nil && p.Checksum != project.Checksum(o.file.Picture) {
		err = message.Errorf("the picture has changed since its project was saved, so the project was not used")
	}
	if err == nil {
		_, err = o.doc.Restore(p.Work)
	}
	if err != nil {
		o.continued.Err = err
		// Restore may have changed the document before it failed.
		o.doc, err = document.New(path, o.file.Picture)
		return errors.Join(err, ctx.Err())
	}
	if p.Saved {
		o.doc.MarkPictureSaved(o.doc.Corrections().Generation())
	}
	o.continued.Date, o.continued.Remark, o.params, o.project = p.Date, p.Remark, &p.Params, state
	return ctx.Err()
}

// SaveProject writes the work on the open picture to a project beside it; this work then counts as saved. It replaces
// the project that the work was read from or last saved to. Unless overwrite is set, the error is imagefile.ErrExists
// if there is another project, even one that could not be used, and imagefile.ErrForeign if the project has changed
// since.
func (s *Session) SaveProject(overwrite bool, done func(error)) {
	s.settle()
	shot, work := s.doc.Snapshot(), s.work()
	p := &project.Project{
		Date: time.Now().Round(time.Second), Params: s.settings.Params,
		Saved: s.doc.Corrections() != nil && !s.doc.PictureDirty(),
	}
	o := project.Options{Overwrite: overwrite, Expect: s.project, Like: s.original}
	start(s, Other, func(ctx context.Context, report processing.Progress) (project.State, error) {
		path, _ := project.Paths(shot.Path)
		report(named(path), 0)
		p.Work, p.Checksum = shot.Work(), project.Checksum(shot.Picture)
		err := project.Write(ctx, shot.Path, p, o)
		return project.Stat(shot.Path), err
	}, func(state project.State) (image.Rectangle, error) {
		s.kept, s.project, s.continued = work, state, Continued{Date: p.Date}
		return image.Rectangle{}, nil
	}, func(_ project.State, err error) { done(err) })
}
