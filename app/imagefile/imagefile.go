// Package imagefile reads and writes files of pictures and masks.
//
// Read and ReadMask are the only ways in. Save is the way out for a picture that was read: nothing differs from the
// source but the pixels of its patches, and Verify proves it. WriteFile and the functions built on it write everything
// else. The containers themselves are packages tiff, png and jpeg beside this one.
//
// Nothing is trusted: sizes are checked against Limits, against the length of the file and against free memory before
// pixels are allocated, and a fault becomes one sentence that names the file (Error). No file is ever left half
// written.
package imagefile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"blik/app/colour"
	"blik/app/imagefile/container"
	"blik/processing"
)

// File is a decoded picture file.
type File struct {
	Path   string
	Format Format
	// Depth is the bits of a sample in the file: 1, 2, 4, 8 or 16. The picture has 8 or 16.
	Depth int
	// Orientation is that of EXIF, 1…8; 1 where the file says nothing. The picture's rows are those of the file:
	// showing it upright is up to who shows it.
	Orientation int
	// Info is the header of the container, including metadata.
	Info container.Info
	// Picture has 1 channel where the file is grey, 4 where it is CMYK, and else 3. Alpha is left out and colour
	// samples stay as they are stored.
	Picture *processing.Picture
	// Profile says what the samples mean: the file's own profile, or what is assumed without one.
	Profile *colour.Profile
	// Size and Modified are those of the file when it was read; Save knows by them whether it still is that file.
	Size     int64
	Modified time.Time
	// Mode are its permissions.
	Mode fs.FileMode
	// state changes whenever the file is written to, whatever its times are set to; empty where the system does not
	// tell.
	state string
}

// ProfileName returns the description of the file's colour profile, empty where it has none.
func (f *File) ProfileName() string {
	if f.Info.Meta.ICC == nil || f.Profile == nil {
		return ""
	}
	return f.Profile.Name
}

// Limits bound what a file may ask for.
type Limits struct {
	// Pixels is the largest Width·Height.
	Pixels int64
	// Bytes bounds the memory for the samples and what decoding needs besides. Whatever it allows, more than the
	// machine has available is refused.
	Bytes int64
	// Work is what is done with the picture once it is read, in bytes a pixel; a picture for which the memory would
	// then not be enough is refused at once.
	Work int64
}

// DefaultLimits returns 10⁹ pixels, and three quarters of the machine's memory (where it does not tell: 16 GiB).
func DefaultLimits() Limits {
	l := Limits{Pixels: 1e9, Bytes: 16 << 30}
	if m := machineMemory(); m.total > 0 {
		l.Bytes = m.total / 4 * 3
	}
	return l
}

// Read decodes the picture in the file at path. It returns the context's error soon after a cancel, and for anything
// wrong with the file an *Error.
func Read(ctx context.Context, path string, limits Limits) (*File, error) {
	return runCancellable(ctx, func() (*File, error) {
		return read(ctx, path, limits, nil)
	})
}

// abandon runs f and stops waiting for it when ctx is cancelled: decoders check the context only between reads,
// which may take long. f must return soon after that, and its result is dropped.
func runCancellable[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := f()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}

// read does the work of Read; accept, if not nil, may refuse the file by its header.
func read(ctx context.Context, path string, limits Limits, accept func(container.Info) error) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, info, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f := &File{Path: path, Size: info.Size(), Modified: info.ModTime(), Mode: info.Mode().Perm(), state: stateOf(info)}
	if err := f.decode(ctx, cancelReader{ctx, file}, limits, accept); err != nil {
		return nil, err
	}
	return f, nil
}

// decode reads header and picture of f, which lie in r.
func (f *File) decode(ctx context.Context, r io.ReaderAt, limits Limits, accept func(container.Info) error) error {
	format, opened, err := open(r, f.Size)
	f.Format = format
	if err != nil {
		return f.fault(ctx, err)
	}
	f.Info = opened.Info()
	f.Depth, f.Orientation = f.Info.Depth, f.Info.Meta.Orientation
	if f.Orientation < 1 || f.Orientation > 8 {
		f.Orientation = 1
	}
	if accept != nil {
		err = accept(f.Info)
	}
	if err == nil {
		err = check(f.Info, limits, f.Size, machineMemory().available)
	}
	if err == nil {
		f.Picture, err = opened.Decode(ctx)
	}
	if err != nil {
		return f.fault(ctx, err)
	}
	if icc := f.Info.Meta.ICC; icc != nil {
		if _, err := colour.FromICC(icc); err != nil {
			f.Info.Warnings = append(f.Info.Warnings, container.DamagedProfile())
		}
	}
	f.Profile = profileOf(f.Info, f.Picture)
	f.Picture.Curve, f.Picture.ToSRGB = f.Profile.Curve(), f.Profile.ToSRGB()
	return nil
}

// profileOf returns what the samples mean. A profile that is damaged, or of another colour model than the picture,
// counts as none.
func profileOf(info container.Info, pic *processing.Picture) *colour.Profile {
	if icc := info.Meta.ICC; icc != nil {
		if p, err := colour.FromICC(icc); err == nil {
			return p.For(pic.Channels)
		}
	}
	if info.Gamma > 0 {
		if p, err := colour.FromGamma(pic.Channels, 1/info.Gamma); err == nil {
			return p
		}
	}
	return colour.FromPicture(pic)
}

// cancelReader is a file that stops giving data when its context ends.
type cancelReader struct {
	ctx context.Context
	r   io.ReaderAt
}

func (c cancelReader) ReadAt(p []byte, off int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.ReadAt(p, off)
}

func openError(path string, err error) error {
	switch {
	case IsNotExist(err):
		return fault(path, fs.ErrNotExist, nil, "no such file")
	case errors.Is(err, fs.ErrPermission):
		return fault(path, fs.ErrPermission, nil, "no permission to read the file")
	}
	return fault(path, err, plain(err), "the file cannot be opened")
}
