package farm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blik/internal/test/testpic"
)

// No name lets jobs leave the roots.
func TestRoots(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	in, out, secret := filepath.Join(top, "in"), filepath.Join(top, "out"), filepath.Join(top, "secret")
	for _, dir := range []string{filepath.Join(in, "sub"), out, secret} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(in, "sub", "a.tif"), filepath.Join(secret, "s.tif")} {
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		filepath.Join(in, "away"): secret, filepath.Join(out, "away"): secret, filepath.Join(in, "s.tif"): filepath.Join(secret, "s.tif"),
		filepath.Join(in, "within"): filepath.Join("sub", "a.tif"),
	} {
		testpic.Link(t, target, name)
	}
	r := Roots{{Folder: in}, {Name: "scans", Folder: in}, {Folder: out, Write: true}, {Name: "out", Folder: out, Write: true}}
	for _, c := range []struct {
		place  Place
		create bool
		good   bool
	}{
		{Place{"scans", "sub/a.tif"}, false, true},
		{Place{"", filepath.ToSlash(filepath.Join(in, "sub", "a.tif"))}, false, true},
		{Place{"scans", "within"}, false, true},
		{Place{"out", "new/folder"}, true, true},
		{Place{"", filepath.ToSlash(out)}, true, true},
		{Place{"out", "."}, true, true},
		{Place{"scans", "../secret/s.tif"}, false, false},
		{Place{"scans", "sub/../../secret/s.tif"}, false, false},
		{Place{"scans", "sub/../sub/a.tif"}, false, false},
		{Place{"scans", filepath.ToSlash(filepath.Join(secret, "s.tif"))}, false, false},
		{Place{"", filepath.ToSlash(filepath.Join(secret, "s.tif"))}, false, false},
		{Place{"", filepath.ToSlash(in) + "/../secret/s.tif"}, false, false},
		{Place{"", "sub/a.tif"}, false, false},
		{Place{"scans", "away/s.tif"}, false, false},
		{Place{"scans", "s.tif"}, false, false},
		{Place{"scans", "sub/a.tif"}, true, false},
		{Place{"scans", "new"}, true, false},
		{Place{"other", "sub/a.tif"}, false, false},
		{Place{"out", "away"}, true, false},
		{Place{"out", "away/deeper"}, true, false},
		{Place{"out", "../in"}, true, false},
		{Place{"", filepath.ToSlash(top)}, true, false},
	} {
		path, err := r.Find(c.place, c.create)
		if c.good != (err == nil) {
			t.Errorf("%+v, writing %v: %q, %v", c.place, c.create, path, err)
		}
		if err == nil && !strings.HasPrefix(path, in) && !strings.HasPrefix(path, out) {
			t.Errorf("%+v leads to %s", c.place, path)
		}
	}
	if entries, err := os.ReadDir(secret); err != nil || len(entries) != 1 {
		t.Errorf("the folder outside holds %v, %v", entries, err)
	}
	if err := os.RemoveAll(in); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Find(Place{"scans", "sub/a.tif"}, false); !errors.Is(err, errUnmounted) {
		t.Errorf("a root that is not there: %v", err)
	}
}

func TestPortable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.tif", "Мадонна.tif", "sub/a b.tif", "console.tif", "com10.tif", ".hidden"} {
		if err := Portable(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"a:b.tif", "what?.tif", "CON", "con.tif", "sub/lpt1.tif", "end.", "end ", "a\\b", "a\x01b", `q"q`, "dir./x.tif"} {
		if err := Portable(name); err == nil {
			t.Errorf("%q can exist on Windows", name)
		}
	}
}
