package farm

import (
	"context"
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
	// The reason why a root cannot be read is named.
	if err := os.WriteFile(in, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := r.Find(Place{"scans", "sub/a.tif"}, false)
	if !errors.Is(err, errUnmounted) || !strings.Contains(err.Error(), "the folder cannot be read") {
		t.Errorf("a root that is a file: %v", err)
	}
}

// A whole drive permits links to anywhere, which a batch on one machine follows; a file keeps its name.
func TestLinksInDrive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "real", "a.tif"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	testpic.Link(t, filepath.Join(dir, "real"), filepath.Join(dir, "link"))
	testpic.Link(t, filepath.Join(dir, "real", "a.tif"), filepath.Join(dir, "real", "b.tif"))
	top := filepath.VolumeName(dir) + string(os.PathSeparator)
	r := Roots{{Folder: top}, {Folder: top, Write: true}}
	got, err := r.Find(Place{Path: filepath.ToSlash(filepath.Join(dir, "link", "b.tif"))}, false)
	if err != nil || got != filepath.Join(dir, "link", "b.tif") {
		t.Errorf("%s, %v", got, err)
	}
	got, err = r.Find(Place{Path: filepath.ToSlash(filepath.Join(dir, "link", "out"))}, true)
	if err != nil || got != filepath.Join(dir, "link", "out") {
		t.Errorf("%s, %v", got, err)
	}
}

// The queue holds only names in UTF-8.
func TestNotUTF8(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "\xff.tif")
	err := os.WriteFile(file, nil, 0o644)
	testpic.Need(t, err == nil, "a file system with names that are not UTF-8")
	_, sent := NewUpload(t.Context(), file, ".")
	_, named := Roots{{Folder: dir}}.NewJob(file, dir)
	for _, err := range []error{sent, named} {
		if err == nil || !strings.Contains(err.Error(), "not UTF-8") {
			t.Errorf("%v", err)
		}
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

// lenient is a Checker that accepts everything.
type lenient struct{}

func (lenient) Names(string, []string) error                           { return nil }
func (lenient) MaxBytes(string) int64                                  { return 1 << 40 }
func (lenient) Check(context.Context, string, string, []string) error  { return nil }
func (lenient) Renewable(context.Context, string, string, string) bool { return false }

// No result leads to a file outside its folder, or to one that a system hides.
func TestNamesOfResults(t *testing.T) {
	t.Parallel()
	k := &collector{Collection: Collection{Folder: t.TempDir(), Checker: lenient{}}}
	for _, folder := range []string{"../out", "/tmp"} {
		if _, err := k.collect(t.Context(), Job{Out: Place{Path: folder}}, Result{}); err == nil {
			t.Errorf("a folder %s", folder)
		}
	}
	sum := strings.Repeat("0", 64)
	for _, name := range []string{"../x", "a/b", "CON", "..", ".", "", ".profile", "x\x00", "a\\b", strings.Repeat("x", 300)} {
		r := Result{Outcome: Outcome{Outputs: []Output{{Name: name, SHA256: sum}}}}
		var bad *Suspicion
		if _, err := k.collect(t.Context(), Job{Out: Place{Path: "x"}}, r); !errors.As(err, &bad) {
			t.Errorf("%q leads to a file: %v", name, err)
		}
	}
}
