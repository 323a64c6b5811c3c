//go:build unix

package imagefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// A pipe stands for a device such as /dev/null, which a file must not replace.
func TestWriteLeavesDevices(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	testpic.Need(t, syscall.Mkfifo(pipe, 0o600) == nil, "a file system with pipes")
	if err := WriteMask(t.Context(), pipe, WriteOptions{Overwrite: true}, processing.NewMask(1, 1)); !errors.Is(err, ErrWrite) {
		t.Errorf("%v", err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe became %v, %v", info.Mode(), err)
	}
}
