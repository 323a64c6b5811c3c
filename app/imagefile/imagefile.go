// Package imagefile reads and writes files of pictures and masks.
//
// Only Read and ReadMask read files. Outputs.AddPicture saves a picture that was read: only the pixels of its patches
// differ from the source, and Compare proves it. WriteFile and the functions built on it write everything else. The
// containers themselves are in the packages tiff, png and jpeg.
//
// File contents are not trusted: sizes are checked against Limits, the length of the file and free memory before pixels
// are allocated, and a fault becomes one sentence that names the file (Error). Files are written atomically.
package imagefile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"blik/app/colour"
	"blik/app/imagefile/container"
	"blik/internal/message"
	"blik/processing"
)

// File is a decoded picture file.
type File struct {
	Path   string
	Format Format
	// Depth is the bits of a sample in the file: 1, 2, 4, 8 or 16. The picture has 8 or 16.
	Depth int
	// Orientation is the EXIF orientation, 1…8; 1 if the file has none. The picture's rows are those of the file: the
	// caller has to rotate it for display.
	Orientation int
	// Info is the header of the container, including metadata.
	Info container.Info
	// Picture has 1 channel for grey files, 4 for CMYK, and otherwise 3. It excludes alpha, and colour samples stay as
	// they are stored.
	// If Limits.Work says that it will be processed, it knows its wholly transparent pixels (Hidden).
	Picture *processing.Picture
	// Profile defines the meaning of the samples: the file's own profile, or the assumed one.
	Profile *colour.Profile
	// Size and Modified are those of the file when it was read; AddPicture uses them to detect changes.
	Size     int64
	Modified time.Time
	// Mode holds its permissions.
	Mode fs.FileMode
	// container decoded the picture; the file that it read from may be closed.
	container container.Container
	// state changes whenever the file is written to, whatever its times are set to; empty if the system does not report
	// it.
	state string
}

// ProfileName returns the description of the file's colour profile, empty where it has none.
func (f *File) ProfileName() string {
	if f.Info.Meta.ICC == nil || f.Profile == nil {
		return ""
	}
	return f.Profile.Name
}

// Limits bound the resources that a file may need.
type Limits struct {
	// Pixels is the largest Width·Height.
	Pixels int64
	// Bytes bounds the memory for the samples and for decoding. In any case, more than the machine has available is
	// refused.
	Bytes int64
	// Work is the memory needed to process the picture after reading, in bytes per pixel; a picture for which the
	// memory would then not be sufficient is refused at once.
	Work int64
}

// DefaultLimits returns 10⁹ pixels, and three quarters of the machine's memory (16 GiB if unknown).
func DefaultLimits() Limits {
	l := Limits{Pixels: 1e9, Bytes: 16 << 30}
	if m := machineMemory(); m.total > 0 {
		l.Bytes = m.total / 4 * 3
	}
	return l
}

// Read decodes the picture in the file at path. It returns the context's error soon after a cancel, and an *Error for
// any fault of the file.
func Read(ctx context.Context, path string, limits Limits) (*File, error) {
	return runCancellable(ctx, func() (*File, error) {
		return read(ctx, path, limits, nil, func(f *File, r io.ReaderAt) error {
			if limits.Work == 0 {
				return nil
			}
			return f.hide(ctx, r)
		})
	})
}

// runCancellable runs f and stops waiting for it when ctx is cancelled: decoders check the context only between reads,
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

// read does the work of Read; accept, if not nil, may refuse the file by its header. more reads what else is needed.
func read(
	ctx context.Context, path string, limits Limits, accept func(container.Info) error,
	more func(f *File, r io.ReaderAt) error,
) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, info, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f := newFile(path, info)
	r := cancelReader{ctx, file}
	if err := f.decode(ctx, r, limits, accept); err != nil {
		return nil, err
	}
	if err := more(f, r); err != nil {
		return nil, f.fault(ctx, err)
	}
	return f, nil
}

// opacity returns the opacity of the pixels, as container.OpacityDecoder does.
func (f *File) opacity(ctx context.Context, r io.ReaderAt) ([]uint8, error) {
	_, opened, err := open(r, f.Size)
	if err != nil {
		return nil, err
	}
	transparent, ok := opened.(container.OpacityDecoder)
	if !ok {
		return nil, nil
	}
	return transparent.Opacity(ctx)
}

func newFile(path string, info fs.FileInfo) *File {
	return &File{
		Path: path, Size: info.Size(), Modified: info.ModTime(), Mode: info.Mode().Perm(), state: stateOf(info),
	}
}

// decode reads header and picture of f from r.
func (f *File) decode(ctx context.Context, r io.ReaderAt, limits Limits, accept func(container.Info) error) error {
	format, opened, err := open(r, f.Size)
	f.Format = format
	if err != nil {
		return f.fault(ctx, err)
	}
	f.Info, f.container = opened.Info(), opened
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
	if t, ok := opened.(container.Trailer); ok {
		n, err := t.Trailing(ctx)
		if err != nil {
			return f.fault(ctx, err)
		}
		if n > 0 {
			f.Info.Dropped = append(slices.Clone(f.Info.Dropped),
				message.Of("the %d bytes after the end of the picture", n))
		}
	}
	var warnings []message.Message
	f.Profile, warnings = profileOf(f.Info, f.Picture)
	f.Info.Warnings = append(f.Info.Warnings, warnings...)
	f.Picture.Curve, f.Picture.ToSRGB = f.Profile.Curve(), f.Profile.ToSRGB()
	return nil
}

// profileOf returns the profile of the samples. One that cannot be used is ignored, with a warning.
func profileOf(info container.Info, pic *processing.Picture) (profile *colour.Profile, warnings []message.Message) {
	if icc := info.Meta.ICC; icc != nil {
		p, err := colour.FromICC(icc)
		if err == nil && (p.Channels == 4) == (pic.Channels == 4) {
			return p.For(pic.Channels), nil
		}
		warning := container.DamagedProfile()
		if u, ok := errors.AsType[*colour.Unsuitable](err); ok {
			warning = container.UnusedProfile(u.Reason)
		} else if err == nil {
			warning = container.UnusedProfile(p.For(pic.Channels).Reason)
		}
		warnings = append(warnings, warning)
	}
	if info.Gamma > 0 {
		if p, err := colour.FromGamma(pic.Channels, 1/info.Gamma); err == nil {
			return p, warnings
		}
	}
	return colour.FromPicture(pic), warnings
}

// cancelReader is a file whose reads fail once its context ends.
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
	return fault(path, err, message.Plain(err), "the file cannot be opened")
}
