// Package docs holds the pages that the program shows itself.
package docs

import "embed"

// Guide holds the guide to the window: guide.md in English, guide.ru.md in Russian.
//
//go:embed guide.md guide.ru.md
var Guide embed.FS
