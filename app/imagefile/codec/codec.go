// Package codec holds what the containers of pictures have in common: what they tell of themselves, what travels with
// the pixels, and how faults are told. The containers (packages tiff, png and jpeg beside it) know nothing of file
// names, limits or saving; package imagefile puts them together.
package codec

import (
	"context"
	"errors"
	"io"

	"blik/internal/message"
	"blik/processing"
)

// Colour is the model that the samples are stored in.
type Colour uint8

// The colour models.
const (
	Grey Colour = iota
	RGB
	CMYK
	// Palette and YCbCr are decoded to RGB.
	Palette
	YCbCr
	// YCCK is decoded to CMYK.
	YCCK
)

// Info is what a container says of its first picture before any pixel is decoded.
type Info struct {
	Width, Height int
	// Depth is the bits of a stored sample: 1, 2, 4, 8, 16 or 32. The decoded picture has 8, 16 or 32 (float).
	Depth  int
	Float  bool
	Colour Colour
	// WhiteIsZero: stored samples run from white to black; the decoded ones do not.
	WhiteIsZero bool
	// Extra is the number of samples a pixel has besides colour; Alpha says that the first of them is opacity, and
	// Premultiplied that colour is multiplied by it.
	Extra                int
	Alpha, Premultiplied bool
	// Compression is a short name for people: "none", "LZW", "Deflate".
	Compression string
	// Pictures is the number of pictures (pages) in the file; only the first is worked on.
	Pictures int
	Meta     Metadata
	// Gamma is the exponent, such as 0.45455, with which light was raised to become samples, for use without a profile;
	// 0: not told.
	Gamma float64
	// Raw is the bytes of all uncompressed samples of the picture, and Expansion how many of them one byte of the file can
	// stand for at the very most; 0 where there is no bound worth checking.
	Raw, Expansion int64
	// Scratch is the memory in bytes that decoding takes at its peak besides the samples of the picture.
	Scratch int64
	// Readonly says why Patch or Rewrite would fail for this file; nil where they work.
	Readonly error
	// Warnings are sentences on what a corrected copy will hold unchanged although it shows the same picture.
	Warnings []message.Message
}

// Channels returns the channels of the decoded picture: 1, 3 or 4.
func (i Info) Channels() int {
	switch i.Colour {
	case Grey:
		return 1
	case CMYK, YCCK:
		return 4
	default:
		return 3
	}
}

// Metadata travels with the pixels from one container to another. The blocks are nil where the file has none.
type Metadata struct {
	// ICC is the profile of the samples.
	ICC []byte
	// EXIF is a TIFF structure beginning with its byte order, as JPEG's APP1 holds behind "Exif\0\0".
	EXIF []byte
	// XMP is the packet in UTF-8.
	XMP []byte
	// IPTC is the IIM record, as TIFF's tag 33723 holds it.
	IPTC []byte
	// Photoshop are image resources, as TIFF's tag 34377 holds them.
	Photoshop []byte
	// XResolution and YResolution are in pixels per unit; 0: not told.
	XResolution, YResolution float64
	Unit                     Unit
	// Orientation is that of EXIF, 1…8.
	Orientation int
}

// Unit of a resolution.
type Unit uint8

// The units; UnitNone gives the ratio of the sides of a pixel only.
const (
	UnitNone Unit = iota
	UnitInch
	UnitCentimetre
)

// Container is an opened picture file. Its methods read from the io.ReaderAt it was opened on. Damaged input gives a
// Fault or an error of that reader, never a panic, and memory in proportion to what the file really holds.
type Container interface {
	Info() Info
	// Decode returns the first picture: colour samples only, as they are stored, but of palettes, YCbCr, bits below 8
	// (scaled to 8) and inverted encodings (WhiteIsZero, Adobe's CMYK), which become plain ones.
	Decode(ctx context.Context) (*processing.Picture, error)
}

// Patcher is a Container that is saved by copying the file and overwriting the bytes of what changed.
type Patcher interface {
	Container
	// Patch overwrites the pixels of the patches in file, which holds a copy of the container and may grow.
	Patch(ctx context.Context, file File, patches []processing.Patch) error
}

// File is what Patch works on.
type File interface {
	io.ReaderAt
	io.WriterAt
}

// Rewriter is a Container that is saved by writing it anew, with everything but the pixels kept.
type Rewriter interface {
	Container
	Rewrite(ctx context.Context, w io.Writer, patches []processing.Patch) error
}

// The kinds of faults.
var (
	// ErrUnsupported: a variant that is not read or written.
	ErrUnsupported = errors.New("unsupported variant")
	// ErrDamaged: truncated or contradicting itself.
	ErrDamaged = errors.New("damaged picture")
)

// Fault is what is wrong with a container, as a clause that can follow the file's name and a colon.
type Fault struct {
	// Kind is ErrUnsupported or ErrDamaged.
	Kind error
	Text message.Message
}

// Error returns the clause in English.
func (f *Fault) Error() string { return f.Text.String() }

// Message returns the clause.
func (f *Fault) Message() message.Message { return f.Text }

// Unwrap returns the kind.
func (f *Fault) Unwrap() error { return f.Kind }

// Unsupported returns a Fault of that kind.
func Unsupported(format message.Text, args ...any) error {
	return &Fault{ErrUnsupported, message.Of(format, args...)}
}

// Damaged returns a Fault of that kind.
func Damaged(format message.Text, args ...any) error {
	return &Fault{ErrDamaged, message.Of(format, args...)}
}

// Truncated is the Damaged fault of data that end too early.
func Truncated() error {
	return Damaged("the file is truncated: it ends before the picture is complete")
}
