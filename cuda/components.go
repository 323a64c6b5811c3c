//go:build cuda && linux && amd64

package cuda

import (
	"context"
	"unsafe"

	"blik/processing"
)

// Components are labelled and grown on the host by processing/cpu, from a copy of the class plane: growth settles pixels
// in one order of their values over the whole picture, which a device of many threads is no help with. Painting and
// summing up, which touch every plane, run on the device from the list of spans.

// components are those of the host and, once needed, their spans there and on the device.
type components struct {
	owner    *Backend
	w, h     int
	inner    processing.Components
	spans    []processing.Span
	listed   bool
	released bool
}

func (c *components) Len() int { return c.inner.Len() }

func (c *components) Release() {
	c.inner.Release()
	c.spans, c.released = nil, true
}

// components returns c when these are living components of this backend for pictures of the size of the planes.
func (a *args) components(c processing.Components) *components {
	q, ok := c.(*components)
	switch {
	case !ok || q == nil || q.owner != a.b:
		a.fail("the components belong to another backend")
		return nil
	case q.released:
		a.fail("the components were released")
	case a.w == 0:
		a.w, a.h = q.w, q.h
	case a.w != q.w || a.h != q.h:
		a.fail("the components are of %d × %d pixels, the planes %d × %d", q.w, q.h, a.w, a.h)
	}
	return q
}

// shadow is a copy of a class plane in the memory of the host's backend.
type shadow struct {
	of      *plane
	changes int
	copy    processing.Plane
}

func (s *shadow) drop() {
	if s.copy != nil {
		s.copy.Release()
	}
	*s = shadow{}
}

// onHost returns cls as a plane of the host's backend.
func (b *Backend) onHost(ctx context.Context, cls *plane) (processing.Plane, error) {
	s := &b.shadow
	if s.of == cls && s.changes == cls.changes {
		return s.copy, nil
	}
	s.drop()
	samples, err := b.Host(ctx, cls)
	if err != nil {
		return nil, err
	}
	p, err := b.host.Alloc(cls.kind, cls.w, cls.h)
	if err != nil {
		return nil, err
	}
	if err := b.host.Upload(ctx, p, samples); err != nil {
		p.Release()
		return nil, err
	}
	*s = shadow{of: cls, changes: cls.changes, copy: p}
	return p, nil
}

// Label returns the 8-connected components of the pixels of cls that have one of the given bits.
func (b *Backend) Label(ctx context.Context, cls processing.Plane, bits uint8) (processing.Components, error) {
	a := b.args("label")
	c := a.plane("class", cls, processing.U8)
	if a.err != nil {
		return nil, a.err
	}
	p, err := b.onHost(ctx, c)
	if err != nil {
		return nil, err
	}
	inner, err := b.host.Label(ctx, p, bits)
	if err != nil {
		return nil, err
	}
	return &components{owner: b, w: a.w, h: a.h, inner: inner}, nil
}

// Grow extends cores over pixels of cls with ClassGrow.
func (b *Backend) Grow(ctx context.Context, cores processing.Components, cls processing.Plane, g processing.Growth) (processing.Components, error) {
	a := b.args("grow")
	c := a.plane("class", cls, processing.U8)
	k := a.components(cores)
	if a.err != nil {
		return nil, a.err
	}
	p, err := b.onHost(ctx, c)
	if err != nil {
		return nil, err
	}
	inner, err := b.host.Grow(ctx, k.inner, p, g)
	if err != nil {
		return nil, err
	}
	return &components{owner: b, w: a.w, h: a.h, inner: inner}, nil
}

// Keep empties the components whose label is not kept.
func (b *Backend) Keep(ctx context.Context, c processing.Components, keep []bool) error {
	a := b.args("keep")
	q := a.components(c)
	if a.err != nil {
		return a.err
	}
	q.spans, q.listed = nil, false
	return b.host.Keep(ctx, q.inner, keep)
}

// Spans returns the runs of pixels of equal label.
func (b *Backend) Spans(ctx context.Context, c processing.Components) ([]processing.Span, error) {
	a := b.args("spans")
	q := a.components(c)
	if a.err != nil {
		return nil, a.err
	}
	return b.host.Spans(ctx, q.inner)
}

// list returns the spans, which are not to be changed.
func (b *Backend) list(ctx context.Context, q *components) ([]processing.Span, error) {
	if q.listed {
		return q.spans, nil
	}
	spans, err := b.host.Spans(ctx, q.inner)
	q.spans, q.listed = spans, err == nil
	return spans, err
}

