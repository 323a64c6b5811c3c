package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"blik/app/imagefile"
	"blik/app/report"
	"blik/app/thumbnail"
	"blik/app/work"
)

// contactSheet is the page of --index; nil without that flag.
type contactSheet struct {
	report.Index
	// like is the file whose permissions the page gets: the one with the strictest permissions.
	like *imagefile.File
}

// startIndex refuses to replace a page that Blik did not write; without overwrite, it also refuses to replace one that
// Blik wrote.
func (s *series) startIndex() error {
	if !s.wantIndex {
		return nil
	}
	path := filepath.Join(s.outDir, report.IndexName)
	page, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !bytes.Contains(page, []byte(report.IndexMark)):
		return s.usage("%s exists and is not a contact sheet of Blik; not overwritten", path)
	case !s.Overwrite:
		return s.usage("%s exists; --overwrite replaces it", path)
	}
	s.index = &contactSheet{Index: report.Index{Program: s.Version}}
	return nil
}

// add records a file that was processed, with a thumbnail that outlines the mask and the files written for it.
func (s *contactSheet) add(ctx context.Context, o work.Outcome) error {
	if s == nil {
		return nil
	}
	small, err := report.Preview(ctx, o.File, o.Mask, report.IndexThumbnail)
	if err != nil {
		return err
	}
	if s.like == nil || o.File.Mode&^s.like.Mode == 0 {
		s.like = o.File
	}
	entry := report.IndexEntry{File: filepath.Base(o.File.Path), Text: o.Summary}
	for _, path := range o.Shown {
		entry.Outputs = append(entry.Outputs, filepath.Base(path))
	}
	entry.Thumbnail, err = thumbnail.JPEGURL(small)
	s.Entries = append(s.Entries, entry)
	return err
}

// addFailed records a file that failed, and why.
func (s *contactSheet) addFailed(file, why string) {
	if s != nil {
		s.Entries = append(s.Entries, report.IndexEntry{File: filepath.Base(file), Text: why, Failed: true})
	}
}

func (s *series) writeIndex(ctx context.Context) error {
	if s.index == nil {
		return nil
	}
	o := imagefile.WriteOptions{Overwrite: s.Overwrite, Like: s.index.like}
	return imagefile.WriteFile(ctx, filepath.Join(s.outDir, report.IndexName), o, func(out io.Writer) error {
		return report.WriteIndex(out, s.index.Index, s.tr)
	})
}
