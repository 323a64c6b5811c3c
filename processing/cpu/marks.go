package cpu

import (
	"context"

	"blik/internal/span"
	"blik/processing"
)

// flags are samples (U8) that only count as zero or nonzero: bytes, or bits if marks is not nil.
type flags struct {
	bytes []uint8
	marks *span.Set
	w     int
}

// flags returns the flags of a plane (U8).
func (p *plane) flags() flags { return flags{p.data.U8, p.marks, p.w} }

// buffer returns memory into which row can unpack n samples.
func (f *flags) buffer(t *worker, n int) []uint8 {
	if f.marks == nil {
		return nil
	}
	return scratch[uint8](t, n)
}

// row returns the samples x0 … x1−1 of row y, unpacked into buf if needed, or those of none if y is negative.
func (f *flags) row(y, x0, x1 int, none, buf []uint8) []uint8 {
	if f.marks == nil || y < 0 {
		return rowOr(f.bytes, f.w, y, x0, x1, none)
	}
	buf = buf[:x1-x0]
	f.marks.Unpack(buf, x0, y)
	return buf
}

func (b *Backend) AllocMarks(w, h int) (processing.Plane, error) {
	if err := processing.CheckAlloc(b, processing.U8, w, h); err != nil {
		return nil, err
	}
	return &plane{Handle: processing.NewHandle(b, w, h), backend: b, kind: processing.U8, w: w, h: h,
		marks: span.NewSet(w, h)}, nil
}

func (b *Backend) Mark(ctx context.Context, dst processing.Plane, spans []processing.Span, margin int) error {
	if err := processing.CheckHost(b, dst); err != nil {
		return err
	}
	dst.(*plane).marks.Mark(margin, spans)
	return ctx.Err()
}
