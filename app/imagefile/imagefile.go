// Package imagefile reads and writes picture and mask files.
//
// Read and ReadMask are the only ways in, and WriteFile with what stands on it the only way out: whatever decodes and
// encodes below may be replaced without anyone noticing. Nothing is trusted: sizes are checked against Limits and
// against the length of the file before pixels are allocated, and a fault becomes one sentence that names the file
// (Error). No file is ever left half written.
package imagefile

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"os"
	"time"

	"blik/app/imagefile/codec"
	"blik/processing"
)

// Format is the container of a picture.
type Format string

// The formats that can be read.
const (
	PNG  Format = "PNG"
	JPEG Format = "JPEG"
	TIFF Format = "TIFF"
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
	// Info is what the container says of itself, metadata among it.
	Info codec.Info
	// Picture has 1 channel where the file is grey, 4 where it is CMYK, and else 3. Alpha is left out and colour samples
	// stay as they are stored.
	Picture *processing.Picture
	// Size and Modified are those of the file when it was read; Save knows by them whether it still is that file.
	Size     int64
	Modified time.Time
}

// ProfileName returns the description of the file's colour profile, empty where it has none.
func (f *File) ProfileName() string { return "" }

// Limits bound what a file may ask for.
type Limits struct {
	// Pixels is the largest Width·Height.
	Pixels int64
	// Bytes bounds the memory for the decoder's picture and ours together.
	Bytes int64
}

// DefaultLimits returns 10⁹ pixels, and three quarters of the machine's memory (where it does not tell: 16 GiB).
func DefaultLimits() Limits {
	l := Limits{Pixels: 1e9, Bytes: 16 << 30}
	if m := physicalMemory(); m > 0 {
		l.Bytes = m / 4 * 3
	}
	return l
}

// physicalMemory reads the first line of Linux's account of memory; 0 elsewhere.
func physicalMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	var kib int64
	if _, err := fmt.Fscanf(f, "MemTotal: %d kB", &kib); err != nil {
		return 0
	}
	return kib << 10
}

// Read decodes the picture in the file at path. It returns the context's error soon after a cancel, and for anything
// wrong with the file an *Error.
func Read(ctx context.Context, path string, limits Limits) (*File, error) {
	return abandon(ctx, func() (*File, error) {
		return read(ctx, path, limits, nil)
	})
}

// abandon runs f and stops waiting for it when ctx ends: decoders look at the context only when they read on, which may
// take them long. f must then end soon by itself, and what it returns is dropped.
func abandon[T any](ctx context.Context, f func() (T, error)) (T, error) {
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
func read(ctx context.Context, path string, limits Limits, accept func(*header) error) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, info, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f := &File{Path: path, Size: info.Size(), Modified: info.ModTime()}
	if err := f.decode(ctx, file, limits, accept); err != nil {
		return nil, err
	}
	return f, nil
}

// decode reads header and picture of f, which lie in r.
func (f *File) decode(ctx context.Context, r io.ReaderAt, limits Limits, accept func(*header) error) error {
	src := &source{ctx: ctx, file: r, size: f.Size}
	h, err := guarded(func() (*header, error) { return probe(src) })
	if err == nil && accept != nil {
		err = accept(h)
	}
	if err == nil {
		err = h.check(limits, f.Size)
	}
	if err != nil {
		return decodeError(ctx, f.Path, h, err)
	}
	img, err := guarded(func() (image.Image, error) { return h.decode(src) })
	if err != nil {
		return decodeError(ctx, f.Path, h, err)
	}
	pic, err := toPicture(ctx, img, h.grey)
	if err != nil {
		return decodeError(ctx, f.Path, h, err)
	}
	f.Format, f.Depth, f.Orientation, f.Picture = h.format, h.depth, h.orientation, pic
	f.Info = codec.Info{Width: pic.Width, Height: pic.Height, Depth: h.depth, Pictures: 1}
	return nil
}

// guarded runs a third-party decoder, which may panic on a file made to break it.
func guarded[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errDecoderPanic, r)
		}
	}()
	return f()
}

var errDecoderPanic = errors.New("the decoder failed")

// source is a file that stops giving data when its context ends, which stops the decoder.
type source struct {
	ctx  context.Context
	file io.ReaderAt
	size int64
}

// Read is never called: the decoders find ReadAt.
func (s *source) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.file.ReadAt(p, off)
}

// rewind returns the whole file as a stream.
func (s *source) rewind() io.Reader { return io.NewSectionReader(s, 0, s.size) }

func decodePNG(s *source) (image.Image, error) { return png.Decode(buffered(s.rewind())) }

func decodeJPEG(s *source) (image.Image, error) { return jpeg.Decode(s.rewind()) }

func openError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault(path, fs.ErrNotExist, nil, "no such file", "нет такого файла")
	case errors.Is(err, fs.ErrPermission):
		return fault(path, fs.ErrPermission, nil, "no permission to read the file", "нет прав на чтение файла")
	}
	return fault(path, err, plain(err), "the file cannot be opened", "файл не открывается")
}
