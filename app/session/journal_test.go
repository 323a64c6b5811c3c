package session_test

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/session/store"
	"blik/internal/atomicfile"
	"blik/processing"
)

// journals waits until a folder contains n journals and returns them.
func journals(t *testing.T, dir string, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		paths, err := filepath.Glob(filepath.Join(dir, "*"+".journal"))
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
	return keepingOn(t, nil, dir)
}

// keepingOn is keeping on a disk that may fail.
func keepingOn(t *testing.T, disk atomicfile.FileSystem, dir string) *fake {
	t.Helper()
	return newFake(t, func(m *made) { m.store.Journal, m.store.Disk = dir, disk })
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
	want := f.Document().Snapshot().Work()
	awaitMask(t, dir, want.Mask.Pix)
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
	if now := later.Document().Snapshot().Work(); !reflect.DeepEqual(now, want) {
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

// The journal of a picture that has changed does no harm.
func TestJournalOfAChangedPicture(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var got error
	f.Resume(&store.Unsaved{Path: "/a.png", State: "another"}, func(err error) { got = err })
	if got == nil || f.Document() != nil {
		t.Errorf("a picture that has changed: %v", got)
	}
}
