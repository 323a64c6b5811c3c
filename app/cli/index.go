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
	"blik/processing"

	"github.com/spf13/cobra"
)

// contactSheet is the page that --index asks for; a nil one is not wanted.
type contactSheet struct{ report.Index }

func (w *work) addIndex(c *cobra.Command) {
	c.Flags().BoolVar(&w.wantIndex, "index", false, w.say("also write index.html, a page with a thumbnail of each file"))
}

// startIndex refuses to replace a page of somebody else, and one of its own unless it may.
func (w *work) startIndex(overwrite bool) error {
	if !w.wantIndex {
		return nil
	}
	path := filepath.Join(w.out, report.IndexName)
	page, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !bytes.Contains(page, []byte(report.IndexMark)):
		return w.usage("%s exists and is not a contact sheet of Blik; not overwritten", path)
	case !overwrite:
		return w.usage("%s exists; --overwrite replaces it", path)
	}
	w.index = &contactSheet{report.Index{Program: w.Version}}
	return nil
}

// add notes what became of a file, with a thumbnail on which the mask is outlined and the files written for it.
func (s *contactSheet) add(ctx context.Context, file *imagefile.File, mask *processing.Mask, text string, outputs []string) error {
	if s == nil {
		return nil
	}
	small, err := report.Preview(ctx, file, mask, report.IndexThumbnail)
	if err != nil {
		return err
	}
	entry := report.IndexEntry{File: filepath.Base(file.Path), Text: text}
	for _, path := range outputs {
		entry.Outputs = append(entry.Outputs, filepath.Base(path))
	}
	entry.Thumbnail, err = thumbnail.JPEGURL(small)
	s.Entries = append(s.Entries, entry)
	return err
}

// addFailed notes a file that could not be done, and why.
func (s *contactSheet) addFailed(file, why string) {
	if s != nil {
		s.Entries = append(s.Entries, report.IndexEntry{File: filepath.Base(file), Text: why, Failed: true})
	}
}

func (w *work) writeIndex(ctx context.Context) error {
	if w.index == nil {
		return nil
	}
	return imagefile.WriteFile(ctx, filepath.Join(w.out, report.IndexName), func(out io.Writer) error {
		return report.WriteIndex(out, w.index.Index, w.tr)
	})
}
