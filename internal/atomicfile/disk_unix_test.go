//go:build linux || darwin || freebsd

package atomicfile

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A lock ends when it is closed, even while a child process that is being started still has its descriptor.
func TestLockEndsWithCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for range 2 {
		held, err := Lock(path)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := Lock(path); err == nil {
			second.Close()
			t.Error("locked twice")
		}
		inherited, err := syscall.Dup(int(held.(locked).Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(inherited)
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
