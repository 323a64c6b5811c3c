package atomicfile

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// only fails unless dir holds one file, with the given content.
func only(t *testing.T, path, content string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || string(data) != content {
		t.Errorf("the file holds %q (%v), want %q", data, err, content)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("the directory holds %v", entries)
	}
}

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	for _, content := range []string{"one", "the second"} {
		if err := WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		only(t, path, content)
	}
	// Windows knows only whether a file may be written.
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("permissions are %v", info.Mode())
	}
	if err := WriteFile(filepath.Join(path, "b"), nil, 0o600); err == nil {
		t.Error("a file was written below a file")
	}
}

func TestWriteKeepsWhatExists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(f File) error {
		_, err := f.Write([]byte("new"))
		return err
	}
	failed := errors.New("failed")
	fail := func(File) error { return failed }
	if err := (Target{FS: Disk{}, Path: path}).Write(t.Context(), write, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
	only(t, path, "old")
	if err := (Target{FS: Disk{}, Path: path, Overwrite: true}).Write(t.Context(), fail, nil); !errors.Is(err, failed) {
		t.Errorf("a failed fill: %v", err)
	}
	only(t, path, "old")
	if err := (Target{FS: Disk{}, Path: path, Overwrite: true}).Write(t.Context(), write, fail); !errors.Is(err, failed) {
		t.Errorf("a rejected file: %v", err)
	}
	only(t, path, "old")
	ctx, cancel := context.WithCancel(t.Context())
	err := Target{FS: Disk{}, Path: path, Overwrite: true}.Write(ctx, write, func(File) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	only(t, path, "old")
}

// Complete names the files that it has completed: those that had their names before the kill, and those that get them now;
// and says what they are about.
func TestCompleteNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := record{About: "a", Steps: []naming{{From: ".blik-1.tmp", To: "a.png"}, {From: ".blik-2.tmp", To: "a.json"}}}
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
	if err != nil || !maps.Equal(names, map[string]string{"a.json": "a", "a.png": "a"}) {
		t.Errorf("%v, %v", names, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.json")); err != nil || string(got) != "not yet" {
		t.Errorf("%q, %v", got, err)
	}
	if again, err := Complete(Disk{}, dir); err != nil || len(again) != 0 {
		t.Errorf("%v, %v", again, err)
	}
}

// keepsRecords is a Disk on which records stay.
type keepsRecords struct{ Disk }

func (d keepsRecords) Remove(path string) error {
	if filepath.Ext(path) == ".commit" {
		return nil
	}
	return d.Disk.Remove(path)
}

// The record of a transaction says what it is about.
func TestAbout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tx := Begin(keepsRecords{})
	tx.About = "a"
	defer tx.Close()
	for _, name := range []string{"a.png", "a.json"} {
		target := Target{FS: Disk{}, Path: filepath.Join(dir, name)}
		if err := tx.Add(t.Context(), target, func(File) error { return nil }, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := Complete(Disk{}, dir)
	if err != nil || !maps.Equal(got, map[string]string{"a.json": "a", "a.png": "a"}) {
		t.Errorf("%v, %v", got, err)
	}
}
