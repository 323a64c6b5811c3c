package imagefile

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"blik/app/imagefile/codec"
	"blik/processing"
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

// plain takes the operation and the path off an error of package os.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// fault makes the sentence for whatever went wrong while f was read.
func (f *File) fault(ctx context.Context, err error) error {
	if e := ctx.Err(); e != nil {
		return e
	}
	var p *partial
	if errors.As(err, &p) {
		return fault(f.Path, p.kind, nil, p.en, p.ru)
	}
	var c *codec.Fault
	if errors.As(err, &c) {
		return fault(f.Path, c.Kind, nil, c.Text.EN, c.Text.In("ru"))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return f.fault(ctx, codec.Truncated())
	}
	return fault(f.Path, err, plain(err), "the file cannot be read", "файл не читается")
}
