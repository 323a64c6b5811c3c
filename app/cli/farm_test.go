package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"blik/app/farm"
)

// asChild makes the process of a file of this test binary (see TestProgram).
func asChild(path string, args []string) farm.Process {
	text := `["` + strings.Join(args, `","`) + `"]`
	return farm.Process{Program: path, Arguments: []string{"-test.run=^TestProgram$"}, Environment: []string{asProgram + "=" + text}}
}

// A batch writes what correct writes, each file once, names what fails, and goes on where it was.
func TestBatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.png", "b.png", "c.png"} {
		painting(t, dir, name)
	}
	direct, out, store := filepath.Join(dir, "direct"), filepath.Join(dir, "out"), filepath.Join(dir, "store")
	if got := call(t, "correct", "-q", "-o", direct, filepath.Join(dir, "*.png")); got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	o := Options{childArguments: asChild}
	args := []string{"batch", "--store", store, "--jobs", "2", "-o", out, filepath.Join(dir, "*.png"), filepath.Join(dir, "missing.tif")}
	got := callWith(t.Context(), o, args...)
	if got.status != exitFailed || !strings.Contains(got.out, "done: 3; failed: 0") ||
		!strings.Contains(got.errors, "missing.tif: no such file") {
		t.Fatalf("%+v", got)
	}
	for _, name := range []string{"a", "b", "c"} {
		name += "_corrected.png"
		if !bytes.Equal(readFile(t, filepath.Join(direct, name)), readFile(t, filepath.Join(out, name))) {
			t.Errorf("%s differs from a direct run", name)
		}
	}
	again := callWith(t.Context(), o, args...)
	if !strings.Contains(again.out, "files added: 0; submitted before: 3, of which done: 3") {
		t.Errorf("again: %+v", again)
	}
	if n := len(listed(t, out)); n != 9 {
		t.Errorf("the folder holds %v", listed(t, out))
	}
}

// The parts of a list do each file once.
func TestSlice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.png", "b.png", "c.png", "d.png", "e.png"} {
		painting(t, dir, name)
	}
	out, count := filepath.Join(dir, "out"), 0
	for _, part := range []string{"0/3", "1/3", "2/3", "5/6"} {
		got := call(t, "detect", "--slice", part, "-o", out, filepath.Join(dir, "*.png"))
		if got.status != exitDone && part != "5/6" {
			t.Errorf("%s: %+v", part, got)
		}
		count += strings.Count(got.out, "_mask.png")
	}
	if count != 5 || len(listed(t, out)) != 15 {
		t.Errorf("%d files were done, and the folder holds %v", count, listed(t, out))
	}
	for _, part := range []string{"3/3", "-1/3", "1", "a/b", "0/0"} {
		if got := call(t, "detect", "--slice", part, "-o", out, filepath.Join(dir, "*.png")); got.status != exitUsage {
			t.Errorf("--slice %s: %+v", part, got)
		}
	}
}
