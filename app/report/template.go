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
