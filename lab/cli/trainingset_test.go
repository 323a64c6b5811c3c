package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/internal/test/testpic"
)

func TestTrainingSet(t *testing.T) {
	dir := t.TempDir()
	painting := filepath.Join(dir, "paintings", "a.png")
	got := call(t, "sample", "--width", "220", "--height", "160", "--glare", noGlare, "-o", painting)
	if got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	render := func(name string, args ...string) string {
		out := filepath.Join(dir, name)
		flags := []string{"trainingset", "-o", out, "--width", "96", "--height", "64"}
		flags = append(flags, "--paintings", filepath.Dir(painting))
		args = append(flags, args...)
		if got := call(t, args...); got.status != exitDone {
			t.Fatalf("%+v", got)
		}
		return out
	}
	a, b := render("one", "--count", "3"), render("two", "--count", "3", "-q")
	want := []string{
		"00000.png", "00000_truth.png", "00001.png", "00001_truth.png", "00002.png", "00002_truth.png", "manifest.json",
	}
	if got := testpic.Listed(t, a); !slices.Equal(got, want) {
		t.Errorf("written: %v", got)
	}
	for _, name := range want {
		if !bytes.Equal(testpic.ReadFile(t, filepath.Join(a, name)), testpic.ReadFile(t, filepath.Join(b, name))) {
			t.Errorf("%s differs between two runs of one seed", name)
		}
	}
	var set trainingSet
	err := json.Unmarshal(testpic.ReadFile(t, filepath.Join(a, "manifest.json")), &set)
	if err != nil || len(set.Items) != 3 {
		t.Fatalf("%d items, %v", len(set.Items), err)
	}
	item := set.Items[1]
	if item.Painting != "a.png" || len(item.PaintingSHA256) != 64 || item.Kind == "" || item.Width == 0 {
		t.Errorf("%+v", item)
	}
	c := render("clean", "--count", "1", "--kind", "clean")
	if !strings.Contains(string(testpic.ReadFile(t, filepath.Join(c, "manifest.json"))), `"kind": "clean"`) {
		t.Error("another kind")
	}
	for _, bad := range [][]string{
		{"--count", "0"}, {"--width", "3"}, {"--kind", "stars"}, {"extra"},
		{"--paintings", filepath.Join(dir, "absent")}, {"--paintings", filepath.Join(a, "manifest.json")},
	} {
		got := call(t, append([]string{"trainingset", "-o", filepath.Join(dir, "bad")}, bad...)...)
		if got.status == exitDone || got.errors == "" {
			t.Errorf("%v: %+v", bad, got)
		}
	}
}
