package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/internal/test/testpic"
)

// No command replaces a file without --overwrite. Even with it, none replaces an input, the target of a link to another
// folder, or the report on another file.
func TestNobodysFileIsReplaced(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	in := painting(t, dir, "scan.png")
	own := []byte("painted by hand")
	refused := func(what string, got outcome, want string) {
		t.Helper()
		if got.status == exitDone || !strings.Contains(got.errors, want) {
			t.Errorf("%s: %+v, want %q", what, got, want)
		}
	}
	put := func(name string) string {
		t.Helper()
		path := filepath.Join(out, name)
		if err := os.WriteFile(path, own, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"scan_mask.png", []string{"detect", "-o", out, in}},
		{"scan_findings.csv", []string{"detect", "-o", out, in}},
		{"scan_marked.png", []string{"detect", "--marked", "-o", out, in}},
		{"scan_preview.jpg", []string{"detect", "--preview", "100", "-o", out, in}},
		{"scan_corrected.png", []string{"correct", "-o", out, in}},
		{"scan_corrected.html", []string{"correct", "-o", out, in}},
		{"scan_mask.png", []string{"correct", "--save-mask", "-o", out, in}},
		{"p.json", []string{"detect", "--save-preset", filepath.Join(out, "p.json")}},
	} {
		path := put(c.name)
		got := call(t, c.args...)
		if got.status == exitDone || !strings.Contains(got.errors, c.name) || !bytes.Equal(testpic.ReadFile(t, path), own) {
			t.Errorf("%v: %+v", c.args, got)
		}
		if entries := testpic.Listed(t, out); len(entries) != 1 {
			t.Errorf("%v left %v", c.args, entries)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}

	// Through a link in the output folder.
	master := filepath.Join(dir, "master.png")
	if err := os.WriteFile(master, own, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(out, "scan_mask.png")
	testpic.Link(t, master, link)
	refused("a link", call(t, "detect", "--overwrite", "-o", out, in), "a link to "+master)
	if !bytes.Equal(testpic.ReadFile(t, master), own) {
		t.Error("the file that a link names was replaced")
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}

	// scan.png and scan.tif share the names of their outputs.
	if got := call(t, "detect", "-q", "-o", out, in); got != (outcome{}) {
		t.Fatalf("%+v", got)
	}
	other := filepath.Join(t.TempDir(), "scan.tif")
	if err := os.WriteFile(other, testpic.ReadFile(t, in), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("another picture of that name", call(t, "detect", "--overwrite", "-o", out, other), "this is the report on scan.png, not on scan.tif")
	if got := call(t, "detect", "-q", "--overwrite", "-o", out, in); got != (outcome{}) {
		t.Errorf("the same picture again: %+v", got)
	}
	// A given mask is an input, and so are the other files of the run.
	refused("the mask", call(t, "correct", "--overwrite", "--save-mask", "--mask", filepath.Join(out, "scan_mask.png"), "-o", out, in), "is an input")
}

// A folder that may not be entered is named as the reason.
func TestClosedFolder(t *testing.T) {
	t.Parallel()
	testpic.Need(t, os.Geteuid() > 0, "a user other than root")
	dir := t.TempDir()
	in, closed := painting(t, dir, "a.png"), filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"no permission to write in the folder " + closed: {"correct", "-o", closed, in},
		closed + ": the folder cannot be read":           {"correct", "-o", dir, "--mask-dir", closed, in},
	} {
		if got := call(t, args...); got.status != exitFailed || !strings.Contains(got.errors, want) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// verify compares a report with its files.
func TestVerifyChecksTheReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	if got := call(t, "correct", "-q", "-o", dir, in); got != (outcome{}) {
		t.Fatalf("%+v", got)
	}
	result, reportPath := filepath.Join(dir, "a_corrected.png"), filepath.Join(dir, "a_corrected.json")
	got := call(t, "verify", in, result)
	if got.status != exitDone || !strings.Contains(got.out, "is about these files") || strings.Contains(got.out, "Proven") ||
		!strings.Contains(got.out, "Without a mask all pixels were free to change") {
		t.Errorf("%+v", got)
	}
	size := len(testpic.ReadFile(t, result))
	got = call(t, "verify", "--coverage", in, result)
	if sum := fmt.Sprintf("  of no known use: 0\n  sum: %d\n", size); got.status != exitDone || !strings.Contains(got.out, sum) {
		t.Errorf("coverage: %+v, want %q", got, sum)
	}
	sealed := testpic.ReadFile(t, reportPath)
	for way, c := range map[string]struct{ data, says string }{
		"cut":     {string(sealed[:len(sealed)/2]), "is not a complete report"},
		"altered": {strings.Replace(string(sealed), `"device": "`, `"device": "x`, 1), "was altered"},
		"foreign": {`{"format": "something"}`, "is not a report of Blik"},
	} {
		if err := os.WriteFile(reportPath, []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		got := call(t, "verify", in, result)
		if got.status != exitFailed || !strings.Contains(got.errors, c.says) || !strings.Contains(got.out, "Not proven: the report does not fit.") {
			t.Errorf("%s: %+v", way, got)
		}
	}
	if err := os.WriteFile(reportPath, sealed, 0o600); err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(testpic.ReadFile(t, reportPath), &all); err != nil {
		t.Fatal(err)
	}
	all["result"].(map[string]any)["sha256"] = strings.Repeat("0", 64)
	data, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(reportPath, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := call(t, "verify", in, result); got.status != exitFailed || !strings.Contains(got.errors, "is not the file that report") {
		t.Errorf("a report on another file: %+v", got)
	}
	if got := call(t, "verify", "--limit", "0.001", in, result); got.status != exitFailed || !strings.Contains(got.errors, "limit of 0.001 MP") {
		t.Errorf("--limit of verify: %+v", got)
	}
}

// A file whose results would have names that are too long is refused in one sentence, and the others are done.
func TestLongNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		fits bool
	}{
		{strings.Repeat("a", 241) + ".png", true}, {strings.Repeat("a", 242) + ".png", false},
		{strings.Repeat("a", 251) + ".png", false}, {strings.Repeat("ж", 120) + ".png", true}, {strings.Repeat("ж", 125) + ".png", false},
	} {
		for _, args := range [][]string{{"correct", "--no-report"}, {"detect"}} {
			dir := t.TempDir()
			in, other, out := painting(t, dir, c.name), painting(t, dir, "b.png"), filepath.Join(dir, "out")
			got := call(t, append(args, "-q", "-o", out, in, other)...)
			if (got.status == exitDone) != c.fits || strings.Contains(got.errors, "the name of a result would be") == c.fits {
				t.Errorf("%s of a name of %d bytes: %+v", args[0], len(c.name), got)
			}
			if _, err := os.Stat(filepath.Join(out, map[string]string{"correct": "b_corrected.png", "detect": "b_mask.png"}[args[0]])); err != nil {
				t.Errorf("%s of a name of %d bytes: the other file: %v", args[0], len(c.name), err)
			}
		}
	}
}

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
