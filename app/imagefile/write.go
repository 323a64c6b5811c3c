package imagefile

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"blik/app/imagefile/container"
	"blik/app/imagefile/png"
	"blik/internal/atomicfile"
	"blik/internal/message"
	"blik/processing"
)

// WriteOptions determine which file may be replaced, and the permissions of the new one.
type WriteOptions struct {
	// Overwrite permits replacing an existing file; without it one is ErrExists.
	Overwrite bool
	// Expect is the State that a file to be replaced must have; one in another state is ErrForeign. Empty allows any.
	Expect string
	// Like is a file whose permissions and access control list the new one gets; with nil it gets the system's
	// defaults.
	Like *File
}

// Outputs are files that belong together: either all of them get their names, or none.
type Outputs struct {
	fsys atomicfile.FileSystem
	tx   *atomicfile.Transaction
	// after runs once the files have their names.
	after []func()
	// sums are the SHA-256 of the files that Add has written, in hexadecimal.
	sums map[string]string
}

// Begin starts a set of files, which Add and AddPicture write and Commit names. The caller must call Close.
func Begin() *Outputs { return begin(atomicfile.Disk{}) }

func begin(fsys atomicfile.FileSystem) *Outputs {
	return &Outputs{fsys: fsys, tx: atomicfile.Begin(fsys), sums: map[string]string{}}
}

// Add writes a file that Commit names path. The errors are those of AddPicture.
func (o *Outputs) Add(ctx context.Context, path string, options WriteOptions, write func(io.Writer) error) error {
	target, there, err := replaceable(o.fsys, path)
	if err == nil {
		err = permitted(path, there, options.Overwrite, options.Expect)
	}
	if err != nil {
		return err
	}
	result := atomicfile.Target{FS: o.fsys, Path: target, Overwrite: options.Overwrite}
	sum := sha256.New()
	err = o.add(ctx, result, func(file atomicfile.File) error {
		if options.Like != nil {
			keepAccess(file, options.Like)
		}
		return throughBuffer(ctx, io.MultiWriter(file, sum), write)
	}, nil)
	if err == nil {
		o.sums[path] = hex.EncodeToString(sum.Sum(nil))
	}
	return err
}

// SHA256 returns the hexadecimal SHA-256 of a file that Add has written; empty for any other.
func (o *Outputs) SHA256(path string) string { return o.sums[path] }

// add writes a new file and describes what went wrong.
func (o *Outputs) add(ctx context.Context, target atomicfile.Target, fill, check func(atomicfile.File) error) error {
	return described(ctx, target.Path, o.tx.Add(ctx, target, fill, check))
}

// described returns the error for a file that could not be written.
func described(ctx context.Context, path string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if of, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrExist) {
		path = of.Path
	}
	return WriteError(path, err)
}

// Commit gives all files their names, the one that was added first last. Until then the commit is recorded on disk, so
// that Recover completes it if the process is killed. path is the file named in errors.
func (o *Outputs) Commit(ctx context.Context, path string) error {
	if err := described(ctx, path, o.tx.Commit(ctx)); err != nil {
		return err
	}
	for _, do := range o.after {
		do()
	}
	return nil
}

// Close ends the set; without Commit it removes all the files.
func (o *Outputs) Close() { _ = o.tx.Close() }

// About says what the files are about, for the run that completes the commit if this process is killed.
func (o *Outputs) About(what string) { o.tx.About = what }

// Recover completes the committed writes of killed processes in a folder and removes their temporary files. Folders
// that cannot be read or written are skipped.
func Recover(dir string) { _ = atomicfile.Recover(atomicfile.Disk{}, dir) }

// WriteFile writes the file at path atomically: write fills a new file in the same folder, which gets its name once it
// is complete and on disk. After an error or a cancel, path is unchanged and no other file is left. The errors are
// those of AddPicture. A symbolic link stays a link, and is followed only within its folder.
func WriteFile(ctx context.Context, path string, o WriteOptions, write func(io.Writer) error) error {
	return writeTo(ctx, atomicfile.Disk{}, path, o, write)
}

func writeTo(
	ctx context.Context, fsys atomicfile.FileSystem, path string, o WriteOptions, write func(io.Writer) error,
) error {
	out := begin(fsys)
	defer out.Close()
	if err := out.Add(ctx, path, o, write); err != nil {
		return err
	}
	return out.Commit(ctx, path)
}

