package session

import (
	"context"
	"errors"
	"image"
	"io/fs"
	"path/filepath"

	"blik/app/colour"
	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/project"
	"blik/app/thumbnail"
	"blik/app/view"
	"blik/internal/message"
	"blik/processing"
)

// opened is a picture with everything that is needed to show it.
type opened struct {
	file    *imagefile.File
	doc     *document.Document
	pyramid *view.Pyramid
	mask    *view.MaskPyramid
	screen  *colour.Screen
	// continued says whether the project of the picture was used. project is the state of its file, params are its
	// parameters; nil if it was not used.
	continued Continued
	project   project.State
	params    *processing.Params
	// small is its thumbnail.
	small image.Image
}

// Open reads a picture and makes it the document, with the work of its project if there is one; see Continued. Unsaved
// work on the previous picture is lost.
func (s *Session) Open(path string, done func(error)) { s.open(path, true, done) }

// open is Open, with or without the work of the project.
func (s *Session) open(path string, withProject bool, done func(error)) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	recent := append([]string{path}, s.settings.Recent...)
	for _, f := range s.film.frames {
		recent = append(recent, f.Path)
	}
	load := newPlaceholderLoad(s)
	work := func(ctx context.Context, report processing.Progress) (opened, error) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		report(named(path), 0)
		load.begin(ctx, path)
		o, err := s.read(ctx, path, withProject, report)
		if err == nil {
			o.small = s.keepThumbnail(ctx, o, recent)
		}
		return o, err
	}
	load.start(path)
	start(s, Opened, work, func(o opened) (image.Rectangle, error) {
		s.doc, s.original, s.before, s.mask, s.screen = o.doc, o.file, o.pyramid, o.mask, o.screen
		s.originalState, s.table = imagefile.State(path), nil
		s.compared = nil
		s.maskFile, s.maskState, s.written, s.overwritten = "", "", Written{}, 0
		s.continued, s.project, s.kept, s.small = o.continued, o.project, kept{}, o.small
		if o.params != nil {
			s.settings.Params, s.kept = *o.params, s.work()
		}
		s.settings.AddRecent(path)
		// If this fails, the settings are written again when the program ends.
		_ = s.SaveSettings()
		return image.Rectangle{}, nil
	}, func(_ opened, err error) {
		load.end()
		if errors.Is(err, fs.ErrNotExist) {
			s.settings.RemoveRecent(path)
			s.publish(Other, image.Rectangle{})
		}
		done(err)
	})
}

// read reads a picture and prepares it for display, on the job's goroutine.
func (s *Session) read(ctx context.Context, path string, withProject bool, report processing.Progress) (
	opened, error,
) {
	stage := named(path)
	file, err := s.files.Read(ctx, path)
	if err != nil {
		return opened{}, err
	}
	report(stage, 0.6)
	doc, err := document.New(path, file.Picture)
	if err != nil {
		return opened{}, err
	}
	pyramid, err := view.NewPyramid(ctx, file.Picture, view.WithProfile(file.Profile),
		view.WithOrientation(file.Orientation))
	if err != nil {
		return opened{}, err
	}
	report(stage, 0.9)
	o := opened{file: file, doc: doc, pyramid: pyramid, screen: thumbnail.Screen(file.Picture, file.Profile)}
	if withProject {
		if err := s.continueProject(ctx, path, &o); err != nil {
			return opened{}, err
		}
	}
	o.mask = view.NewMaskPyramid(o.doc.Mask())
	return o, ctx.Err()
}

// thumbnailSize is the larger side of the thumbnails of recent files and of the filmstrip, in pixels.
const thumbnailSize = 128

// keepThumbnail makes a thumbnail of a picture, stores it for recent[0], and deletes the thumbnails of files that are
// not in recent. Errors are ignored; the thumbnail will be made again.
func (s *Session) keepThumbnail(ctx context.Context, o opened, recent []string) image.Image {
	m, err := thumbnail.Make(ctx, o.file.Picture, o.screen, o.file.Orientation, thumbnailSize)
	if err != nil {
		return nil
	}
	if s.thumbs != nil {
		_ = s.thumbs.Save(ctx, recent[0], m)
		_ = s.thumbs.Prune(recent)
	}
	return m
}

// Thumbnail returns the thumbnail of a recent file; ok is false if there is none or the file has changed.
func (s *Session) Thumbnail(path string) (m image.Image, ok bool) {
	if s.thumbs == nil {
		return nil, false
	}
	m, err := s.thumbs.Load(path)
	return m, err == nil
}

// named returns the name of a file as the stage of a job.
func named(path string) message.Message {
	name := filepath.Base(path)
	return message.Of("%s", name)
}

// LoadMask replaces the mask with one from a file. Without anyPicture, a picture that hardly is a mask is
// imagefile.ErrNotMask.
func (s *Session) LoadMask(path string, anyPicture bool, done func(error)) {
	size := s.doc.Size()
	work := func(ctx context.Context, report processing.Progress) (*processing.Mask, error) {
		report(named(path), 0)
		return s.files.ReadMask(ctx, path, size.X, size.Y, anyPicture)
	}
	start(s, Other, work, func(m *processing.Mask) (image.Rectangle, error) { return s.doc.LoadMask(m) },
		func(_ *processing.Mask, err error) { done(err) })
}

// MaskFile returns the file in which the mask was last saved, empty if it was not.
func (s *Session) MaskFile() string { return s.maskFile }

// SaveMask writes the mask, with the permissions of the picture's file. Unless overwrite is set, the error is
// imagefile.ErrExists if the file exists, or imagefile.ErrForeign if the mask was last saved there and another program
// has changed it since.
func (s *Session) SaveMask(path string, overwrite bool, done func(error)) {
	s.settle()
	shot := s.doc.Snapshot()
	o := imagefile.WriteOptions{Overwrite: overwrite, Like: s.original}
	if path == s.maskFile && !overwrite {
		o.Overwrite, o.Expect = true, s.maskState
	}
	work := func(ctx context.Context, report processing.Progress) (string, error) {
		report(named(path), 0)
		err := s.files.WriteMask(ctx, path, shot.Mask(), o)
		return imagefile.State(path), err
	}
	start(s, SavedMask, work, func(state string) (image.Rectangle, error) {
		s.doc.MarkSaved(shot.Generation)
		s.maskFile, s.maskState = path, state
		return image.Rectangle{}, nil
	}, func(_ string, err error) { done(err) })
}
