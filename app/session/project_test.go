package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/project"
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
	f.ok(f.SetParam(spec(t, "halo"), 7))
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
