package imagefile

import (
	"bytes"
	"io"
	"math"
	"os"
	"strings"

	"blik/app/imagefile/container"
	"blik/internal/message"
)

// openFile opens the file at path for reading. It checks its kind first, because opening a named pipe would block.
func openFile(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	switch {
	case info.IsDir():
		return nil, nil, fault(path, ErrNotPicture, nil, "this is a folder, not a picture")
	case !info.Mode().IsRegular():
		return nil, nil, fault(path, ErrNotPicture, nil, "this is a device or a pipe, not a picture file")
	case info.Size() == 0:
		return nil, nil, fault(path, ErrNotPicture, nil, "the file is empty")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	if info, err = file.Stat(); err != nil {
		file.Close()
		return nil, nil, openError(path, err)
	}
	return file, info, nil
}

// open recognises the container by its first bytes, regardless of the file name. The format, if known, is also returned
// with an error.
func open(r io.ReaderAt, size int64) (Format, container.Container, error) {
	magic := make([]byte, 12)
	n, err := r.ReadAt(magic, 0)
	if err != nil && err != io.EOF {
		return "", nil, err
	}
	magic = magic[:n]
	if row, ok := byMagic(magic); ok {
		c, err := row.open(r, size)
		return row.name, c, err
	}
	return "", nil, notPicture(magic)
}

// notPicture returns the type of a file that is not a picture, as far as its first bytes show it.
func notPicture(magic []byte) error {
	for _, known := range []struct {
		magic string
		name  message.Text
	}{
		{"GIF8", "a GIF picture"},
		{"BM", "a BMP picture"},
		{"8BPS", "a Photoshop document"},
		{"%PDF", "a PDF document"},
		{"\x00\x00\x00\x0cjP  ", "a JPEG 2000 picture"},
		{"\xff\x0a", "a JPEG XL picture"},
		{"\x00\x00\x00\x0cJXL ", "a JPEG XL picture"},
		{"\x76\x2f\x31\x01", "an OpenEXR picture"},
	} {
		if bytes.HasPrefix(magic, []byte(known.magic)) {
			return unknown(known.name)
		}
	}
	switch {
	case len(magic) >= 12 && strings.HasPrefix(string(magic), "RIFF") && string(magic[8:12]) == "WEBP":
		return unknown("a WebP picture")
	case len(magic) >= 12 && string(magic[4:8]) == "ftyp":
		return unknown("a HEIF, AVIF or video file")
	}
	return &faultWithoutPath{ErrNotPicture, message.Of("this is not a picture: PNG, JPEG or TIFF expected")}
}

func unknown(name message.Text) error {
	return &faultWithoutPath{ErrNotPicture, message.Of(
		"this is %s, which cannot be read; save it as TIFF, PNG or JPEG", name)}
}

// check refuses, before any sample is allocated, pictures that exceed the limits or the available memory (0: unknown),
// or that a file of this size cannot hold.
func check(i container.Info, l Limits, size, available int64) error {
	w, h := int64(i.Width), int64(i.Height)
	if w < 1 || h < 1 {
		return container.Damaged("the picture has no pixels: %d × %d", w, h)
	}
	// Dividing avoids an overflow of the product of two invalid sides.
	if h > l.Pixels/w {
		return &faultWithoutPath{ErrTooLarge,
			message.Of("%d × %d pixels are more than the limit of %s", w, h, megapixels(l.Pixels))}
	}
	if i.Expansion > 0 && i.Raw/i.Expansion > size {
		return container.Damaged(
			"the file is truncated: %d bytes cannot hold %d × %d pixels", size, w, h)
	}
	need := demand(i, l)
	if need > float64(l.Bytes) {
		return &faultWithoutPath{ErrMemory,
			message.Of(
				"%d × %d pixels take %s of memory, more than the limit of %s",
				w, h, gibibytes(need), gibibytes(float64(l.Bytes)))}
	}
	if available > 0 && need > float64(available) {
		return &faultWithoutPath{ErrMemory,
			message.Of(
				"%d × %d pixels take %s of memory, and only %s are free",
				w, h, gibibytes(need), gibibytes(float64(available)))}
	}
	return nil
}

// demand returns the memory in bytes needed to read a picture and work on it.
func demand(i container.Info, l Limits) float64 {
	pixels := float64(i.Width) * float64(i.Height)
	samples := pixels * float64(i.Channels()*max(8, i.Depth)/8)
	return samples + max(float64(i.Scratch), pixels*float64(l.Work))
}

// MemoryFor returns the memory in bytes needed to read the picture in a file and work on it, according to its header; 0
// if the header cannot be read.
func MemoryFor(path string, l Limits) int64 {
	file, info, err := openFile(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	_, opened, err := open(file, info.Size())
	if err != nil {
		return 0
	}
	return int64(min(demand(opened.Info(), l), math.MaxInt64/2))
}

// AvailableMemory returns the memory in bytes that is available to this process; 0 if the system does not report it.
func AvailableMemory() int64 { return machineMemory().available }

func megapixels(n int64) message.Message { return message.Of("%g MP", float64(n)/1e6) }

func gibibytes(n float64) message.Message {
	if n < 1<<30 {
		return message.Of("%.0f MiB", n/(1<<20))
	}
	return message.Of("%.1f GiB", n/(1<<30))
}
