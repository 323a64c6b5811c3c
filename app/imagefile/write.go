package imagefile

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"blik/app/imagefile/container"
	"blik/app/imagefile/png"
	"blik/internal/atomicfile"
	"blik/processing"
)

// WriteFile writes the file at path: what write gives goes to a new file in the same folder, which takes the place of
// path when it is complete and on the disk. After an error or a cancel path is as it was and nothing else is left. The
// errors are those of Save; a symbolic link stays one.
func WriteFile(ctx context.Context, path string, write func(io.Writer) error) error {
	return writeTo(ctx, atomicfile.Disk{}, path, write)
}

func writeTo(ctx context.Context, fsys atomicfile.FileSystem, path string, write func(io.Writer) error) error {
	path, _, err := replaceable(path)
	if err != nil {
		return err
	}
	return place(ctx, atomicfile.Target{FS: fsys, Path: path, Overwrite: true}, func(file atomicfile.File) error {
		return throughBuffer(ctx, file, write)
	}, nil)
}

// place writes a new file and describes what went wrong.
func place(ctx context.Context, target atomicfile.Target, fill, check func(atomicfile.File) error) error {
	err := target.Write(ctx, fill, check)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return writeError(target.Path, err)
}

func throughBuffer(ctx context.Context, file atomicfile.File, write func(io.Writer) error) error {
	buffer := bufio.NewWriterSize(cancelWriter{ctx, file}, 1<<18)
	if err := write(buffer); err != nil {
		return err
	}
	return buffer.Flush()
}

// replaceable returns the file that a new one at path would replace, and its current state, nil where none exists. A
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
		return "", nil, fault(path, ErrWrite, nil, "not written: this is not a file")
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil, writeError(path, err)
	}
	return resolved, there, nil
}

func existsError(path string) error {
	return fault(path, ErrExists, nil, "a file with this name already exists")
}

// WritePNG writes p, grey or RGB of 8 or 16 bits, as PNG of the same depth.
func WritePNG(ctx context.Context, path string, p *processing.Picture) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if p.F32 != nil {
		return errors.New("PNG holds no floating-point samples")
	}
	return WriteFile(ctx, path, func(w io.Writer) error { return png.Encode(ctx, w, p, container.Metadata{}) })
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
	case errors.Is(err, fs.ErrExist):
		return existsError(path)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault(path, ErrWrite, nil, "not written: the disk is full")
	case errors.Is(err, syscall.EFBIG):
		return fault(path, ErrWrite, nil, "not written: the system allows no file of this size")
	case errors.Is(err, syscall.EROFS):
		return fault(path, ErrWrite, nil, "not written: the folder %s is read-only", dir)
	case errors.Is(err, fs.ErrPermission):
		return fault(path, fs.ErrPermission, nil, "not written: no permission to write in the folder %s", dir)
	case errors.Is(err, fs.ErrNotExist):
		return fault(path, ErrWrite, nil, "not written: the folder %s does not exist", dir)
	}
	var clause *container.Fault
	if errors.As(err, &clause) {
		return fault(path, clause.Kind, nil, "not written: %s", clause.Text)
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		err = link.Err
	}
	return fault(path, ErrWrite, plain(err), "not written")
}
