//go:build linux || darwin || freebsd

package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// renamesOpen: files that are open can be renamed.
const renamesOpen = true

// Create implements FileSystem. On Linux the file has no name if the file system supports that, so that nothing is left
// behind when the process is killed.
func (Disk) Create(path string) (File, error) {
	if f := unnamed(filepath.Dir(path)); f != nil {
		return &OSFile{File: f}, nil
	}
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return nil, err
		}
		// Without locks, a leftover is never claimed.
		if err := lock(f); err == nil && !same(f, path) {
			// Another process took the file for a leftover before it was locked.
			f.Close()
			continue
		}
		return &OSFile{File: f, temporary: path}, nil
	}
}

// Sync implements File. Some network file systems report a failure to store a file only on close, so a second
// descriptor is opened and closed.
func (f *OSFile) Sync() error {
	err := f.File.Sync()
	if err != nil {
		return err
	}
	second, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return err
	}
	return syscall.Close(second)
}

// lock locks a file until it is closed. It fails at once if another process has locked it.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			return err
		}
	}
}

// same reports whether path still names an open file.
func same(f *os.File, path string) bool {
	a, errA := f.Stat()
	b, errB := os.Lstat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// Lock makes a file and locks it until it is closed, so that other processes see that this one is running.
func Lock(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, err
	}
	return locked{f}, nil
}

// locked is a file that Lock has locked. Closing the descriptor is not enough: a child process that another goroutine
// starts meanwhile has a copy of it, and with it the lock, until it executes its program.
type locked struct{ *os.File }

func (l locked) Close() error {
	return errors.Join(syscall.Flock(int(l.Fd()), syscall.LOCK_UN), l.File.Close())
}

func (Disk) Claim(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, err
	}
	if !same(f, path) {
		f.Close()
		return nil, os.ErrNotExist
	}
	return f, nil
}

// Free returns the number of bytes that this user can still write in a directory; −1 if the system does not report it.
func (Disk) Free(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || s.Blocks == 0 {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}

// SyncDir implements FileSystem: it fsyncs the directory.
func (Disk) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
