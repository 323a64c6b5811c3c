package store

import (
	"context"
	"errors"
	"image"
	"io/fs"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/project"
	"blik/app/session"
	"blik/internal/message"
	"blik/processing"
)

// Continued says whether the project beside the open picture was used.
type Continued struct {
	// Date is when the project was saved; zero if there is none or it was not used.
	Date time.Time
	// Remark says what of the project no longer exists; empty for nothing.
	Remark message.Message
	// Err is why it was not used; nil if it was or there is none.
	Err error
}

// Continued says whether the project of the open picture was used.
func (d *Store) Continued() Continued { return d.disk.continued }

// work identifies the present work on the open picture.
func (d *Store) work() session.Revision { return session.RevisionOf(d.s.Document()) }

// safe reports whether the project holds all work on the open picture, or there was none since it was opened.
func (d *Store) safe() bool { return d.s.Document() != nil && d.disk.kept == d.work() }

// Stored reports whether, besides that, the project says whether the corrected picture is saved.
func (d *Store) Stored() bool { return d.safe() && d.disk.keptSaved == pictureSaved(d.s.Document()) }

// pictureSaved reports whether there are corrections, all in the saved picture.
func pictureSaved(doc *document.Document) bool {
	return doc.Corrections() != nil && !doc.PictureDirty()
}

// Work is a document with the work of the project beside its picture.
type Work struct {
	Doc *document.Document
	// Continued says whether the project of the picture was used. Project is the state of its file, Params are its
	// parameters; nil if it was not used.
	Continued Continued
	Project   project.Fingerprint
	Params    *processing.Params
}

// Continue makes the document of a picture and restores the work of its project. A project that does not fit is not an
// error but sets Continued.Err.
func Continue(ctx context.Context, path string, file *imagefile.File) (w Work, err error) {
	if w.Doc, err = document.New(path, file.Picture); err != nil {
		return w, err
	}
	state := project.Stat(path)
	p, err := project.Read(ctx, path, session.Limits())
	if errors.Is(err, fs.ErrNotExist) {
		return w, ctx.Err()
	}
	if err == nil {
		err = belongs(p, file.Picture)
	}
	if err == nil {
		_, err = w.Doc.Restore(p.Work)
	}
	if err != nil {
		w.Continued.Err = err
		// Restore may have changed the document before it failed.
		w.Doc, err = document.New(path, file.Picture)
		return w, errors.Join(err, ctx.Err())
	}
	if p.Saved {
		w.Doc.MarkPictureSaved(w.Doc.Corrections().Generation())
	}
	w.Continued.Date, w.Continued.Remark, w.Params, w.Project = p.Date, p.Remark, &p.Params, state
	return w, ctx.Err()
}

// belongs returns an error unless a project is that of a picture.
func belongs(p *project.Project, pic *processing.Picture) error {
	switch of := p.Work.Mask; {
	case of.Width != pic.Width || of.Height != pic.Height:
		return message.Errorf("the project beside the picture is that of another one, of %d × %d pixels instead of "+
			"%d × %d, so the project was not used", of.Width, of.Height, pic.Width, pic.Height)
	case p.Checksum != project.Checksum(pic):
		return message.Errorf("the picture has changed since its project was saved, so the project was not used")
	}
	return nil
}

// SaveProject writes the work on the open picture to a project beside it; this work then counts as saved. It replaces
// the project that the work was read from or last saved to. Unless overwrite is set, the error is imagefile.ErrExists
// if there is another project, even one that could not be used, and imagefile.ErrForeign if the project has changed
// since.
func (d *Store) SaveProject(overwrite bool, done func(error)) {
	d.s.Settle()
	shot, work := d.s.Document().Snapshot(), d.work()
	p := &project.Project{
		Date: time.Now().Round(time.Second), Params: d.s.Settings().Params, Saved: pictureSaved(d.s.Document()),
	}
	o := project.Options{Overwrite: overwrite, Expect: d.disk.project, Like: d.s.Shown().Original}
	write := func(ctx context.Context, report processing.Progress) (project.Fingerprint, error) {
		path, _ := project.Paths(shot.Path)
		report(named(path), 0)
		p.Work, p.Checksum = shot.Work(), project.Checksum(shot.Picture)
		err := project.Write(ctx, shot.Path, p, o)
		return project.Stat(shot.Path), err
	}
	session.Begin(d.s, session.Other, write, func(state project.Fingerprint) (image.Rectangle, error) {
		d.disk.kept, d.disk.keptSaved, d.disk.project, d.disk.continued = work, p.Saved, state, Continued{Date: p.Date}
		return image.Rectangle{}, nil
	}, func(_ project.Fingerprint, err error) { done(err) })
}
