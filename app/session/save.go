package session

import (
	"context"
	"image"
	"os"
	"path/filepath"
	"time"

	"blik/app/imagefile"
	"blik/processing"
)

// Written returns the corrected picture that was last saved.
func (s *Session) Written() Written { return s.written }

// SaveTarget returns where to save the corrected picture without asking: in the file where it was last saved, or in a
// new one beside the original. ok is false for a JPEG that was not saved before, because the user must choose another
// format.
func (s *Session) SaveTarget() (path string, o imagefile.SaveOptions, ok bool) {
	if last := s.written.Saved; last != nil {
		return last.Path, imagefile.SaveOptions{Overwrite: true, Expect: last.State, AllowLossy: last.Lossy}, true
	}
	path = imagefile.DefaultName(s.doc.Path(), s.original.SaveFormat())
	return path, imagefile.SaveOptions{}, s.original.Format != imagefile.JPEG
}

// IsOriginal reports whether path is the file that the picture was read from.
func (s *Session) IsOriginal(path string) bool {
	if filepath.Clean(path) == filepath.Clean(s.doc.Path()) {
		return true
	}
	a, errA := os.Stat(path)
	b, errB := os.Stat(s.doc.Path())
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// SavePicture writes the corrected picture and, if the settings ask for it, its report in the given language: both or
// neither. The error may be imagefile.ErrExists, imagefile.ErrForeign or imagefile.ErrLossy; with the user's consent o
// can permit these. If the original was overwritten, it is opened again with its mask.
func (s *Session) SavePicture(path, lang string, o imagefile.SaveOptions, done func(error)) {
	s.settle()
	shot := s.doc.Snapshot()
	account := accountOf(s.original, s.doc, s.version)
	if !s.settings.WriteReport {
		lang = ""
	}
	work := func(ctx context.Context, progress processing.Progress) (Written, error) {
		o.Progress = progress
		if lang != "" {
			account.Mask, account.Date = shot.Mask(), time.Now()
		}
		return s.files.Save(ctx, account, path, lang, o)
	}
	start(s, SavedPicture, work, func(w Written) (image.Rectangle, error) {
		s.doc.MarkPictureSaved(shot.Corrections.Generation())
		s.written = w
		return image.Rectangle{}, nil
	}, func(w Written, err error) {
		if err == nil && s.IsOriginal(w.Saved.Path) {
			s.reopen(shot.Mask(), done)
			return
		}
		done(err)
	})
}

// reopen opens the original again after it was overwritten: the corrections are now part of it, and saving again must
// start from the new file.
func (s *Session) reopen(mask *processing.Mask, done func(error)) {
	maskFile, maskState, written, clean := s.maskFile, s.maskState, s.written, !s.doc.Dirty()
	s.open(s.doc.Path(), false, func(err error) {
		if err != nil {
			done(err)
			return
		}
		pixels, err := s.doc.LoadMask(mask)
		if clean {
			s.doc.MarkSaved(s.doc.Generation())
		}
		s.maskFile, s.maskState, s.written, s.overwritten = maskFile, maskState, written, s.doc.Generation()
		s.publish(Other, pixels)
		done(err)
	})
}
