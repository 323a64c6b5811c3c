package store

import (
	"context"
	"image"
	"path/filepath"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/app/session"
	"blik/app/work"
	"blik/processing"
	"blik/processing/detect"
)

// Written returns the corrected picture that was last saved.
func (d *Store) Written() work.Written { return d.disk.written }

// SaveTarget returns where to save the corrected picture without asking: in the file where it was last saved, or in a
// new one with ResultName. ok is false for a JPEG that was not saved before, because the user must choose another
// format.
func (d *Store) SaveTarget() (path string, o imagefile.SaveOptions, ok bool) {
	if last := d.disk.written.Saved; last != nil {
		return last.Path, imagefile.SaveOptions{Overwrite: true, Expect: last.State, AllowLossy: last.Lossy}, true
	}
	path = d.ResultName(d.s.Shown().Original.SaveFormat())
	return path, imagefile.SaveOptions{}, d.s.Shown().Original.Format != imagefile.JPEG
}

// ResultName returns the name of the corrected picture in a format: in the folder that the settings name, or beside the
// original.
func (d *Store) ResultName(format imagefile.Format) string {
	return imagefile.ResultName(d.s.Document().Path(), d.s.Settings().OutputFolder, format)
}

// IsOriginal reports whether path is the file that the picture was read from.
func (d *Store) IsOriginal(path string) bool {
	original := d.s.Document().Path()
	return filepath.Clean(path) == filepath.Clean(original) || work.Existing(original).Contains(path)
}

// SavePicture writes the corrected picture and, if the settings ask for it, its report in the given language: both or
// neither. The error may be imagefile.ErrExists, imagefile.ErrForeign or imagefile.ErrLossy; with the user's consent o
// can permit these. If the original was overwritten, it is opened again with its mask.
func (d *Store) SavePicture(path, lang string, o imagefile.SaveOptions, done func(error)) {
	d.s.Settle()
	shot := d.s.Document().Snapshot()
	account := AccountOf(d.s.Shown().Original, d.s.Document(), d.o.Version)
	if !d.s.Settings().WriteReport {
		lang = ""
	}
	do := func(ctx context.Context, progress processing.Progress) (work.Written, error) {
		o.Progress = progress
		if lang != "" {
			account.Mask, account.Date = shot.Mask(), time.Now()
		}
		return d.o.Files.Save(ctx, account, path, lang, o)
	}
	session.Begin(d.s, session.SavedPicture, do, func(w work.Written) (image.Rectangle, error) {
		d.s.Document().MarkPictureSaved(shot.Corrections.Generation())
		d.disk.written = w
		return image.Rectangle{}, nil
	}, func(w work.Written, err error) {
		if err == nil && d.IsOriginal(w.Saved.Path) {
			d.reopen(done)
			return
		}
		done(err)
	})
}

// reopen opens the original again after it was overwritten: the corrections are now part of it, and saving again must
// start from the new file.
func (d *Store) reopen(done func(error)) {
	d.s.Settle()
	mask := d.s.Document().Snapshot().Mask()
	maskFile, maskState, written, clean := d.disk.maskFile, d.disk.maskState, d.disk.written, !d.s.Document().Dirty()
	d.open(d.s.Document().Path(), false, func(err error) {
		if err != nil {
			done(err)
			return
		}
		pixels, err := d.s.Document().LoadMask(mask)
		if clean {
			d.s.Document().MarkSaved(d.s.Document().Generation())
		}
		d.disk.maskFile, d.disk.maskState, d.disk.written = maskFile, maskState, written
		d.disk.overwritten = d.s.Document().Generation()
		d.s.Publish(session.Other, pixels)
		done(err)
	})
}

// AccountOf describes the corrections of a document for the report.
func AccountOf(file *imagefile.File, doc *document.Document, version string) report.Correction {
	var found *detect.Found
	if r := doc.Result(); r != nil {
		all := *r
		all.Findings = doc.Findings()
		found = &all
	}
	done := doc.Corrections()
	account := report.NewCorrection(file, version, found, done.Patches(), done.Origins())
	account.Numbers = doc.CorrectedNumbers()
	return account
}
