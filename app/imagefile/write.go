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
)

// fileSystem is what writing needs of the disk; a seam for tests of disks that fail.
type fileSystem interface {
	// Create makes a new file and fails where there is one.
	Create(path string) (writeFile, error)
	Rename(from, to string) error
	Remove(path string) error
}

type writeFile interface {
	io.WriteCloser
	Sync() error
}

type disk struct{}

func (disk) Create(path string) (writeFile, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}
func (disk) Rename(from, to string) error { return os.Rename(from, to) }
func (disk) Remove(path string) error     { return os.Remove(path) }

// WriteFile writes the file at path: what write gives goes to a new file in the same folder, which takes the place of
// path when it is complete and on the disk. After an error or a cancel path is as it was and nothing else is left.
func WriteFile(ctx context.Context, path string, write func(io.Writer) error) error {
	return writeTo(ctx, disk{}, path, write)
}

func writeTo(ctx context.Context, fsys fileSystem, path string, write func(io.Writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x.tmp", filepath.Base(path), rand.Uint32()))
	file, err := fsys.Create(name)
	if err != nil {
		return writeError(path, err)
	}
	buffer := bufio.NewWriterSize(cancelWriter{ctx, file}, 1<<18)
	err = write(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = fsys.Rename(name, path)
	}
	if err == nil {
		return nil
	}
	if e := fsys.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	if e := ctx.Err(); e != nil {
		return e
	}
	return writeError(path, err)
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

func writeError(path string, err error) error {
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
	var link *os.LinkError
	if errors.As(err, &link) {
		err = link.Err
	}
	return fault(path, ErrWrite, plain(err), "not written", "не записан")
}
