package imagefile

import (
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"strings"

	"blik/app/imagefile/codec"
	"blik/processing"

	hhtiff "github.com/hhrutter/tiff"
	"golang.org/x/image/tiff"
)

// The kinds of faults that an Error wraps, besides fs.ErrNotExist and fs.ErrPermission.
var (
	// ErrNotPicture: no picture at all, or a format that is not read.
	ErrNotPicture = errors.New("not a picture")
	// ErrUnsupported: a variant of a known format that is not read or written.
	ErrUnsupported = codec.ErrUnsupported
	// ErrDamaged: truncated or contradicting itself.
	ErrDamaged = codec.ErrDamaged
	// ErrTooLarge: larger than Limits allow.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrSize: a mask whose size is not the picture's.
	ErrSize = errors.New("another size")
	// ErrWrite: the file could not be written; what was there before is untouched.
	ErrWrite = errors.New("not written")
	// ErrExists: Save may not replace what is there.
	ErrExists = errors.New("the file exists")
	// ErrChanged: the source is no longer the file that was read.
	ErrChanged = errors.New("the source has changed")
	// ErrLossy: the result would be a JPEG, and nobody allowed the loss.
	ErrLossy = errors.New("lossy")
)

// Error is what is wrong with a file, in one sentence.
type Error struct {
	Path  string
	Fault processing.Text
	// Kind is one of the errors above, fs.ErrNotExist or fs.ErrPermission.
	Kind error
	// Cause is the underlying error; its text is already part of Fault where it helps.
	Cause error
}

// Error returns the sentence in English.
func (e *Error) Error() string { return e.In("en") }

// In returns the sentence in the language with the given ISO 639-1 code.
func (e *Error) In(lang string) string { return e.Path + ": " + e.Fault.In(lang) }

// Unwrap returns kind and cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// fault makes an Error; the cause's own words, if any, follow in parentheses.
func fault(path string, kind, cause error, en, ru string) *Error {
	if cause != nil {
		detail := " (" + cause.Error() + ")"
		en, ru = en+detail, ru+detail
	}
	return &Error{Path: path, Fault: processing.Text{EN: en, RU: ru}, Kind: kind, Cause: cause}
}

// partial is a fault found where the path is not known.
type partial struct {
	kind   error
	en, ru string
}

func (p *partial) Error() string { return p.en }

func unsupported(en, ru string) error { return &partial{ErrUnsupported, en, ru} }

// plain takes the operation and the path off an error of package os.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// decodeError makes the sentence for whatever went wrong while header or pixels were read; h may be nil.
func decodeError(ctx context.Context, path string, h *header, err error) error {
	if e := ctx.Err(); e != nil {
		return e
	}
	var p *partial
	if errors.As(err, &p) {
		return fault(path, p.kind, nil, p.en, p.ru)
	}
	var c *codec.Fault
	if errors.As(err, &c) {
		return fault(path, c.Kind, nil, c.Text.EN, c.Text.In("ru"))
	}
	name := "picture"
	if h != nil {
		name = string(h.format)
	}
	var (
		unsupPNG  png.UnsupportedError
		unsupJPEG jpeg.UnsupportedError
		unsupX    tiff.UnsupportedError
		unsupHH   hhtiff.UnsupportedError
	)
	switch {
	case errors.As(err, &unsupPNG), errors.As(err, &unsupJPEG), errors.As(err, &unsupX), errors.As(err, &unsupHH):
		return fault(path, ErrUnsupported, detail(err),
			fmt.Sprintf("this variant of %s cannot be read", name), fmt.Sprintf("эта разновидность %s не читается", name))
	case isTruncation(err):
		return fault(path, ErrDamaged, nil, "the file is truncated: it ends before the picture is complete",
			"файл обрезан: он кончается раньше изображения")
	case errors.Is(err, errDecoderPanic):
		return fault(path, ErrDamaged, nil, fmt.Sprintf("the %s data are damaged", name), fmt.Sprintf("данные %s повреждены", name))
	}
	return fault(path, ErrDamaged, detail(err),
		fmt.Sprintf("the %s data are damaged", name), fmt.Sprintf("данные %s повреждены", name))
}

// isTruncation knows the ways in which the decoders say that the data end too early.
func isTruncation(err error) bool {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return true
	}
	for _, tail := range []string{"unexpected EOF", "not enough pixel data", "short Huffman data"} {
		if strings.HasSuffix(err.Error(), tail) {
			return true
		}
	}
	return false
}

// detail strips the package names and headings that decoders put before what they found.
func detail(err error) error {
	text := plain(err).Error()
	for _, head := range []string{"png: ", "jpeg: ", "tiff: ", "zlib: ", "invalid format: ", "invalid JPEG format: ",
		"unsupported feature: ", "unsupported JPEG feature: "} {
		text = strings.TrimPrefix(text, head)
	}
	return &described{text, err}
}

type described struct {
	text string
	err  error
}

func (d *described) Error() string { return d.text }
func (d *described) Unwrap() error { return d.err }
