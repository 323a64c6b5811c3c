// Package locale spares the user the toolkit's complaints about locales.
//
// While the program is being initialised, Fyne's package lang reads the name of the system's locale as a language tag,
// and prints an error of several lines where that is none, also when no window is wanted. C.UTF-8, the locale of most
// containers and minimal systems, is none, nor is sr_RS@latin. The list of languages in LANGUAGE comes before the
// locale there, as it does in the C library's translations, so this package puts one into it that can be read.
//
// It has to be imported by the program and to come first. It does: packages are initialised in the order of their
// import paths as far as their imports allow (Go specification, "Program initialization"), and it needs nothing that
// lang does not.
package locale

import (
	"os"
	"strings"

	"golang.org/x/text/language"
)

func init() {
	if tag := replacement(os.Getenv); tag != "" {
		// Without it there is a complaint, no more.
		_ = os.Setenv("LANGUAGE", tag)
	}
}

// replacement returns what LANGUAGE has to be, empty where it may stay as it is.
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
