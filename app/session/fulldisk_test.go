package session_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/session/store"
	"blik/internal/atomicfile"
	"blik/internal/test/testpic"
	"blik/processing"
)

// filling is a disk that is full while full is set.
type filling struct {
	atomicfile.Disk
	full *atomic.Bool
}

func (d filling) Create(path string) (atomicfile.File, error) {
	f, err := d.Disk.Create(path)
	return fillingFile{f, d.full}, err
}

type fillingFile struct {
	atomicfile.File
	full *atomic.Bool
}

func (f fillingFile) Write(p []byte) (int, error) {
	if f.full.Load() {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return f.File.Write(p)
}

// paintAt marks a pixel and its surroundings.
func (f *fake) paintAt(x, y float64) {
	f.BeginStroke(document.Brush{Radius: 2}, processing.Point{X: x, Y: y})
	f.EndStroke()
}

// fault runs callbacks until a fault is reported, clears the list of changes, and returns the fault.
func (f *fake) fault() (err error) {
	f.until(func() bool {
		for _, c := range f.changes {
			if c.Fault != nil {
				err = c.Fault
			}
		}
		return err != nil
	})
	f.changes = nil
	return err
}

// faults returns the number of faults reported so far.
func (f *fake) faults() (n int) {
	for _, c := range f.changes {
		if c.Fault != nil {
			n++
		}
	}
	return n
}

// maskIn returns the mask in a journal.
func maskIn(u *store.Unsaved) []uint8 {
	var w document.Work
	w.Unpack(u.Masks, u.Width, u.Height)
	return w.Mask.Pix
}

// awaitMask waits until the only journal in a folder holds a mask.
func awaitMask(t *testing.T, dir string, mask []uint8) {
	t.Helper()
	path := journals(t, dir, 1)[0]
	for {
		u, err := store.ReadJournal(path)
		if err != nil {
			t.Fatalf("half a journal: %v", err)
		}
		if bytes.Equal(maskIn(u), mask) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// If the disk is full, that is reported once, work and older journal are kept, and the journal is written when there is
// room again.
func TestJournalOnFullDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "unsaved")
	var full atomic.Bool
	f := keepingOn(t, filling{full: &full}, dir).opened("/a.png")
	f.paintAt(5, 5)
	before := bytes.Clone(f.Document().Mask().Pix)
	awaitMask(t, dir, before)
	for x := range 2 {
		full.Store(true)
		f.paintAt(20+float64(8*x), 10)
		err := f.fault()
		if !errors.Is(err, imagefile.ErrFull) || !strings.HasPrefix(err.Error(), "save your work; ") {
			t.Fatalf("reported %v", err)
		}
		awaitMask(t, dir, before)
		f.paintAt(10, 20-float64(8*x))
		if f.Document().Mask().Pix[(20-8*x)*40+10] == 0 {
			t.Error("the stroke is lost")
		}
		// The journal was written, so the next failure is reported again. Failures before that were reported already.
		full.Store(false)
		f.paintAt(30, 25-float64(8*x))
		before = bytes.Clone(f.Document().Mask().Pix)
		awaitMask(t, dir, before)
		if n := f.faults(); n != 0 {
			t.Errorf("reported %d times more", n)
		}
	}
}

// The same on a disk that really is full, if the test may create one.
func TestJournalOnSmallDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	mount := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk)
	testpic.Need(t, mount.Run() == nil, "the right to mount (TestJournalOnFullDisk does with a failing disk)")
	t.Cleanup(func() { exec.Command("umount", "-l", disk).Run() })
	dir, filler := filepath.Join(disk, "unsaved"), filepath.Join(disk, "filler")
	f := keeping(t, dir).opened("/a.png")
	f.paintAt(5, 5)
	before := bytes.Clone(f.Document().Mask().Pix)
	awaitMask(t, dir, before)
	if err := os.WriteFile(filler, make([]byte, 128<<10), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk does not fill: %v", err)
	}
	f.paintAt(20, 10)
	if err := f.fault(); !errors.Is(err, imagefile.ErrFull) {
		t.Errorf("reported %v", err)
	}
	awaitMask(t, dir, before)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	f.paintAt(30, 20)
	awaitMask(t, dir, bytes.Clone(f.Document().Mask().Pix))
}
