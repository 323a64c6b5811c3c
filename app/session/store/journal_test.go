package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"blik/internal/atomicfile"
	"blik/processing"
)

// A damaged journal is not read.
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
	u := &Unsaved{Path: "/a.png", Width: 2, Height: 1, Mask: []uint8{0, 255}}
	j.note(func() *Unsaved { return u })
	if err := <-failed; !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	full.Store(false)
	for {
		if got, err := ReadJournal(j.path); err == nil && slices.Equal(got.Mask, u.Mask) {
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
