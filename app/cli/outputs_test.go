package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
