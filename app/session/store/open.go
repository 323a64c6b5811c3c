package store

import (
	"context"
	"errors"
	"image"
	"io/fs"
	"path/filepath"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/session"
	"blik/app/thumbnail"
	"blik/app/view"
	"blik/internal/message"
	"blik/processing"
)

// opened is a picture that was read, with the work of its project.
type opened struct {
	show session.Open
	work Work
	// small is its thumbnail.
	small image.Image
}

// Open reads a picture and makes it the document, with the work of its project if there is one; see Continued. Unsaved
// work on the previous picture is lost.
func (d *Store) Open(path string, done func(error)) { d.open(path, true, done) }

// open is Open, with or without the work of the project.
func (d *Store) open(path string, withProject bool, done func(error)) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	recent := append([]string{path}, d.s.Settings().Recent...)
	if d.o.Thumbnailed != nil {
		recent = append(recent, d.o.Thumbnailed()...)
	}
	load := newPlaceholderLoad(d)
	work := func(ctx context.Context, report processing.Progress) (opened, error) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		report(named(path), 0)
		load.begin(ctx, path)
		o, err := d.read(ctx, path, withProject, report)
		if err == nil {
			o.small = d.keepThumbnail(ctx, o, recent)
		}
		return o, err
	}
	load.start(path)
	d.s.Settle()
	session.Begin(d.s, session.Opened, work, func(o opened) (image.Rectangle, error) {
		before := d.s.Document()
		d.s.Show(o.show)
		d.disk = onDisk{
			state: imagefile.State(path), continued: o.work.Continued, project: o.work.Project, small: o.small,
		}
		d.disk.kept, d.disk.keptSaved = d.work(), pictureSaved(d.s.Document())
		d.disk.leftManual = d.useParams(o.work.Params, before)
		d.s.Settings().AddRecent(path)
		// If this fails, the settings are written again when the program ends.
		_ = d.s.SaveSettings()
		return image.Rectangle{}, nil
	}, func(_ opened, err error) {
		load.end()
		if errors.Is(err, fs.ErrNotExist) {
			d.s.Settings().RemoveRecent(path)
			d.s.Publish(session.Other, image.Rectangle{})
		}
		done(err)
	})
}

// useParams sets the parameters of the project of the open picture. Without a project, manual mode and its values end
// with the picture before, which may be nil; left is its path, empty if nothing changed.
func (d *Store) useParams(kept *processing.Params, before *document.Document) (left string) {
	now := &d.s.Settings().Params
	switch {
	case kept != nil:
		*now = *kept
	case before != nil && before.Path() != d.s.Document().Path() && now.Mode == processing.Manual:
		*now, left = now.Automatic(), before.Path()
	}
	return left
}

// LeftManual returns the path of the picture whose manual mode ended when the open picture was opened; empty for none.
func (d *Store) LeftManual() string { return d.disk.leftManual }

// read reads a picture and prepares it for display, on the job's goroutine.
func (d *Store) read(ctx context.Context, path string, withProject bool, report processing.Progress) (
	opened, error,
) {
	stage := named(path)
	file, err := d.o.Files.Read(ctx, path)
	if err != nil {
		return opened{}, err
	}
	report(stage, 0.6)
	var w Work
	if withProject {
		w, err = Continue(ctx, path, file)
	} else {
		w.Doc, err = document.New(path, file.Picture)
	}
	if err != nil {
		return opened{}, err
	}
	pyramid, err := view.NewPyramid(ctx, file.Picture, view.WithProfile(file.Profile),
		view.WithOrientation(file.Orientation))
	if err != nil {
		return opened{}, err
	}
	report(stage, 0.9)
	return opened{show: session.Open{
		Doc: w.Doc, Original: file, Before: pyramid, Mask: view.NewMaskPyramid(w.Doc.Mask()),
		Screen: thumbnail.Screen(file.Picture, file.Profile),
	}, work: w}, ctx.Err()
}

// thumbnailSize is the larger side of the thumbnails of recent files and of the filmstrip, in pixels.
const thumbnailSize = 128

// MakeThumbnail returns the thumbnail of a picture.
func MakeThumbnail(ctx context.Context, file *imagefile.File) (*image.NRGBA, error) {
	screen := thumbnail.Screen(file.Picture, file.Profile)
	return thumbnail.Make(ctx, file.Picture, screen, file.Orientation, thumbnailSize)
}

// keepThumbnail makes a thumbnail of a picture, stores it for recent[0], and deletes the thumbnails of files that are
// not in recent. Errors are ignored; the thumbnail will be made again.
func (d *Store) keepThumbnail(ctx context.Context, o opened, recent []string) image.Image {
	m, err := thumbnail.Make(ctx, o.show.Original.Picture, o.show.Screen, o.show.Original.Orientation, thumbnailSize)
	if err != nil {
		return nil
	}
	if d.o.Thumbnails != nil {
		_ = d.o.Thumbnails.Save(ctx, recent[0], m)
		_ = d.o.Thumbnails.Prune(recent)
	}
	return m
}

// Thumbnail returns the thumbnail of a recent file; ok is false if there is none or the file has changed.
func (d *Store) Thumbnail(path string) (m image.Image, ok bool) {
	if d.o.Thumbnails == nil {
		return nil, false
	}
	m, err := d.o.Thumbnails.Load(path)
	return m, err == nil
}

// named returns the name of a file as the stage of a job.
func named(path string) message.Message {
	name := filepath.Base(path)
	return message.Of("%s", name)
}
