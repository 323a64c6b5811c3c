package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"blik/app/document"
	"blik/internal/atomicfile"
	"blik/internal/test/testpic"
	"blik/processing"
)

// small returns work on a picture of 2 × 1 pixels.
func small() *Unsaved {
	return &Unsaved{Path: "/a.png", Width: 2, Height: 1, Masks: document.PackedMasks{Mask: document.Packed{{0, 255}}}}
}

// mask returns the pixels of the mask.
func mask(u *Unsaved) []uint8 {
	var w document.Work
	w.Unpack(u.Masks, u.Width, u.Height)
	return w.Mask.Pix
}

// A damaged journal is not read.
func TestJournalOfSomethingElse(t *testing.T) {
	t.Parallel()
	u := small()
	data, err := u.encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeUnsaved(data); err != nil || !slices.Equal(mask(got), mask(u)) {
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
	run := []byte{255, 4, 0}
	for name, wrong := range map[string]*Unsaved{
		"a short mask":  {Width: 2, Height: 2, Masks: document.PackedMasks{Mask: document.Packed{{1}}}},
		"a short run":   {Width: 3, Height: 2, Masks: document.PackedMasks{Mask: document.Packed{run}}},
		"too few tiles": {Width: 200, Height: 2, Masks: document.PackedMasks{Mask: document.Packed{nil}}},
		"no detection":  {Width: 2, Height: 1, Masks: document.PackedMasks{Mask: u.Masks.Mask, Found: document.Packed{run}}},
		"no pixels":     {},
		"no origin": {Width: 2, Height: 1, Masks: u.Masks, Spots: make([]processing.Spot, 1),
			Patches: make([]processing.Patch, 1), Made: []int{0}},
	} {
		if data, err = wrong.encode(); err != nil {
			t.Fatal(err)
		}
		if _, err := decodeUnsaved(data); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}

// filling is a disk on which nothing can be created while full is set.
type filling struct {
	atomicfile.Disk
	full *atomic.Bool
}

func (d filling) Create(path string) (atomicfile.File, error) {
	if d.full.Load() {
		return nil, &fs.PathError{Op: "create", Path: path, Err: syscall.ENOSPC}
	}
	return d.Disk.Create(path)
}

// What could not be written is written when there is room, even if nothing else happens.
func TestJournalTriesAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var full atomic.Bool
	full.Store(true)
	failed := make(chan error, 1)
	j := &journal{
		fsys: filling{full: &full}, path: filepath.Join(dir, "a"+journalEnding), shots: make(chan func() *Unsaved, 1),
		failed: func(err error) { failed <- err }, retry: time.Millisecond, done: make(chan struct{}),
	}
	go j.run()
	u := small()
	j.note(func() *Unsaved { return u })
	if err := <-failed; !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	full.Store(false)
	for {
		if got, err := ReadJournal(j.path); err == nil && slices.Equal(mask(got), mask(u)) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := j.close(t.Context(), false); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(j.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal is left: %v", err)
	}
}

// A journal of a large picture does not take the memory of its pixels, because it is written after every decision.
func TestJournalOfLargePicture(t *testing.T) {
	const w, h = 6000, 4500
	doc, err := document.New("/a.png", testpic.Flat(w, h, 1, 100))
	if err != nil {
		t.Fatal(err)
	}
	doc.BeginStroke(document.Brush{Radius: 40, Soft: 0.5}, 3000, 2000)
	doc.EndStroke()
	shot := doc.Snapshot()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := record(shot, "").encode(); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > w*h/8 {
		t.Errorf("%d bytes were allocated for a mask of %d pixels", n, w*h)
	}
}
