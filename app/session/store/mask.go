package store

import (
	"context"
	"image"

	"blik/app/imagefile"
	"blik/app/session"
	"blik/processing"
)

// LoadMask replaces the mask with one from a file. Without anyPicture, a picture that hardly is a mask is
// imagefile.ErrNotMask.
func (d *Store) LoadMask(path string, anyPicture bool, done func(error)) {
	size := d.s.Document().Size()
	work := func(ctx context.Context, report processing.Progress) (*processing.Mask, error) {
		report(named(path), 0)
		return d.o.Files.ReadMask(ctx, path, size.X, size.Y, anyPicture)
	}
	d.s.Settle()
	session.Begin(d.s, session.Other, work, func(m *processing.Mask) (image.Rectangle, error) {
		return d.s.Document().LoadMask(m)
	}, func(_ *processing.Mask, err error) { done(err) })
}

// MaskFile returns the file in which the mask was last saved, empty if it was not.
func (d *Store) MaskFile() string { return d.disk.maskFile }

// SaveMask writes the mask, with the permissions of the picture's file. Unless overwrite is set, the error is
// imagefile.ErrExists if the file exists, or imagefile.ErrForeign if the mask was last saved there and another program
// has changed it since.
func (d *Store) SaveMask(path string, overwrite bool, done func(error)) {
	d.s.Settle()
	shot := d.s.Document().Snapshot()
	o := imagefile.WriteOptions{Overwrite: overwrite, Like: d.s.Shown().Original}
	if path == d.disk.maskFile && !overwrite {
		o.Overwrite, o.Expect = true, d.disk.maskState
	}
	work := func(ctx context.Context, report processing.Progress) (string, error) {
		report(named(path), 0)
		err := d.o.Files.WriteMask(ctx, path, shot.Mask(), o)
		return imagefile.State(path), err
	}
	session.Begin(d.s, session.SavedMask, work, func(state string) (image.Rectangle, error) {
		d.s.Document().MarkSaved(shot.Generation)
		d.disk.maskFile, d.disk.maskState = path, state
		return image.Rectangle{}, nil
	}, func(_ string, err error) { done(err) })
}
