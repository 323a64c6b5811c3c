package session_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/project"
	"blik/app/session"
	"blik/app/session/store"
	"blik/internal/test/testpic"
	"blik/processing"
)

// Work that is saved in a project counts as saved and needs no journal. A later session continues it with decisions,
// corrections and parameters.
func TestProjectGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, journal := filepath.Join(dir, "a.png"), filepath.Join(dir, "unsaved")
	f := keeping(t, journal).opened(path)
	if c := f.Continued(); !c.Date.IsZero() || c.Err != nil {
		t.Errorf("%+v without a project", c)
	}
	f.Detect(f.outcome)
	f.settle()
	f.SelectNext(1)
	f.KeepSelected()
	f.CorrectAll(f.outcome)
	f.settle()
	f.ok(f.SetParam(testpic.Spec(t, "halo"), 7))
	f.settle()
	f.SaveProject(false, f.ok)
	f.settle()
	if mask, picture := f.Unsaved(); mask || picture {
		t.Error("what the project holds does not count as saved")
	}
	journals(t, journal, 0)
	want := f.Document().Snapshot().Work()

	later := newFake(t).opened(path)
	if c := later.Continued(); c.Date.IsZero() || c.Err != nil {
		t.Fatalf("%+v", c)
	}
	if got := later.Document().Snapshot().Work(); !reflect.DeepEqual(got, want) {
		t.Errorf("the work is\n%+v, want\n%+v", got, want)
	}
	if later.Settings().Params.Halo != 7 {
		t.Errorf("halo %v", later.Settings().Params.Halo)
	}
	if kept, _, _ := later.Decided(); kept != 1 {
		t.Errorf("%d are kept", kept)
	}
	if mask, picture := later.Unsaved(); mask || picture {
		t.Error("what was just opened is unsaved")
	}
	later.BeginStroke(document.Brush{Radius: 1}, processing.Point{X: 20, Y: 9})
	later.EndStroke()
	if mask, picture := later.Unsaved(); !mask || !picture {
		t.Error("a stroke after the project was saved counts as saved")
	}
	later.Undo()
	if mask, _ := later.Unsaved(); mask {
		t.Error("the stroke undone is unsaved")
	}
	for range 3 {
		later.Undo()
	}
	if n := later.Document().Stats().Area; n != 0 {
		t.Errorf("%d pixels are left after undoing all", n)
	}
}

// A project of another picture, or one that is damaged, leaves the picture open without its work, and says why.
func TestProjectDoesNotFit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.png")
	f := newFake(t).opened(path)
	f.Detect(f.outcome)
	f.settle()
	w := f.Document().Snapshot().Work()
	p := &project.Project{Checksum: 1, Params: processing.DefaultParams(), Work: w}
	check := func(what, says string) {
		t.Helper()
		later := newFake(t).opened(path)
		c := later.Continued()
		if c.Err == nil || !strings.Contains(c.Err.Error(), says) || later.Document().Stats().Area != 0 {
			t.Errorf("%s: %+v, %+v", what, c, later.Document().Stats())
		}
	}
	f.ok(project.Write(t.Context(), path, p, project.Options{Overwrite: true}))
	check("other pixels", "the picture has changed since its project was saved")
	other := *p
	other.Work = document.Work{Mask: processing.NewMask(20, 10)}
	f.ok(project.Write(t.Context(), path, &other, project.Options{Overwrite: true}))
	check("another picture", "is that of another one, of 20 × 10 pixels instead of 40 × 30")
	p.Checksum = project.Checksum(f.Document().Picture())
	w.Found.Findings[0].Runs = []processing.Run{{Y: 3, X0: 0, X1: 39}, {Y: 1, X0: 0, X1: 3}}
	f.ok(project.Write(t.Context(), path, p, project.Options{Overwrite: true}))
	check("findings that contradict themselves", "")
	name, _ := project.Paths(path)
	f.ok(os.WriteFile(name, slices.Concat([]byte("{"), make([]byte, 100)), 0o600))
	check("damaged", "")
}

// SaveProject overwrites only the project that the work was read from: neither one that could not be used nor one that
// another session has saved since.
func TestProjectOfOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.png")
	name, mask := project.Paths(path)
	f := newFake(t).opened(path)
	save := func(f *fake, overwrite bool) (err error) {
		f.SaveProject(overwrite, func(e error) { err = e })
		f.settle()
		return err
	}
	f.ok(save(f, false))
	f.ok(save(f, false))
	for _, path := range []string{name, mask} {
		// Windows has no such permissions.
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 && runtime.GOOS != "windows" {
			t.Errorf("permissions %v, %v: not those of the picture", info, err)
		}
	}
	other := newFake(t).opened(path)
	f.ok(save(other, false))
	if err := save(f, false); !errors.Is(err, imagefile.ErrForeign) {
		t.Errorf("over the project of another session: %v", err)
	}
	f.ok(save(f, true))
	f.ok(save(f, false))

	f.ok(os.WriteFile(name, []byte(`{"format": "blik project", "version": 999}`), 0o600))
	later := newFake(t).opened(path)
	if err := save(later, false); !errors.Is(err, imagefile.ErrExists) {
		t.Errorf("over the project of a newer version: %v", err)
	}
	f.ok(os.Remove(name))
	later = newFake(t).opened(path)
	if err := save(later, false); !errors.Is(err, imagefile.ErrExists) {
		t.Errorf("over a mask without a project: %v", err)
	}
	f.ok(save(later, true))
}

// Manual mode and its values belong to a picture: its project brings them back, another picture begins in adaptive mode.
func TestManualModeBelongsToAPicture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a.png"), filepath.Join(dir, "b.png")
	f := newFake(t)
	manual := f.Settings().Params
	manual.Mode, manual.Window, manual.Sensitivity, manual.Halo = processing.Manual, 31, 1, 7
	shows := func(when string, want processing.Params, left string) {
		t.Helper()
		if got := f.Settings().Params; got != want || f.LeftManual() != left {
			t.Errorf("%s: left %q with\n%+v, expected %q with\n%+v", when, f.LeftManual(), got, left, want)
		}
	}
	adaptive := manual
	adaptive.Mode, adaptive.Window = processing.Adaptive, processing.DefaultParams().Window
	f.SetParams(manual)
	f.opened(first)
	shows("chosen before the first picture", manual, "")
	f.SaveProject(false, f.ok)
	f.settle()
	f.opened(first)
	shows("the same picture", manual, "")
	f.opened(second)
	shows("another picture", adaptive, first)
	f.opened(second)
	shows("the other picture again", adaptive, "")
	f.opened(first)
	shows("the picture with a project", manual, "")
}

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
		if !slices.ContainsFunc(got, func(u *store.Unsaved) bool { return bytes.Equal(maskIn(u), masks[i]) }) {
			t.Errorf("the work of program %d is lost", i)
		}
	}
}
