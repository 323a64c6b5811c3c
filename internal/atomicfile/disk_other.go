//go:build !linux && !darwin && !freebsd && !windows

package atomicfile

import (
	"errors"
	"io"
	"os"
)

// renamesOpen: files that are open cannot be renamed here.
const renamesOpen = false

func (Disk) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return &OSFile{File: f, temporary: path}, nil
}

func (f *OSFile) Link(path string) error { return os.Link(f.temporary, path) }

// Claim implements FileSystem: a file that another process has open cannot be distinguished from a leftover here.
func (Disk) Claim(string) (io.Closer, error) { return nil, errors.ErrUnsupported }

// Lock makes a file. Other processes cannot see here whether this one is still running.
func Lock(path string) (io.Closer, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }

// Free returns −1: a full disk is reported only when it is written to.
func (Disk) Free(string) int64 { return -1 }

// SyncDir implements FileSystem: directories cannot be opened for syncing here.
func (Disk) SyncDir(string) error { return errors.ErrUnsupported }
