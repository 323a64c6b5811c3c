package farm

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The next worker removes what a killed one has left in its scratch folder.
func TestDesk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := openScratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.place(Job{ID: "x"}); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, scratchPrefix+"dead")
	if err := errors.Join(os.Mkdir(dead, 0o700), os.WriteFile(filepath.Join(dead, scratchLock), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := openScratch(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || filepath.Join(dir, left[0].Name()) != first.folder {
		t.Errorf("%v, %v", left, err)
	}
	first.close()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := openScratch(filepath.Join(dir, "missing")); err == nil {
		t.Error("a folder that is not there")
	}
}