// spans uploads a list of spans, laid out as in spans.cu.
func (q *queue) spans(list []processing.Span) (buffer, error) {
	n := len(list) * int(unsafe.Sizeof(processing.Span{}))
	m, err := q.bytes(int64(n))
	if err != nil {
		return m, err
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), n)
	return m, q.copying(stageUpload, func() error { return q.d.upload(m.ptr, int64(n), raw, n) })
}

// Paint writes 255 into dst where a component is, 0 elsewhere.
func (b *Backend) Paint(ctx context.Context, dst processing.Plane, c processing.Components) error {
	a := b.args("paint")
	d := a.plane("destination", dst, processing.U8)
	q := a.components(c)
	if a.err != nil {
		return a.err
	}
	list, err := b.list(ctx, q)
	if err != nil {
		return err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		if err := q.d.zero(d.memory, d.pitch*int64(d.h)); err != nil || len(list) == 0 {
			return err
		}
		m, err := q.spans(list)
		if err != nil {
			return err
		}
		return q.launch("paint", dim{x: (len(list) + 7) / 8}, dim{x: 256}, d, m, len(list))
	})
}

// tally is that of spans.cu.
type tally struct {
	n, sx, sy, sxx, sxy, syy, contrast, level, background, spread uint64
	left, top, right, base                                        uint32
	peakContrast, peakY, starlet, darkest, slope, edge, leaks, _  uint32
}

// Tally sums up each component.
func (b *Backend) Tally(ctx context.Context, c processing.Components, p processing.TallyPlanes, t *processing.LumaTables) ([]processing.Tally, error) {
	a := b.args("tally")
	cls := a.plane("class", p.Class, processing.U8)
	member := a.plane("member", p.Member, processing.U8)
	y := a.plane("luminance", p.Y, processing.U16)
	bg := a.plane("background", p.B, processing.U16)
	v := a.plane("level", p.V, processing.U8)
	spread := a.plane("deviation", p.Spread, processing.U16)
	starlet := a.plane("starlet", p.Starlet, processing.U16)
	k := a.components(c)
	if a.err == nil && len(t.Encode8) != 1<<16 {
		a.fail("the encoding table has %d entries, needs %d", len(t.Encode8), 1<<16)
	}
	if a.err != nil {
		return nil, a.err
	}
	list, err := b.list(ctx, k)
	if err != nil {
		return nil, err
	}
	out := make([]processing.Tally, c.Len())
	for i := range out {
		out[i].Core, out[i].All = processing.NewSums(), processing.NewSums()
	}
	if len(list) == 0 {
		return out, ctx.Err()
	}
	for _, s := range list {
		out[s.Label].All.Add(s)
	}
	err = b.run(ctx, func(q *queue) error {
		n := len(out) * int(unsafe.Sizeof(tally{}))
		sums, err := q.bytes(int64(n))
		if err != nil {
			return err
		}
		if err := q.d.zero(sums, int64(n)); err != nil {
			return err
		}
		m, err := q.spans(list)
		if err != nil {
			return err
		}
		enc, err := q.constants(t.Encode8)
		if err != nil {
			return err
		}
		grid, block := along(len(list))
		if err := q.launch("tallySpans", grid, block, sums, m, len(list), cls, member, y, bg, v, spread, starlet, enc, a.w, a.h); err != nil {
			return err
		}
		host, err := q.fetch(sums, n)
		if err != nil {
			return err
		}
		for i, s := range unsafe.Slice((*tally)(unsafe.Pointer(unsafe.SliceData(host))), len(out)) {
			s.into(&out[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *tally) into(t *processing.Tally) {
	if s.n > 0 {
		const greatest = 1<<31 - 1
		t.Core = processing.Sums{N: int64(s.n), SX: int64(s.sx), SY: int64(s.sy), SXX: int64(s.sxx), SXY: int64(s.sxy), SYY: int64(s.syy),
			Left: greatest - int32(s.left), Top: greatest - int32(s.top), Right: int32(s.right), Base: int32(s.base)}
	}
	t.CoreContrast, t.CoreLevel, t.Background, t.Spread = s.contrast, s.level, s.background, s.spread
	t.PeakContrast, t.PeakY, t.Starlet = uint16(s.peakContrast), uint16(s.peakY), uint16(s.starlet)
	t.Darkest, t.Slope = uint8(s.darkest), uint8(s.slope)
	t.Edge, t.Leaks = s.edge, s.leaks
}
