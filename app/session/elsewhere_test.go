package session_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/app/imagefile"
	"blik/app/session"
	"blik/app/session/store"
	"blik/internal/test/testpic"
)

// onDisk returns a fake with a picture of 40 × 30 pixels that really is on disk, and a corrected finding.
func onDisk(t *testing.T, dir string) (f *fake, path string) {
	t.Helper()
	path = filepath.Join(dir, "a.png")
	f = newFake(t, func(m *made) { m.store.Files = store.Disk(session.Limits()) })
	f.ok(imagefile.WritePNG(t.Context(), path, imagefile.WriteOptions{}, testpic.Flat(40, 30, 3, 100)))
	f.opened(path)
	f.Detect(f.outcome)
	f.settle()
	f.CorrectAll(f.outcome)
	f.settle()
	return f, path
}

// save saves the corrected picture.
func (f *fake) save(path string) (err error) {
	f.SavePicture(path, "", imagefile.SaveOptions{}, func(e error) { err = e })
	f.settle()
	return err
}

// If a picture is removed, moved or changed on disk while it is open, the corrected copy is not written. One sentence
// says why, and the work stays and can be saved in other ways.
func TestPictureChangesOnDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(path string) error
		kind  error
	}{
		{"moved", func(p string) error { return os.Rename(p, p+".away") }, fs.ErrNotExist},
		{"removed", os.Remove, fs.ErrNotExist},
		{"another picture", func(p string) error {
			return imagefile.WritePNG(t.Context(), p, imagefile.WriteOptions{Overwrite: true}, testpic.Flat(7, 5, 3, 9))
		}, imagefile.ErrChanged},
		{"no picture", func(p string) error { return os.WriteFile(p, []byte("no picture"), 0o600) }, imagefile.ErrChanged},
		{"touched", func(p string) error { return os.Chtimes(p, time.Now(), time.Now().Add(time.Hour)) },
			imagefile.ErrChanged},
		{"a folder", func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) }, nil},
	} {
		dir := t.TempDir()
		f, path := onDisk(t, dir)
		f.ok(c.spoil(path))
		copied := filepath.Join(dir, "b.png")
		err := f.save(copied)
		if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.HasPrefix(err.Error(), path+": ") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, e := os.Stat(copied); !errors.Is(e, fs.ErrNotExist) {
			t.Errorf("%s: a copy was written", c.name)
		}
		mask := filepath.Join(dir, "m.png")
		before := bytes.Clone(f.Document().Mask().Pix)
		if _, unsaved := f.Unsaved(); !unsaved || f.Document().Corrections().Len() != 2 {
			t.Errorf("%s: the corrections are gone or count as saved", c.name)
		}
		f.SaveMask(mask, false, f.ok)
		f.settle()
		m, err := imagefile.ReadMask(t.Context(), mask, 40, 30, session.Limits())
		if err != nil || !bytes.Equal(m.Pix, before) {
			t.Errorf("%s: the mask was not saved: %v", c.name, err)
		}
		// Detection still works, on the pixels that were read.
		f.Detect(f.outcome)
		f.settle()
		if c.name != "moved" {
			continue
		}
		f.ok(os.Rename(path+".away", path))
		if err := f.save(copied); err != nil {
			t.Errorf("moved back: %v", err)
		}
	}
}

// A mask of another size, a damaged one and a missing one change nothing.
func TestMaskThatDoesNotFit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, _ := onDisk(t, dir)
	other := filepath.Join(dir, "other.png")
	f.ok(imagefile.WritePNG(t.Context(), other, imagefile.WriteOptions{}, testpic.Flat(30, 40, 1, 255)))
	damaged := filepath.Join(dir, "damaged.png")
	data, err := os.ReadFile(other)
	f.ok(err)
	f.ok(os.WriteFile(damaged, data[:len(data)/2], 0o600))
	before, steps := bytes.Clone(f.Document().Mask().Pix), f.Document().HistoryVersion()
	for path, want := range map[string]struct {
		kind error
		says string
	}{
		other:                               {imagefile.ErrSize, "the mask has 30 × 40 pixels, the picture 40 × 30"},
		damaged:                             {imagefile.ErrDamaged, ""},
		filepath.Join(dir, "gone.png"):      {fs.ErrNotExist, ""},
		filepath.Join(dir, "no", "dir.png"): {fs.ErrNotExist, ""},
	} {
		var got error
		f.LoadMask(path, false, func(err error) { got = err })
		f.settle()
		if !errors.Is(got, want.kind) || !strings.Contains(got.Error(), want.says) ||
			!strings.HasPrefix(got.Error(), path+": ") {
			t.Errorf("%s: %v", path, got)
		}
		if !bytes.Equal(f.Document().Mask().Pix, before) || f.Document().HistoryVersion() != steps {
			t.Errorf("%s: the mask has changed", path)
		}
	}
}

// If two programs that work on one picture are killed, the work of both is offered for recovery, and neither overwrites
// the other's.
func TestTwoProgramsOnOnePicture(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "unsaved")
	var masks [2][]uint8
	var both [2]*fake
	for i := range both {
		both[i] = keeping(t, dir).opened("/a.png")
		both[i].paintAt(float64(8+20*i), 10)
		masks[i] = bytes.Clone(both[i].Document().Mask().Pix)
		journals(t, dir, i+1)
	}
	later := keeping(t, dir)
	if got := later.Interrupted(); len(got) != 0 {
		t.Fatalf("the work of programs that run is offered: %+v", got)
	}
	for i, f := range both {
		f.die()
		got := later.Interrupted()
		if len(got) != i+1 {
			t.Fatalf("%d pieces of work are offered, want %d", len(got), i+1)
		}
		if !slices.ContainsFunc(got, func(u *store.Unsaved) bool { return bytes.Equal(u.Mask, masks[i]) }) {
			t.Errorf("the work of program %d is lost", i)
		}
	}
}
