// Package translations embeds the program's words in other languages than English, which stands in the code: one JSON
// file a language, named by its ISO 639-1 code. Package app/i18n says what the files hold.
//
// It is a package of its own because a build without a window has no use for the pictures of package assets.
package translations

import "embed"

// Files holds en.json, ru.json.
//
//go:embed *.json
var Files embed.FS
