// Package translations embeds the window's words, one JSON file a language, named by its ISO 639-1 code.
//
// A value is a text with template fields ({{.Name}}), or an object of CLDR plural forms. The files also carry the
// words of Fyne's own dialogs, so that they follow the language chosen in the program and not the system's.
package translations

import "embed"

// Files holds en.json, ru.json.
//
//go:embed *.json
var Files embed.FS
