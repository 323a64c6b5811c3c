// Package icons holds the icons of the tool buttons. They consist of filled paths only, because the theme colours
// nothing else.
package icons

import (
	"embed"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

//go:embed *.svg
var files embed.FS

// Get returns the icon of the given name in the theme's colour, or a question mark if it does not exist.
func Get(name string) fyne.Resource {
	data, err := files.ReadFile(name + ".svg")
	if err != nil {
		return theme.QuestionIcon()
	}
	return theme.NewThemedResource(fyne.NewStaticResource(name+".svg", data))
}
