package report

import (
	"html/template"
	"io"

	"blik/app/i18n"
)

const (
	// IndexName is the name of the contact sheet of a folder.
	IndexName = "index.html"
	// IndexThumbnail is the size of its pictures.
	IndexThumbnail = 320
	// IndexMark is a string in every contact sheet that is unlikely in other pages.
	IndexMark = `<meta name="generator" content="Blik `
)

// Index is a contact sheet: a thumbnail of each file of a batch, with links to what was written for it.
type Index struct {
	// Program is the version of the program.
	Program string
	Entries []IndexEntry
}

// IndexEntry is a file in an Index.
type IndexEntry struct {
	// File is the name of the picture file.
	File string
	// Text describes the result, or why the file failed.
	Text   string
	Failed bool
	// Thumbnail is a picture as a data URL, empty for a file that failed. It links to the first of Outputs.
	Thumbnail template.URL
	// Outputs are the names of files in the folder of the contact sheet.
	Outputs []string
}

// WriteIndex writes a contact sheet in the language of tr: one page that holds its thumbnails.
func WriteIndex(w io.Writer, index Index, tr *i18n.Printer) error {
	return execute(w, "index.html", index, tr, nil)
}
