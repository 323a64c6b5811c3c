// Package container defines what the picture containers have in common: header information, metadata, and the faults of
// files. The containers themselves (packages tiff, png and jpeg) do not deal with file names, limits or saving; package
// imagefile does.
package container

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

// Info describes the first picture of a container before any pixel is decoded.
type Info struct {
	Width, Height int
	// Depth is the bits of a stored sample: 1, 2, 4, 8, 16 or 32. The decoded picture has 8, 16 or 32 (float).
	Depth  int
	Float  bool
	Colour Colour
	// Extra is the number of samples of a pixel besides colour.
	Extra int
	// Transparent: a colour may mark pixels as transparent, without an alpha channel.
	Transparent bool
	// Compression is a short name for people: "none", "LZW", "Deflate".
	Compression string
	// Pictures is the number of pictures (pages) in the file; only the first is worked on.
	Pictures int
	Meta     Metadata
	// Gamma is the exponent, such as 0.45455, that encoded light as samples, for files without a profile; 0: unknown.
	Gamma float64
	// Raw is the size in bytes of all uncompressed samples, and Expansion the largest number of them that one byte of
	// the file can encode; 0 if there is no useful bound.
	Raw, Expansion int64
	// Scratch is the peak memory in bytes that decoding needs in addition to the samples of the picture.
	Scratch int64
	// Readonly is the reason why Patch or Rewrite would fail for this file; nil if they work.
	Readonly error
	// Others shows the picture, too, and keeps its glare.
	Others Others
	// Warnings are sentences about damaged parts of the file, which are left as they are.
	Warnings []message.Message
	// Stale are sentences about parts that no longer apply once a pixel of the file has changed.
	Stale []message.Message
	// Dropped names the parts that a new file of this picture would not hold.
	Dropped []message.Message
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

// Metadata is copied with the pixels from one container to another. Blocks that the file lacks are nil.
type Metadata struct {
	// ICC is the profile of the samples.
	ICC []byte
	// EXIF is a TIFF structure beginning with its byte order, as stored after "Exif\0\0" in JPEG's APP1.
	EXIF []byte
	// XMP is the packet in UTF-8.
	XMP []byte
	// IPTC is the IIM record, as stored in TIFF tag 33723.
	IPTC []byte
	// Photoshop holds image resources, as stored in TIFF tag 34377.
	Photoshop []byte
	// Comments are texts outside the other blocks, such as the comment segments of JPEG.
	Comments []string
	// XResolution and YResolution are in pixels per unit; 0: unknown.
	XResolution, YResolution float64
	Unit                     Unit
	// Orientation is the EXIF orientation, 1…8.
	Orientation int
}

// Unit of a resolution.
type Unit uint8

// The units; with UnitNone the resolutions only give the aspect ratio of a pixel.
const (
	UnitNone Unit = iota
	UnitInch
	UnitCentimetre
)

// Container is an opened picture file. Its methods read from the io.ReaderAt it was opened on. Damaged input causes a
// Fault or an error of that reader, never a panic, and memory use stays proportional to the actual contents of the
// file.
type Container interface {
	Info() Info
	// Decode returns the first picture: colour samples only, as they are stored, except that palettes and YCbCr are
	// converted to RGB, depths below 8 bits are scaled to 8, and inverted encodings (TIFF's WhiteIsZero, Adobe's CMYK)
	// are inverted.
	Decode(ctx context.Context) (*processing.Picture, error)
	// Inventory lists everything else. If changed is set, it lists the contents of the file after Patch or Rewrite has
	// changed a pixel. The two differ only if the samples have to be converted for that, as with a palette. Its
	// coverage is that of the file as it is; it is complete once the picture was decoded.
	Inventory(ctx context.Context, changed bool) (*Inventory, error)
}

// RowDecoder is a Container that may store its samples unencoded and can then decode single rows.
type RowDecoder interface {
	Container
	// Locate returns a function that maps an offset in the file to the pixel whose colour sample is stored there; ok is
	// false for all other bytes, and for bytes that also serve another purpose. It returns nil if the samples are not
	// stored unencoded.
	Locate() func(at int64) (x, y int, ok bool)
	// DecodeRows decodes rows y0 to y1 only. It works if Locate does not return nil.
	DecodeRows(ctx context.Context, y0, y1 int) (*processing.Picture, error)
}

// CoarseDecoder is a Container that can decode a subset of its pixels much faster than all of them.
type CoarseDecoder interface {
	Container
	// DecodeCoarse returns every step-th pixel of every step-th row of Decode's result, starting with the first:
	// ⌈Width/step⌉ × ⌈Height/step⌉ pixels. It returns nil without an error if that takes as long as Decode.
	DecodeCoarse(ctx context.Context, step int) (*processing.Picture, error)
}

// OpacityDecoder is a Container whose pixels may be transparent.
type OpacityDecoder interface {
	Container
	// Opacity returns the opacity of every pixel, in rows: 255 is opaque, and only a wholly transparent one has 0. It
	// returns nil if all pixels are opaque.
	Opacity(ctx context.Context) ([]uint8, error)
}

// Trailer is a Container that may be followed by other data in its file.
type Trailer interface {
	Container
	// Trailing returns the number of bytes after the end of the picture.
	Trailing(ctx context.Context) (int64, error)
}

// Learner is a Container whose Inventory needs what Decode has found out.
type Learner interface {
	Container
	// Learn takes that from a container that has decoded the same file.
	Learn(from Container)
}

// BlockCoder is a Container that stores lossily compressed blocks of samples.
type BlockCoder interface {
	Container
	// Blocks compares the stored blocks with those of another file of the same size and kind. For may see Blocks.Reach.
	Blocks(ctx context.Context, other Container, may func(y int, row []bool)) (Blocks, error)
}

// Blocks is the result of comparing stored blocks.
type Blocks struct {
	// Total is the number of blocks, Changed the number that differ, and Outside the number of differing blocks without
	// a pixel that may change.
	Total, Changed, Outside int64
	// Hidden is the number of blocks that stand for no pixel and hold something else than those of the source.
	Hidden int64
	// Reach sets, in a row in which none is set, the pixels that depend on a block with a pixel that may change.
	Reach func(y int, row []bool)
}

// Patcher is a Container that is saved by copying the file and overwriting the bytes that change.
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

// Segmented is a Patcher that stores its samples in strips or tiles, of which a patch changes some.
type Segmented interface {
	Patcher
	// Untouched counts the strips and tiles without a pixel of the patches that are not stored, byte for byte, in the
	// same place of the patched file.
	Untouched(ctx context.Context, result Container, patches []processing.Patch) (int, error)
}

// Rewriter is a Container that is saved by writing a new file in which everything except the pixels is kept.
type Rewriter interface {
	Container
	// Rewrite writes the file with its pixels replaced by those of the patches.
	Rewrite(ctx context.Context, w io.Writer, patches []processing.Patch) error
}

// The kinds of faults.
var (
	// ErrUnsupported: a variant that is not read or written.
	ErrUnsupported = errors.New("unsupported variant")
	// ErrDamaged: truncated or contradicting itself.
	ErrDamaged = errors.New("damaged picture")
)

// Fault describes a fault of a container, as a clause that can follow the file's name and a colon.
type Fault struct {
	// Kind is ErrUnsupported or ErrDamaged.
	Kind error
	Text message.Message
}

// Error returns the clause in English.
func (f *Fault) Error() string { return f.Text.String() }

func (f *Fault) Message() message.Message { return f.Text }
func (f *Fault) Unwrap() error            { return f.Kind }

// Unsupported returns a Fault of that kind.
func Unsupported(format message.Text, args ...any) error {
	return &Fault{ErrUnsupported, message.Of(format, args...)}
}

// Damaged returns a Fault of that kind.
func Damaged(format message.Text, args ...any) error {
	return &Fault{ErrDamaged, message.Of(format, args...)}
}

// Truncated is the Damaged fault of files that end too early.
func Truncated() error {
	return Damaged("the file is truncated: it ends before the picture is complete")
}

// DamagedProfile is the warning about a profile that cannot be read.
func DamagedProfile() message.Message {
	return message.Of("The colour profile is damaged; the picture is shown as if it had none.")
}

// UnusedProfile is the warning about a profile that cannot be used, with the reason.
func UnusedProfile(reason message.Message) message.Message {
	return message.Of("The colour profile cannot be used: %s; the picture is shown as if it had none.", reason)
}

// StaleCredentials is the sentence about content credentials that a corrected copy keeps.
func StaleCredentials() message.Message {
	return message.Of(
		"The content credentials in the file (C2PA) are kept, but they no longer match the pixels of a corrected copy.")
}

// ReadError returns Truncated for the end of the file and other errors of a reader as they are.
func ReadError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return Truncated()
	}
	return err
}

// ReadFull fills b from offset at; a file that ends before that is truncated.
func ReadFull(r io.ReaderAt, b []byte, at int64) error {
	if n, err := r.ReadAt(b, at); n < len(b) {
		return ReadError(err)
	}
	return nil
}
