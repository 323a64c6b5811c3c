package imagefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"blik/app/imagefile/container"
	"blik/internal/message"
)

// The kinds of faults that an Error wraps, besides fs.ErrNotExist and fs.ErrPermission.
var (
	// ErrNotPicture: not a picture, or a format that is not read.
	ErrNotPicture = errors.New("not a picture")
	// ErrUnsupported: a variant of a known format that is not read or written.
	ErrUnsupported = container.ErrUnsupported
	// ErrDamaged: truncated or contradicting itself.
	ErrDamaged = container.ErrDamaged
	// ErrTooLarge: larger than Limits allow.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrMemory: needs more memory than this machine has; an ErrTooLarge.
	ErrMemory = fmt.Errorf("too little memory: %w", ErrTooLarge)
	// ErrSize: a mask whose size is not the picture's.
	ErrSize = errors.New("another size")
	// ErrNotMask: a picture that hardly is a mask.
	ErrNotMask = errors.New("not a mask")
	// ErrWrite: the file could not be written; an existing file is untouched.
	ErrWrite = errors.New("not written")
	// ErrFull: the disk is full; an ErrWrite.
	ErrFull = fmt.Errorf("disk full: %w", ErrWrite)
	// ErrExists: AddPicture may not replace an existing file.
	ErrExists = errors.New("the file exists")
	// ErrForeign: a file to be replaced was changed by another program since it was saved.
	ErrForeign = errors.New("changed by another program")
	// ErrChanged: the source is no longer the file that was read.
	ErrChanged = errors.New("the source has changed")
	// ErrLossy: the result would be a JPEG, which requires permission.
	ErrLossy = errors.New("lossy")
)

// Unwritable reports whether err is the *Error of a place that could not be written, so that another one may help.
func Unwritable(err error) bool {
	return errors.Is(err, ErrWrite) || errors.Is(err, fs.ErrPermission)
}

// Error describes a fault of a file in one sentence.
type Error struct {
	Path  string
	Fault message.Message
	// Kind is one of the errors above, fs.ErrNotExist or fs.ErrPermission.
	Kind error
	// Cause is the underlying error; its text is part of Fault if it is useful.
	Cause error
}

func (e *Error) Error() string            { return e.Message().String() }
func (e *Error) Message() message.Message { return message.Of("%s: %s", e.Path, e.Fault) }

// Unwrap returns kind and cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// fault makes an Error; the cause's own words, if any, follow in parentheses.
func fault(path string, kind, cause error, format message.Text, args ...any) *Error {
	what := message.Of(format, args...)
	if cause != nil {
		what = message.Of("%s (%s)", what, cause)
	}
	return &Error{Path: path, Fault: what, Kind: kind, Cause: cause}
}

// faultWithoutPath is a fault found by code that does not know the path.
type faultWithoutPath struct {
	kind error
	text message.Message
}

func (p *faultWithoutPath) Error() string { return p.text.String() }

// fault returns the Error for a failure to read f.
func (f *File) fault(ctx context.Context, err error) error {
	if e := ctx.Err(); e != nil {
		return e
	}
	if p, ok := errors.AsType[*faultWithoutPath](err); ok {
		return &Error{Path: f.Path, Fault: p.text, Kind: p.kind}
	}
	if c, ok := errors.AsType[*container.Fault](err); ok {
		return &Error{Path: f.Path, Fault: c.Text, Kind: c.Kind}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return f.fault(ctx, container.Truncated())
	}
	return fault(f.Path, err, message.Plain(err), "the file cannot be read")
}
