// Package icons holds the drawings on the tool buttons. They are made only of filled paths, because the theme colours
// nothing else.
package icons

import (
	"embed"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

//go:embed *.svg
var files embed.FS

// Get returns the icon of the given name in the theme's colour, a question mark where there is none.
func Get(name string) fyne.Resource {
	data, err := files.ReadFile(name + ".svg")
	if err != nil {
		return theme.QuestionIcon()
	}
	return theme.NewThemedResource(fyne.NewStaticResource(name+".svg", data))
}
