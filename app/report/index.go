package report

import (
	"html/template"
	"io"
	"net/url"

	"blik/app/i18n"
	"blik/internal/message"
)

const (
	// IndexName is the name of the contact sheet of a folder.
	IndexName = "index.html"
	// IndexThumbnail is the size of its pictures.
	IndexThumbnail = 320
	// IndexMark is part of every contact sheet and hardly of any other page.
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
	// Text says what was found or done, or, of a file that failed, why.
	Text   string
	Failed bool
	// Thumbnail is a picture as a data URL, empty for a file that failed. It links to the first of Outputs.
	Thumbnail template.URL
	// Outputs are the names of files in the folder of the contact sheet.
	Outputs []string
}

// WriteIndex writes a contact sheet in the language of tr: one page that holds its thumbnails.
func WriteIndex(w io.Writer, index Index, tr *i18n.Printer) error {
	t, err := template.New("index").Funcs(template.FuncMap{
		"t": func(text string) string { return tr.Sprintf(message.Text(text)) },
		// "./" keeps what comes before a colon from being a scheme.
		"link": func(name string) string { return "./" + url.PathEscape(name) },
	}).Parse(indexTemplate)
	if err != nil {
		return err
	}
	return t.Execute(w, index)
}

const indexTemplate = `<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
` + IndexMark + `{{.Program}}">
<title>{{t "Contact sheet"}} – Blik</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; color: #222; background: #fff; margin: 2rem; }
h1 { font-size: 1.5rem; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 1.5rem; }
figure { margin: 0; break-inside: avoid; }
figure > a { display: flex; height: 20rem; align-items: center; justify-content: center; background: #eee; }
figcaption { font-size: .85rem; overflow-wrap: anywhere; }
figcaption b { display: block; font-size: 1rem; margin-top: .3rem; }
.failed { align-self: start; border-left: .35rem solid #b3261e; padding: .5rem 1rem; background: #fdf1f0; }
</style>
</head>
<body>
<h1>{{t "Contact sheet; files:"}} {{len .Entries}}</h1>
<main>
{{range .Entries}}<figure{{if .Failed}} class="failed"{{end}}>
{{- if .Thumbnail}}<a href="{{link (index .Outputs 0)}}"><img src="{{.Thumbnail}}" alt="{{.File}}"></a>{{end}}
<figcaption><b>{{.File}}</b>{{.Text}}{{range .Outputs}}<br><a href="{{link .}}">{{.}}</a>{{end}}</figcaption></figure>
{{end}}</main>
</body>
</html>
`
