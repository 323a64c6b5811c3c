// Package atomicfile writes files that appear under their name complete or not at all: a new file in the same directory
// is filled, flushed to disk and then renamed, so that a crash at any moment leaves the old content or the new.
package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// FileSystem is what writing needs of the disk; a seam for tests of disks that fail.
type FileSystem interface {
	// Create makes a new file and fails if it exists.
	Create(path string) (File, error)
	Rename(from, to string) error
	// Link gives a file a second name and fails if that is taken.
	Link(from, to string) error
	Remove(path string) error
	// SyncDir makes renames in a directory survive a power failure, where the system can.
	SyncDir(dir string)
	// Free returns the bytes that may still be written in a directory; −1 where the system does not report it.
	Free(dir string) int64
}

// File is a file being written.
type File interface {
	io.WriteCloser
	io.ReaderAt
	io.WriterAt
	Stat() (fs.FileInfo, error)
	Chmod(fs.FileMode) error
	Sync() error
}

// Disk is the FileSystem of the operating system. Its Files are *os.File.
type Disk struct{}

// Create implements FileSystem.
func (Disk) Create(path string) (File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// Rename implements FileSystem.
func (Disk) Rename(from, to string) error { return os.Rename(from, to) }

// Link implements FileSystem.
func (Disk) Link(from, to string) error { return os.Link(from, to) }

// Remove implements FileSystem.
func (Disk) Remove(path string) error { return os.Remove(path) }

// WriteFile replaces the file at path by one with the given content and permissions.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	return Target{FS: Disk{}, Path: path, Overwrite: true}.Write(context.Background(), func(f File) error {
		// File systems without permissions refuse to set them.
		_ = f.Chmod(mode)
		_, err := f.Write(data)
		return err
	}, nil)
}

// Target is where a new file goes.
type Target struct {
	FS   FileSystem
	Path string
	// Overwrite permits replacing an existing file.
	Overwrite bool
}

// Write creates the file under a temporary name in the same directory, which fill writes. While the system flushes it
// to disk check, which may be nil, may inspect and reject it. Only then does the file get its name, in one step. A
// process that is killed leaves at most the temporary file, and an error not even that.
//
// Errors are those of the file system, of fill and check, or of ctx. A name taken in the meantime is fs.ErrExist.
func (t Target) Write(ctx context.Context, fill, check func(File) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := filepath.Dir(t.Path)
	// The name is short whatever that of the file is, because the length of names is limited.
	temporary := filepath.Join(dir, fmt.Sprintf(".blik-%016x.tmp", rand.Uint64()))
	file, err := t.FS.Create(temporary)
	if err != nil {
		return err
	}
	err = fill(file)
	if err == nil {
		synced := make(chan error, 1)
		go func() { synced <- file.Sync() }()
		var rejected error
		if check != nil {
			rejected = check(file)
		}
		if err = <-synced; rejected != nil {
			err = rejected
		}
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = t.publish(temporary)
	}
	if err == nil {
		t.FS.SyncDir(dir)
		return nil
	}
	if e := t.FS.Remove(temporary); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	if e := ctx.Err(); e != nil {
		return e
	}
	return err
}

// publish gives the finished file its name. Without Overwrite a hard link is what fails if the name was taken in the
// meantime; file systems without links leave a moment between looking and renaming.
func (t Target) publish(temporary string) error {
	if t.Overwrite {
		return t.FS.Rename(temporary, t.Path)
	}
	err := t.FS.Link(temporary, t.Path)
	if err == nil {
		// A second name that cannot be removed does no harm.
		_ = t.FS.Remove(temporary)
		return nil
	}
	if _, e := os.Lstat(t.Path); e == nil || errors.Is(err, fs.ErrExist) {
		return &fs.PathError{Op: "create", Path: t.Path, Err: fs.ErrExist}
	}
	return t.FS.Rename(temporary, t.Path)
}
