package store

import (
	"context"
	"path/filepath"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/app/work"
	"blik/processing"
)

// Files reads and writes the files of a store.
type Files interface {
	Read(ctx context.Context, path string) (*imagefile.File, error)
	// ReadPreview reads a reduced picture, with at most side pixels in a row or column, in much less time than Read. It
	// returns nil if that is not possible.
	ReadPreview(ctx context.Context, path string, side int) (*imagefile.Preview, error)
	// ReadMask reads a mask of w × h pixels. Without anyPicture, a picture that hardly is a mask is
	// imagefile.ErrNotMask.
	ReadMask(ctx context.Context, path string, w, h int, anyPicture bool) (*processing.Mask, error)
	WriteMask(ctx context.Context, path string, m *processing.Mask, o imagefile.WriteOptions) error
	// Save writes the corrected picture that account describes and, unless lang is empty, its report in that language.
	// It writes both or neither; see imagefile.Save.
	Save(ctx context.Context, account report.Correction, path, lang string, o imagefile.SaveOptions) (
		work.Written, error)
}

// Disk returns Files on the disks of this machine. Reading fails for pictures beyond the limits.
func Disk(limits imagefile.Limits) Files { return disk{limits} }

type disk struct{ limits imagefile.Limits }

func (d disk) Read(ctx context.Context, path string) (*imagefile.File, error) {
	return imagefile.Read(ctx, path, d.limits)
}

func (d disk) ReadPreview(ctx context.Context, path string, side int) (*imagefile.Preview, error) {
	return imagefile.ReadPreview(ctx, path, d.limits, side)
}

func (d disk) ReadMask(ctx context.Context, path string, w, h int, anyPicture bool) (*processing.Mask, error) {
	if anyPicture {
		return imagefile.ReadMask(ctx, path, w, h, d.limits)
	}
	return imagefile.ReadPlainMask(ctx, path, w, h, d.limits)
}

func (disk) WriteMask(ctx context.Context, path string, m *processing.Mask, o imagefile.WriteOptions) error {
	imagefile.Recover(filepath.Dir(path))
	return imagefile.WriteMask(ctx, path, o, m)
}

func (disk) Save(ctx context.Context, account report.Correction, path, lang string, o imagefile.SaveOptions) (
	work.Written, error,
) {
	imagefile.Recover(filepath.Dir(path))
	t := work.Target{Path: path, Options: o}
	if lang != "" {
		t.Report = i18n.For(lang)
	}
	return work.Save(ctx, account, t)
}
