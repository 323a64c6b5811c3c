package banded

import (
	"context"

	"blik/processing"
)

// Components are those of the host's backend: they may reach over the whole picture.

// Label returns the 8-connected components of the pixels of cls that have one of the given bits.
func (b *Backend) Label(ctx context.Context, cls processing.Plane, bits uint8) (c processing.Components, err error) {
	p, err := b.planes("label", cls)
	if err != nil {
		return nil, err
	}
	err = b.onHost(ctx, operation{reads: p, run: func(ctx context.Context, on *site) (err error) {
		c, err = on.Label(ctx, on.of(p[0]), bits)
		return err
	}})
	return c, err
}

// Grow extends cores over pixels of cls with ClassGrow.
func (b *Backend) Grow(ctx context.Context, cores processing.Components, cls processing.Plane, g processing.Growth) (c processing.Components, err error) {
	p, err := b.planes("grow", cls)
	if err != nil {
		return nil, err
	}
	err = b.onHost(ctx, operation{reads: p, run: func(ctx context.Context, on *site) (err error) {
		c, err = on.Grow(ctx, cores, on.of(p[0]), g)
		return err
	}})
	return c, err
}

// Keep empties the components whose label is not kept.
func (b *Backend) Keep(ctx context.Context, c processing.Components, keep []bool) error {
	return b.host.Keep(ctx, c, keep)
}

// Paint writes 255 into dst where a component is, 0 elsewhere.
func (b *Backend) Paint(ctx context.Context, dst processing.Plane, c processing.Components) error {
	p, err := b.planes("paint", dst)
	if err != nil {
		return err
	}
	return b.onHost(ctx, operation{writes: p, run: func(ctx context.Context, on *site) error {
		return on.Paint(ctx, on.of(p[0]), c)
	}})
}

// Spans returns the runs of pixels of equal label.
func (b *Backend) Spans(ctx context.Context, c processing.Components) ([]processing.Span, error) {
	return b.host.Spans(ctx, c)
}

// Tally sums up each component.
func (b *Backend) Tally(ctx context.Context, c processing.Components, t processing.TallyPlanes, tables *processing.LumaTables) (sums []processing.Tally, err error) {
	p, err := b.planes("tally", t.Class, t.Member, t.Y, t.B, t.V, t.Spread, t.Starlet)
	if err != nil {
		return nil, err
	}
	err = b.onHost(ctx, operation{reads: p, run: func(ctx context.Context, on *site) (err error) {
		sums, err = on.Tally(ctx, c, processing.TallyPlanes{
			Class: on.of(p[0]), Member: on.of(p[1]), Y: on.of(p[2]), B: on.of(p[3]), V: on.of(p[4]), Spread: on.of(p[5]), Starlet: on.of(p[6]),
		}, tables)
		return err
	}})
	return sums, err
}

// FillHoles writes 255 into the pixels of dst that are 0 and do not reach the picture's border.
func (b *Backend) FillHoles(ctx context.Context, dst processing.Plane) error {
	p, err := b.planes("fill holes", dst)
	if err != nil {
		return err
	}
	return b.onHost(ctx, operation{reads: p, writes: p, run: func(ctx context.Context, on *site) error {
		return on.FillHoles(ctx, on.of(p[0]))
	}})
}
