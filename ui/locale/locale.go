// Package locale prevents the toolkit's error messages about locales.
//
// While the program is being initialised, Fyne's package lang reads the name of the system's locale as a language tag.
// If it is not one, lang prints an error of several lines, even if no window is wanted. C.UTF-8, the locale of most
// containers and minimal systems, is not a language tag, nor is sr_RS@latin. The list of languages in LANGUAGE takes
// precedence over the locale there, as it does in the C library's translations, so this package sets LANGUAGE to a
// valid tag.
//
// The program must import this package, and it must be initialised before lang. It is: packages are initialised in the
// order of their import paths as far as their imports allow (Go specification, "Program initialization"), and this one
// imports nothing that lang does not.
package locale

import (
	"os"
	"strings"

	"golang.org/x/text/language"
)

func init() {
	if tag := replacement(os.Getenv); tag != "" {
		// If this fails, there is an error message and nothing worse.
		_ = os.Setenv("LANGUAGE", tag)
	}
}

// replacement returns the value that LANGUAGE needs, empty if it may stay as it is.
func replacement(getenv func(string) string) string {
	if getenv("LANGUAGE") != "" {
		return ""
	}
	name := ""
	// The order is that of POSIX (XBD 8.2).
	for _, variable := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if name = getenv(variable); name != "" {
			break
		}
	}
	name, _, _ = strings.Cut(name, ".")
	plain, _, _ := strings.Cut(name, "@")
	switch {
	case name == "" || readable(name):
		return ""
	case readable(plain):
		return plain
	}
	return "en"
}

func readable(name string) bool {
	_, err := language.Parse(name)
	return err == nil
}