// State identifies a file and its content: it changes whenever the file is written to or replaced. It is empty if no
// file exists.
func State(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fullState(info)
}

func fullState(info fs.FileInfo) string {
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano(), stateOf(info))
}

// permitted refuses to replace an existing file at path (nil for none) without permission.
func permitted(path string, there fs.FileInfo, overwrite bool, expect string) error {
	switch {
	case there == nil:
		return nil
	case !overwrite:
		return existsError(path)
	case expect != "" && fullState(there) != expect:
		return fault(path, ErrForeign, nil, "not written: another program has changed the file since it was saved")
	}
	return nil
}

func throughBuffer(ctx context.Context, file io.Writer, write func(io.Writer) error) error {
	buffer := bufio.NewWriterSize(cancelWriter{ctx, file}, 1<<18)
	if err := write(buffer); err != nil {
		return err
	}
	return buffer.Flush()
}

// replaceable returns the path that a new file at path would replace, and its current state, nil if no file exists. A
// symbolic link stays a link: its target in the same folder is replaced. Links that lead out of the folder, devices,
// pipes and folders are refused.
func replaceable(fsys atomicfile.FileSystem, path string) (string, fs.FileInfo, error) {
	there, err := fsys.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil, nil
	case err != nil:
		return "", nil, WriteError(path, err)
	}
	resolved := path
	if there.Mode()&fs.ModeSymlink != 0 {
		if there, err = fsys.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return "", nil, existsError(path) // a dangling link
		} else if err != nil {
			return "", nil, WriteError(path, err)
		}
		if resolved, err = filepath.EvalSymlinks(path); err != nil {
			return "", nil, WriteError(path, err)
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", nil, WriteError(path, err)
		}
		if absolute(filepath.Dir(resolved)) != absolute(dir) {
			return "", nil, fault(path, ErrWrite, nil, "not written: this is a link to %s, in another folder", resolved)
		}
	}
	if !there.Mode().IsRegular() {
		return "", nil, fault(path, ErrWrite, nil, "not written: this is not a file")
	}
	return resolved, there, nil
}

// absolute returns the absolute form of a path, or the path itself if the current folder is unknown.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func existsError(path string) error {
	return fault(path, ErrExists, nil, "a file with this name already exists")
}

// WritePNG writes p, grey or RGB of 8 or 16 bits, as PNG of the same depth.
func WritePNG(ctx context.Context, path string, o WriteOptions, p *processing.Picture) error {
	out := Begin()
	defer out.Close()
	if err := out.AddPNG(ctx, path, o, p); err != nil {
		return err
	}
	return out.Commit(ctx, path)
}

// AddPNG adds the output of WritePNG to the set.
func (o *Outputs) AddPNG(ctx context.Context, path string, options WriteOptions, p *processing.Picture) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if p.F32 != nil {
		return errors.New("PNG holds no floating-point samples")
	}
	return o.Add(ctx, path, options, func(w io.Writer) error { return png.Encode(ctx, w, p, container.Metadata{}) })
}

// cancelWriter is a writer that fails once its context ends.
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

// WriteError returns the *Error for a failure to write path; an existing *Error is returned unchanged.
func WriteError(path string, err error) error {
	if made, ok := errors.AsType[*Error](err); ok {
		return made
	}
	dir := filepath.Dir(path)
	switch err = portable(err); {
	case errors.Is(err, fs.ErrExist):
		return existsError(path)
	case errors.Is(err, syscall.EBUSY):
		return fault(path, ErrWrite, nil, "not written: another program has the file open")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault(path, ErrFull, nil, "not written: the disk is full")
	case errors.Is(err, syscall.EFBIG):
		return fault(path, ErrWrite, nil, "not written: the system allows no file of this size")
	case errors.Is(err, syscall.EROFS):
		return fault(path, ErrWrite, nil, "not written: the folder %s is read-only", dir)
	case errors.Is(err, fs.ErrPermission):
		return fault(path, fs.ErrPermission, nil, "not written: no permission to write in the folder %s", dir)
	case errors.Is(err, fs.ErrNotExist):
		return fault(path, ErrWrite, nil, "not written: the folder %s does not exist", dir)
	}
	if clause, ok := errors.AsType[*container.Fault](err); ok {
		return fault(path, clause.Kind, nil, "not written: %s", clause.Text)
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		err = link.Err
	}
	return fault(path, ErrWrite, message.Plain(err), "not written")
}
