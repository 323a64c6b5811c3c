package report

import (
	"os"
	"path/filepath"
	"testing"
)

// A link simulates a file system that ignores case.
func TestOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Scan.tif"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SCAN.TIF", "another.tif"} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			continue // Windows and macOS have it already
		}
		if err := os.Link(filepath.Join(dir, "Scan.tif"), path); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Scan.tif", "SCAN.TIF", true},
		{"Scan.tif", "another.tif", false},
		{"Scan.tif", "sCAN.tif.bak", false},
		{"gone.tif", "GONE.tif", false},
	} {
		if got := oneFile(dir, c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %v", c.a, c.b, got)
		}
	}
}
