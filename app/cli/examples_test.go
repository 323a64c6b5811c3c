package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blik/app/cli"
	"blik/internal/test/testpic"
	lab "blik/lab/cli"
)

// TestExamples runs the examples of the manual that show what the program prints, and compares each line; the manual
// ends a line that it shortens with an ellipsis.
func TestExamples(t *testing.T) {
	testpic.NoRace(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, language := range map[string]string{"command-line.md": "en", "command-line.ru.md": "ru"} {
		page, err := os.ReadFile(filepath.Join(root, "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(t.TempDir())
		if err := os.Symlink(filepath.Join(root, "assets"), "assets"); err != nil {
			t.Fatal(err)
		}
		var printed []string
		shown, compared := false, 0
		for i, line := range strings.Split(string(page), "\n") {
			text, example := strings.CutPrefix(line, "    ")
			command, run := strings.CutPrefix(text, "$ blik ")
			switch {
			case !example:
				shown = false
			case run:
				var out, errs bytes.Buffer
				status := cli.Run(t.Context(), append(strings.Fields(command), "--lang", language), cli.Options{
					Version: "1.2.3", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
					Extensions: lab.Commands(), Getenv: func(string) string { return "" },
				})
				if status != 0 {
					t.Fatalf("%s:%d: %s%s", name, i+1, &out, &errs)
				}
				shown, printed = true, strings.Split(out.String(), "\n")
			case shown && len(printed) == 0:
				t.Errorf("%s:%d: is not printed: %s", name, i+1, text)
			case shown:
				got := printed[0]
				printed = printed[1:]
				if start, short := strings.CutSuffix(text, "…"); got != text && !(short && strings.HasPrefix(got, start)) {
					t.Errorf("%s:%d: the program prints\n%s\nnot\n%s", name, i+1, got, text)
				}
				compared++
			}
		}
		if compared == 0 {
			t.Errorf("%s has no example with output", name)
		}
	}
}
