//go:build unix

package cli

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"blik/app/imagefile"
	"blik/internal/test/testpic"
	"blik/processing"
)

// Terminals, spreadsheets and browsers show file names and do not interpret them.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	plain := painting(t, dir, "a.png")
	for _, name := range []string{"=cmd|calc!A0.png", "a\x1b[31mred.png", "line\nbreak.png", "caf\xe9.png", "a\u202egnp.png", "<b>a.png"} {
		in := filepath.Join(dir, name)
		if err := os.Link(plain, in); err != nil {
			t.Logf("%q: no such name here: %v", name, err)
			continue
		}
		for _, command := range []string{"detect", "correct"} {
			got := call(t, command, "--overwrite", "--index", "-o", out, in)
			if got.status != exitDone {
				t.Errorf("%s %q: %+v", command, name, got)
			}
			for _, text := range []string{got.out, got.errors} {
				if strings.ContainsAny(text, "\x1b\u202e") || !utf8.ValidString(text) || strings.Contains(text, "line\nbreak") {
					t.Errorf("%s prints %q", command, text)
				}
			}
		}
		stem := strings.TrimSuffix(name, ".png")
		table, err := csv.NewReader(strings.NewReader(string(testpic.ReadFile(t, filepath.Join(out, stem+"_findings.csv"))))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range table[1:] {
			if strings.ContainsAny(row[0][:1], "=+-@") || strings.ContainsAny(row[0], "\x1b\n\u202e") {
				t.Errorf("the table holds %q", row[0])
			}
		}
		for _, page := range []string{"index.html", stem + "_corrected.html"} {
			if text := string(testpic.ReadFile(t, filepath.Join(out, page))); strings.ContainsAny(text, "\x1b\u202e") || strings.Contains(text, "<b><b>") {
				at := strings.IndexAny(text, "\x1b\u202e")
				t.Errorf("%s of %q: %.200q", page, name, text[max(at-80, 0):])
			}
		}
		if got := call(t, "detect", "-o", out, in+"missing"); strings.ContainsAny(got.errors, "\x1b\u202e") {
			t.Errorf("an error prints %q", got.errors)
		}
	}
}

// Outputs have the permissions of the picture.
func TestOutputsKeepPermissions(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	in := painting(t, dir, "a.png")
	for _, mode := range []os.FileMode{0o600, 0o640} {
		if err := os.Chmod(in, mode); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"detect", "--marked", "--preview", "64", "--index"}, {"correct", "--save-mask", "--index"}} {
			if got := call(t, append(args, "-q", "--overwrite", "-o", out, in)...); got != (outcome{}) {
				t.Fatalf("%+v", got)
			}
		}
		for _, name := range testpic.Listed(t, out) {
			if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	}
}

// A limit of the address space causes a sentence, not a stack trace.
func TestAddressSpaceLimit(t *testing.T) {
	testpic.Need(t, runtime.GOOS == "linux" && !testpic.Race, "Linux, without the race detector")
	dir := t.TempDir()
	large := filepath.Join(dir, "large.png")
	if err := imagefile.WriteMask(t.Context(), large, imagefile.WriteOptions{}, processing.NewMask(18000, 10000)); err != nil {
		t.Fatal(err)
	}
	small := painting(t, dir, "small.png")
	run := func(limit, in string) (string, int) {
		child := exec.Command("sh", "-c", "ulimit -v "+limit+"; exec \"$0\" -test.run='^TestProgram$'", os.Args[0])
		child.Env = append(os.Environ(), asProgram+`=["detect","-q","--overwrite","-o","`+dir+`","`+in+`"]`)
		said, _ := child.CombinedOutput() // its status says how it ended
		return string(said), child.ProcessState.ExitCode()
	}
	if said, status := run("3200000", large); status != exitFailed || !strings.Contains(said, "of memory, ") || strings.Contains(said, "goroutine") {
		t.Errorf("a large picture: status %d, %.600s", status, said)
	}
	if said, status := run("3200000", small); status != exitDone {
		t.Errorf("a small picture: status %d, %.600s", status, said)
	}
}
