package locale_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	_ "fyne.io/fyne/v2/lang"

	_ "blik/ui/locale"
)

// TestChild is started by TestNoComplaint, only for its initialisation.
func TestChild(*testing.T) {}

// A child process, in which lang is initialised as in the program, prints nothing.
func TestNoComplaint(t *testing.T) {
	for _, name := range []string{"C.UTF-8", "C", "sr_RS@latin", "nowhere"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
		cmd.Env = append(os.Environ(), "LC_ALL="+name, "LANGUAGE=")
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "locale") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
}
