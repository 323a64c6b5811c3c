package atomicfile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Complete names the files that it has completed: those that had their names before the kill, and those that get them now.
func TestCompleteNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := record{Steps: []naming{{From: ".blik-1.tmp", To: "a.png"}, {From: ".blik-2.tmp", To: "a.json"}}}
	data, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"a.png": []byte("named"), ".blik-2.tmp": []byte("not yet"), ".blik-3.commit": data} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names, err := Complete(Disk{}, dir)
	slices.Sort(names)
	if err != nil || !slices.Equal(names, []string{"a.json", "a.png"}) {
		t.Errorf("%v, %v", names, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.json")); err != nil || string(got) != "not yet" {
		t.Errorf("%q, %v", got, err)
	}
	if again, err := Complete(Disk{}, dir); err != nil || len(again) != 0 {
		t.Errorf("%v, %v", again, err)
	}
}
