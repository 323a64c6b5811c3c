package cli

import (
	"bytes"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/internal/test/testpic"
)

func TestPreview(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	if got := call(t, "detect", "--preview", "40", "-o", dir, in); got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	m, err := jpeg.Decode(bytes.NewReader(testpic.ReadFile(t, filepath.Join(dir, "a_preview.jpg"))))
	if err != nil || m.Bounds().Dx() != 40 || m.Bounds().Dy() != 30 {
		t.Errorf("%v, %v", m, err)
	}
	for _, size := range []string{"15", "10001", "-1"} {
		want := "blik: --preview " + size + ": must be from 16 to 10000 pixels\n"
		if got := call(t, "detect", "--preview", size, "-o", dir, in); got.status != exitUsage || !strings.HasPrefix(got.errors, want) {
			t.Errorf("%s: %+v", size, got)
		}
	}
}

// The contact sheet shows the processed files in order, and names those that failed.
func TestIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b, absent := painting(t, dir, "a.png"), painting(t, dir, "b 1.png"), filepath.Join(dir, "absent.png")
	for command, links := range map[string][]string{
		"detect": {
			"a_marked.png", "a_mask.png", "a_findings.csv", "a_findings.json",
			"b%201_marked.png", "b%201_mask.png", "b%201_findings.csv", "b%201_findings.json",
		},
		"correct": {
			"a_corrected.html", "a_corrected.png", "a_corrected.json", "a_mask.png",
			"b%201_corrected.html", "b%201_corrected.png", "b%201_corrected.json", "b%201_mask.png",
		},
	} {
		out := filepath.Join(dir, command)
		extra := map[string]string{"detect": "--marked", "correct": "--save-mask"}[command]
		if got := call(t, command, "--index", extra, "-o", out, a, absent, b); got.status != exitFailed {
			t.Fatalf("%+v", got)
		}
		page := string(testpic.ReadFile(t, filepath.Join(out, "index.html")))
		if n := strings.Count(page, "<img"); n != 2 || strings.Count(page, `class="failed"`) != 1 || !strings.Contains(page, "absent.png") {
			t.Errorf("%s: %d pictures in\n%s", command, n, page)
		}
		var got []string
		for _, part := range strings.Split(page, `<br><a href="./`)[1:] {
			link, _, _ := strings.Cut(part, `"`)
			got = append(got, link)
		}
		if !slices.Equal(got, links) {
			t.Errorf("%s: links %v, want %v", command, got, links)
		}
	}
}

// A page that Blik did not write is never replaced, its own only with --overwrite.
func TestIndexIsNotOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	page := filepath.Join(dir, "index.html")
	if err := os.WriteFile(page, []byte("<html>my page</html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"detect"}, {"detect", "--overwrite"}, {"correct"}, {"correct", "--overwrite"}} {
		got := call(t, append(args, "--index", "-o", dir, in)...)
		want := "blik: " + page + " exists and is not a contact sheet of Blik; not overwritten\n"
		if got.status != exitUsage || !strings.HasPrefix(got.errors, want) || exist(filepath.Join(dir, "a_mask.png")) {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := call(t, "detect", "--index", "--overwrite", "-o", dir, in); got.status != exitDone || !exist(page) {
			t.Errorf("%+v", got)
		}
	}
	if got := call(t, "correct", "--index", "-o", dir, in); got.status != exitUsage || !strings.Contains(got.errors, "--overwrite replaces it") {
		t.Errorf("%+v", got)
	}
	if got := call(t, "correct", "--index", "--overwrite", "-o", dir, in); got.status != exitDone {
		t.Errorf("%+v", got)
	}
}
