package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/internal/atomicfile"
	"blik/processing"
)

// journals waits until a folder contains n journals and returns them.
func journals(t *testing.T, dir string, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		paths, err := filepath.Glob(filepath.Join(dir, "*"+journalEnding))
		if err != nil {
			t.Fatal(err)
		}
		if len(paths) == n {
			return paths
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%d journals, want %d", len(paths), n)
		case <-tick.C:
		}
	}
}

// keeping returns a fake with a journal.
func keeping(t *testing.T, dir string) *fake {
	t.Helper()
	return keepingOn(t, atomicfile.Disk{}, dir)
}

// keepingOn is keeping on a disk that may fail.
func keepingOn(t *testing.T, disk atomicfile.FileSystem, dir string) *fake {
	t.Helper()
	f := newFake(t)
	f.journalDir = dir
	f.journal = newJournal(disk, dir, f.journalFailed)
	return f
}

// die ends a session as if it were killed: its lock is released, its journal stays.
func (f *fake) die() {
	f.t.Helper()
	if err := f.journal.close(context.Background(), true); err != nil {
		f.t.Error(err)
	}
	f.journal = nil
}

// What is painted and corrected is in the journal within a second, and a later session can resume it. Saving removes
// the journal.
func TestJournal(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "unsaved")
	f := keeping(t, dir).opened("/a.png")
	f.Detect(f.outcome)
	f.settle()
	f.CorrectAll(f.outcome)
	f.settle()
	f.SelectNext(1)
	f.KeepSelected()
	f.SelectNext(1)
	f.RemoveSelected()
	begun := time.Now()
	f.BeginStroke(document.Brush{Radius: 2}, processing.Point{X: 15, Y: 15})
	f.EndStroke()
	want := record(f.Document().Snapshot(), "")
	for {
		data, err := os.ReadFile(journals(t, dir, 1)[0])
		if err != nil {
			t.Fatal(err)
		}
		if u, err := decodeUnsaved(data); err == nil && bytes.Equal(u.Mask, want.Mask) {
			break
		}
	}
	t.Logf("written %v after the stroke", time.Since(begun).Round(time.Millisecond))

	later := keeping(t, dir)
	if got := later.Interrupted(); len(got) != 0 {
		t.Fatalf("the work of a program that runs is offered: %+v", got)
	}
	f.die()
	got := later.Interrupted()
	if len(got) != 1 || got[0].Path != rooted("/a.png") {
		t.Fatalf("%+v", got)
	}
	var done error
	later.Resume(got[0], func(err error) { done = err })
	later.settle()
	if done != nil {
		t.Fatal(done)
	}
	now := record(later.Document().Snapshot(), "")
	now.Date = want.Date
	if !reflect.DeepEqual(now, want) {
		t.Errorf("restored %+v, want %+v", now, want)
	}
	if kept, all, ignored := later.Decided(); kept != 1 || all != 2 || ignored != 1 {
		t.Errorf("restored %d kept of %d and %d ignored, want 1 of 2 and 1", kept, all, ignored)
	}
	if mask, picture := later.Unsaved(); !mask || !picture {
		t.Error("what was restored counts as saved")
	}
	if left := later.Interrupted(); len(left) != 0 {
		t.Errorf("still offered: %+v", left)
	}
	journals(t, dir, 1)
	later.SaveMask("/m.png", true, later.ok)
	later.settle()
	later.SavePicture("/b.png", "", imagefile.SaveOptions{}, later.ok)
	later.settle()
	// The decisions are not in any file yet.
	journals(t, dir, 1)
	for range 3 {
		later.Undo()
	}
	later.SaveMask("/m.png", true, later.ok)
	later.settle()
	journals(t, dir, 0)
}

// Journals of older versions hold the numbers of methods, of which some no longer exist.
func TestFormerJournal(t *testing.T) {
	t.Parallel()
	u := &Unsaved{Path: "/a.png", Width: 2, Height: 1, Mask: []uint8{0, 255}, Made: []int{0}, Devices: []string{"cpu"},
		Params: []processing.Params{{Method: 6}}, Spots: []processing.Spot{{Method: 0}}, Patches: []processing.Patch{{Method: 7}}}
	former := func() []byte {
		data, err := u.encode()
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Replace(data, []byte(journalMark), []byte(journalFormer), 1)
	}
	got, err := decodeUnsaved(former())
	if err != nil || got.Params[0].Method != processing.MethodHarmonic || got.Spots[0].Method != processing.MethodAuto ||
		got.Patches[0].Method != processing.MethodExemplar {
		t.Errorf("%+v, %v", got, err)
	}
	u.Spots[0].Method = 8
	if _, err := decodeUnsaved(former()); err == nil {
		t.Error("a number that never was a method is read")
	}
}

// A journal that is damaged, or of a picture that has changed, does no harm.
func TestJournalOfSomethingElse(t *testing.T) {
	t.Parallel()
	u := &Unsaved{Path: "/a.png", Width: 2, Height: 1, Mask: []uint8{0, 255}}
	data, err := u.encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeUnsaved(data); err != nil || !slices.Equal(got.Mask, u.Mask) {
		t.Errorf("%+v, %v", got, err)
	}
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 8
		if _, err := decodeUnsaved(damaged); err == nil {
			t.Errorf("byte %d damaged: read", i)
		}
		if _, err := decodeUnsaved(data[:i]); err == nil {
			t.Errorf("cut at %d: read", i)
		}
	}
	for name, wrong := range map[string]*Unsaved{
		"a short mask": {Width: 2, Height: 2, Mask: []uint8{1}},
		"no pixels":    {},
		"no origin":    {Width: 1, Height: 1, Mask: []uint8{0}, Spots: make([]processing.Spot, 1), Patches: make([]processing.Patch, 1), Made: []int{0}},
	} {
		if data, err = wrong.encode(); err != nil {
			t.Fatal(err)
		}
		if _, err := decodeUnsaved(data); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	f := newFake(t)
	var got error
	f.Resume(&Unsaved{Path: "/a.png", State: "another"}, func(err error) { got = err })
	if got == nil || f.Document() != nil {
		t.Errorf("a picture that has changed: %v", got)
	}
}
