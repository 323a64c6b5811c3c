package imagefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"blik/processing"
)

func TestWindowsErrorsAreNamed(t *testing.T) {
	t.Parallel()
	for number, want := range map[syscall.Errno]string{
		39: "the disk is full", 112: "the disk is full", 1295: "the disk is full", 19: "is read-only",
		223: "no file of this size", 32: "another program has the file open", 1224: "another program has the file open",
		5: "no permission", 3: "does not exist",
	} {
		err := WriteError(`C:\a\b.tif`, &os.PathError{Op: "write", Path: `C:\a\b.tif`, Err: number})
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, want %s", number, err, want)
		}
	}
	plain := errors.New("something else")
	if portable(plain) != plain {
		t.Error("an error without a number was replaced")
	}
}

func TestPhysicalMemory(t *testing.T) {
	t.Parallel()
	m, known := physicalMemory()
	if !known || m.total < 64<<20 || m.available <= 0 || m.available > m.total {
		t.Errorf("%+v, %v", m, known)
	}
}

// Names longer than MAX_PATH, which programs cannot open directly unless their manifest enables long paths.
func TestLongPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 5 {
		dir = filepath.Join(dir, strings.Repeat("long", 20))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.png")
	for _, overwrite := range []bool{false, true} {
		if err := WritePNG(t.Context(), path, WriteOptions{Overwrite: overwrite}, &processing.Picture{Width: 3, Height: 2, Channels: 1, U8: make([]uint8, 6)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(t.Context(), path, DefaultLimits()); err != nil {
		t.Error(err)
	}
}
