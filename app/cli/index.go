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

// contactSheet is the page of --index; nil without that flag.
type contactSheet struct {
	report.Index
	// like is the file whose permissions the page gets: the one with the strictest permissions.
	like *imagefile.File
}

func (b *batch) addIndex(c *cobra.Command) {
	c.Flags().BoolVar(&b.wantIndex, "index", false,
		b.say("also write index.html, a page with a thumbnail of each file"))
}

// startIndex refuses to replace a page that Blik did not write; without overwrite, it also refuses to replace one that
// Blik wrote.
func (b *batch) startIndex(overwrite bool) error {
	if !b.wantIndex {
		return nil
	}
	path := filepath.Join(b.outDir, report.IndexName)
	page, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !bytes.Contains(page, []byte(report.IndexMark)):
		return b.usage("%s exists and is not a contact sheet of Blik; not overwritten", path)
	case !overwrite:
		return b.usage("%s exists; --overwrite replaces it", path)
	}
	b.index = &contactSheet{Index: report.Index{Program: b.Version}}
	return nil
}

// add records a file that was processed, with a thumbnail that outlines the mask and the files written for it.
func (s *contactSheet) add(ctx context.Context, file *imagefile.File, mask *processing.Mask, text string,
	outputs []string,
) error {
	if s == nil {
		return nil
	}
	small, err := report.Preview(ctx, file, mask, report.IndexThumbnail)
	if err != nil {
		return err
	}
	if s.like == nil || file.Mode&^s.like.Mode == 0 {
		s.like = file
	}
	entry := report.IndexEntry{File: filepath.Base(file.Path), Text: text}
	for _, path := range outputs {
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

func (b *batch) writeIndex(ctx context.Context) error {
	if b.index == nil {
		return nil
	}
	o := imagefile.WriteOptions{Overwrite: b.overwrite, Like: b.index.like}
	return imagefile.WriteFile(ctx, filepath.Join(b.outDir, report.IndexName), o, func(out io.Writer) error {
		return report.WriteIndex(out, b.index.Index, b.tr)
	})
}
