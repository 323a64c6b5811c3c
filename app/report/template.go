package report

import (
	"embed"
	"encoding/json"
	"html/template"
	"io"
	"maps"
	"net/url"

	"blik/app/i18n"
	"blik/internal/message"
)

//go:embed templates
var templates embed.FS

// execute writes a page from a file in templates. In a template, t translates a text and link returns a reference to a
// file beside the page.
func execute(w io.Writer, name string, page any, tr *i18n.Printer, more template.FuncMap) error {
	funcs := template.FuncMap{
		// File names may contain characters that change the direction of text.
		"name": message.Printable,
		"t":    func(text string) string { return tr.Sprintf(message.Text(text)) },
		// "./" prevents text before a colon from being read as a URL scheme.
		"link": func(file string) string { return "./" + url.PathEscape(file) },
	}
	maps.Copy(funcs, more)
	t, err := template.New(name).Funcs(funcs).ParseFS(templates, "templates/"+name)
	if err != nil {
		return err
	}
	return t.Execute(w, page)
}

// writeJSON writes v as JSON with an indent of one.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}

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
