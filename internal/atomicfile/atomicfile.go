// Package atomicfile writes files that appear under their names either complete or not at all. New files are filled and
// flushed to disk before any of them gets its name, so that a crash or a power cut at any moment leaves the old files
// or the new ones. If several files belong together, a record on disk lists the names still to be given, and Recover
// completes them after a crash.
package atomicfile

import (
	"context"
	"io"
	"io/fs"
	"os"
)

// FileSystem is the part of the file system that writing needs; tests replace it to simulate failing disks.
type FileSystem interface {
	// Create makes a new file, with the given name until it is complete, and locks it. The file may have no name at all
	// until Link gives it one; see File.Temporary.
	Create(path string) (File, error)
	// Stat describes the file at a path, following links; Lstat does not follow.
	Stat(path string) (fs.FileInfo, error)
	Lstat(path string) (fs.FileInfo, error)
	ReadFile(path string) ([]byte, error)
	Rename(from, to string) error
	// Link gives a file a second name and fails if that is taken.
	Link(from, to string) error
	Remove(path string) error
	// List returns the names in a directory that match a pattern.
	List(dir, pattern string) ([]string, error)
	// Claim locks a file left by another process until the Closer is closed. It fails if that process is still running,
	// or if the system cannot tell.
	Claim(path string) (io.Closer, error)
	// SyncDir makes the names in a directory survive a power failure, if the system supports that.
	SyncDir(dir string) error
	// Free returns the number of bytes that can still be written in a directory; −1 if the system does not report it.
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
	// Temporary returns the name under which the file was created; empty if it has none.
	Temporary() string
	// Link gives the file a name, in addition to any it already has, and fails if the name is taken.
	Link(path string) error
}

// Disk is the FileSystem of the operating system. Its Files are *OSFile.
type Disk struct{}

// OSFile is a File of the operating system.
type OSFile struct {
	*os.File
	temporary string
}

func (f *OSFile) Temporary() string { return f.temporary }

func (Disk) Stat(path string) (fs.FileInfo, error)  { return os.Stat(path) }
func (Disk) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }
func (Disk) ReadFile(path string) ([]byte, error)   { return os.ReadFile(path) }

func (Disk) Rename(from, to string) error {
	return patiently(func() error { return os.Rename(from, to) })
}

func (Disk) Link(from, to string) error {
	return patiently(func() error { return os.Link(from, to) })
}

func (Disk) Remove(path string) error {
	return patiently(func() error { return os.Remove(path) })
}

// WriteFile replaces the file at path with one that has the given content and permissions.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	return Replace(Disk{}, path, data, mode)
}

// Replace is WriteFile on a file system.
func Replace(fsys FileSystem, path string, data []byte, mode fs.FileMode) error {
	return Target{FS: fsys, Path: path, Overwrite: true}.Write(context.Background(), func(f File) error {
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
	// Keep, if not empty, is an additional name for the file to be replaced. It must be in the same directory and not
	// in use.
	Keep string
}

// Write creates the file in its own transaction; see Transaction.Add.
func (t Target) Write(ctx context.Context, fill, check func(File) error) error {
	tx := Begin(t.FS)
	defer tx.Close()
	if err := tx.Add(ctx, t, fill, check); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
