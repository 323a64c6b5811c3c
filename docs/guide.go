// Package docs holds the pages that the program shows itself.
package docs

import "embed"

// Guide holds the guide to the window: guide.md in English, guide.ru.md in Russian, and the pictures of its tour.
//
//go:embed guide.md guide.ru.md guide/*.jpg
var Guide embed.FS
