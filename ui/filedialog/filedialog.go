// Package filedialog shows file dialogs: the system's own if they are built in and work, otherwise the toolkit's.
package filedialog

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrBusy is the error if another file dialog is still open.
var ErrBusy = errors.New("another file dialog is still open")

// Request describes a file dialog.
type Request struct {
	Title string
	// Folder is the initial folder; empty leaves the choice to the dialog.
	Folder string
	// File is the name offered for saving.
	File string
	// Name describes the files with the given Extensions, lower case without a dot.
	Name       string
	Extensions []string
}

// Done receives the chosen path, or an empty one after a cancel, on the toolkit's goroutine.
type Done func(path string, err error)

// Dialogs ask for files. They return at once. A path to save at has one of the request's extensions, and the user has
// agreed to overwrite an existing file; the file itself is not touched.
type Dialogs interface {
	Open(r Request, done Done)
	Save(r Request, done Done)
	// Choose asks for a folder; of the request it takes the title and the initial folder.
	Choose(r Request, done Done)
}

// Confirm asks whether the file at path may be replaced, and if so calls yes.
type Confirm func(path string, yes func())

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// withExtension adds the request's first extension to a path that has none of them.
func (r Request) withExtension(path string) string {
	if len(r.Extensions) == 0 {
		return path
	}
	extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if slices.Contains(r.Extensions, extension) {
		return path
	}
	return path + "." + r.Extensions[0]
}

// bothCases lists the extensions in lower and upper case, for dialogs that are case-sensitive.
func (r Request) bothCases() []string {
	all := make([]string, 0, 2*len(r.Extensions))
	for _, e := range r.Extensions {
		all = append(all, e, strings.ToUpper(e))
	}
	return all
}
