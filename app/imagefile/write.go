package imagefile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"

	"blik/app/imagefile/codec"
	"blik/app/imagefile/png"
	"blik/processing"
)

// fileSystem is what writing needs of the disk; a seam for tests of disks that fail.
type fileSystem interface {
	// Create makes a new file and fails where there is one.
	Create(path string) (writeFile, error)
	Rename(from, to string) error
	// Link gives a file a second name and fails where that is taken.
	Link(from, to string) error
	Remove(path string) error
	// SyncFolder makes the names in a folder last through a power cut, where the system can.
	SyncFolder(dir string)
	// Free returns the bytes that may still be written in a folder; −1 where the system does not tell.
	Free(dir string) int64
}

type writeFile interface {
	io.WriteCloser
	io.ReaderAt
	io.WriterAt
	Stat() (fs.FileInfo, error)
	Chmod(fs.FileMode) error
	Sync() error
}

type disk struct{}

func (disk) Create(path string) (writeFile, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}
func (disk) Rename(from, to string) error { return os.Rename(from, to) }
func (disk) Link(from, to string) error   { return os.Link(from, to) }
func (disk) Remove(path string) error     { return os.Remove(path) }
func (disk) SyncFolder(dir string)        { syncFolder(dir) }
func (disk) Free(dir string) int64        { return freeSpace(dir) }

// WriteFile writes the file at path: what write gives goes to a new file in the same folder, which takes the place of
// path when it is complete and on the disk. After an error or a cancel path is as it was and nothing else is left. The
// errors are those of Save; a symbolic link stays one.
func WriteFile(ctx context.Context, path string, write func(io.Writer) error) error {
	return writeTo(ctx, disk{}, path, write)
}

func writeTo(ctx context.Context, fsys fileSystem, path string, write func(io.Writer) error) error {
	path, _, err := replaceable(path)
	if err != nil {
		return err
	}
	return place{fsys: fsys, path: path, overwrite: true}.write(ctx, func(file writeFile) error {
		return throughBuffer(ctx, file, write)
	}, nil)
}

func throughBuffer(ctx context.Context, file writeFile, write func(io.Writer) error) error {
	buffer := bufio.NewWriterSize(cancelWriter{ctx, file}, 1<<18)
	if err := write(buffer); err != nil {
		return err
	}
	return buffer.Flush()
}

// place is where a new file goes.
type place struct {
	fsys fileSystem
	path string
	// overwrite lets it take the place of a file that is there.
	overwrite bool
}

// write makes the file under a name of its own in the same folder: fill writes it, and while the system brings it to the
// disk check, which may be nil, may look at it and refuse it. Only then it gets its name, in one step. A program that is
// killed leaves at most the file with the name of its own, which nothing minds.
func (p place) write(ctx context.Context, fill, check func(writeFile) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := filepath.Dir(p.path)
	// The name is short whatever that of the file is, since names have a longest.
	name := filepath.Join(dir, fmt.Sprintf(".blik-%016x.tmp", rand.Uint64()))
	file, err := p.fsys.Create(name)
	if err != nil {
		return writeError(p.path, err)
	}
	err = fill(file)
	if err == nil {
		synced := make(chan error, 1)
		go func() { synced <- file.Sync() }()
		var refused error
		if check != nil {
			refused = check(file)
		}
		if err = <-synced; refused != nil {
			err = refused
		}
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = p.name(name)
	}
	if err == nil {
		p.fsys.SyncFolder(dir)
		return nil
	}
	if e := p.fsys.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	if e := ctx.Err(); e != nil {
		return e
	}
	return writeError(p.path, err)
}

// name gives the finished file its name. Where it may not overwrite, a link is what fails if somebody took the name in the
// meantime; file systems without links leave a moment between looking and renaming.
func (p place) name(temporary string) error {
	if p.overwrite {
		return p.fsys.Rename(temporary, p.path)
	}
	err := p.fsys.Link(temporary, p.path)
	if err == nil {
		// A second name that cannot be removed does no harm.
		_ = p.fsys.Remove(temporary)
		return nil
	}
	if _, e := os.Lstat(p.path); e == nil || errors.Is(err, fs.ErrExist) {
		return existsError(p.path)
	}
	return p.fsys.Rename(temporary, p.path)
}

// replaceable returns the file whose place a new one at path would take, and what is there now, nil where nothing is. A
// symbolic link stays what it is: the file that it names is meant. Devices, pipes and folders are refused.
func replaceable(path string) (string, fs.FileInfo, error) {
	there, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return "", nil, existsError(path) // a link to nowhere
		}
		return path, nil, nil
	case err != nil:
		return "", nil, writeError(path, err)
	case !there.Mode().IsRegular():
		return "", nil, fault(path, ErrWrite, nil, "not written: this is not a file", "не записан: это не файл")
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil, writeError(path, err)
	}
	return resolved, there, nil
}

func existsError(path string) error {
	return fault(path, ErrExists, nil, "a file of this name is there already", "файл с таким именем уже есть")
}

// WritePNG writes p, grey or RGB of 8 or 16 bits, as PNG of the same depth.
func WritePNG(ctx context.Context, path string, p *processing.Picture) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if p.F32 != nil {
		return errors.New("PNG holds no floating-point samples")
	}
	return WriteFile(ctx, path, func(w io.Writer) error { return png.Encode(ctx, w, p, codec.Metadata{}) })
}

// cancelWriter stops a long write when its context ends.
type cancelWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c cancelWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// writeError makes the sentence for whatever went wrong while path was written; one that is made already stays.
func writeError(path string, err error) error {
	var made *Error
	if errors.As(err, &made) {
		return made
	}
	dir := filepath.Dir(path)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault(path, ErrWrite, nil, "not written: the disk is full", "не записан: диск заполнен")
	case errors.Is(err, syscall.EFBIG):
		return fault(path, ErrWrite, nil, "not written: the system allows no file of this size", "не записан: система не допускает файлов такого размера")
	case errors.Is(err, syscall.EROFS):
		return fault(path, ErrWrite, nil, fmt.Sprintf("not written: the folder %s is read-only", dir),
			fmt.Sprintf("не записан: папка %s доступна только для чтения", dir))
	case errors.Is(err, fs.ErrPermission):
		return fault(path, fs.ErrPermission, nil, fmt.Sprintf("not written: no permission to write in the folder %s", dir),
			fmt.Sprintf("не записан: нет прав на запись в папку %s", dir))
	case errors.Is(err, fs.ErrNotExist):
		return fault(path, ErrWrite, nil, fmt.Sprintf("not written: the folder %s does not exist", dir),
			fmt.Sprintf("не записан: папки %s нет", dir))
	}
	var clause *codec.Fault
	if errors.As(err, &clause) {
		return fault(path, clause.Kind, nil, "not written: "+clause.Text.EN, "не записан: "+clause.Text.In("ru"))
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		err = link.Err
	}
	return fault(path, ErrWrite, plain(err), "not written", "не записан")
}
