package banded

import (
	"context"
	"slices"

	"blik/internal/parallel"
	"blik/processing"
	"blik/processing/args"
	"blik/processing/internal/span"
)

// Components are made and kept on the device where the class plane fits there in one piece, which takes a byte a pixel. Where the
// host needs them too, or the device has no memory left, they are made anew there: the values that they came from are kept for
// that.

// origin is one of the operations that components came from.
type origin struct {
	// cls is the class plane that was labelled, or grown over where growth is set; nil where keep is.
	cls    *value
	bits   uint8
	growth *processing.Growth
	keep   []bool
}

// components are on the device, on the host, or on both.
type components struct {
	owner    *Backend
	w, h     int
	origins  []origin
	inner    processing.Components
	host     processing.Components
	released bool
}

func (c *components) Len() int {
	if c.inner != nil {
		return c.inner.Len()
	}
	return c.host.Len()
}

func (c *components) Size() (w, h int) { return c.w, c.h }
func (c *components) Released() bool   { return c.released }

func (c *components) Owner() processing.Backend {
	if c == nil {
		return nil
	}
	return c.owner
}

func (c *components) Release() {
	if c.released {
		return
	}
	c.released = true
	for _, l := range []processing.Components{c.inner, c.host} {
		if l != nil {
			l.Release()
		}
	}
	for _, o := range c.origins {
		if o.cls != nil {
			o.cls.drop()
		}
	}
}

// from makes empty components that come from the origins.
func (b *Backend) from(p *plane, origins ...origin) *components {
	for _, o := range origins {
		if o.cls != nil {
			o.cls.users++
		}
	}
	return &components{owner: b, w: p.w, h: p.h, origins: origins}
}

// componentBytes is what a pixel of a class plane takes on the device with what making components needs beside it.
const componentBytes = 4

// onDevice runs f with a whole plane of the device that holds v. It says whether it came out; where the memory of the device
// does not suffice, that is no error.
func (b *Backend) onDevice(ctx context.Context, v *value, f func(q processing.Plane) error) (done bool, err error) {
	if b.crowded || b.limit/componentBytes < int64(v.w)*int64(v.h) {
		return false, nil
	}
	defer func() {
		if err != nil && ctx.Err() == nil && b.short(err) {
			b.crowded, done, err = true, false, nil
		}
	}()
	q, err := b.inner.Alloc(v.kind, v.w, v.h)
	if err != nil {
		return false, err
	}
	defer q.Release()
	s, err := b.host.Host(ctx, v.stored)
	if err != nil {
		return false, err
	}
	if err := b.inner.Upload(ctx, q, s); err != nil {
		return false, err
	}
	err = f(q)
	return err == nil, err
}

// atHost returns components of the host's backend, made there if they are on the device alone.
func (b *Backend) atHost(ctx context.Context, c *components) (processing.Components, error) {
	if c.host != nil {
		return c.host, nil
	}
	var made processing.Components
	for _, o := range c.origins {
		var next processing.Components
		var err error
		switch {
		case o.keep != nil:
			err = b.host.Keep(ctx, made, o.keep)
			next = made
		case o.growth != nil:
			if next, err = b.host.Grow(ctx, made, o.cls.stored, *o.growth); err == nil {
				made.Release()
			}
		default:
			next, err = b.host.Label(ctx, o.cls.stored, o.bits)
		}
		if err != nil {
			if made != nil {
				made.Release()
			}
			return nil, err
		}
		made = next
	}
	c.host = made
	return made, nil
}

// Label returns the 8-connected components of the pixels of cls that have one of the given bits.
func (b *Backend) Label(ctx context.Context, cls processing.Plane, bits uint8) (processing.Components, error) {
	if err := args.Label(b, cls); err != nil {
		return nil, err
	}
	p := planes(cls)
	if err := b.demandAll(ctx, p); err != nil {
		return nil, err
	}
	v := p[0].content
	c := b.from(p[0], origin{cls: v, bits: bits})
	done, err := b.onDevice(ctx, v, func(q processing.Plane) (err error) {
		c.inner, err = b.inner.Label(ctx, q, bits)
		return err
	})
	return b.finished(ctx, c, done, err)
}

// finished sees that components are there, on the host if the device did not make them.
func (b *Backend) finished(ctx context.Context, c *components, done bool, err error) (processing.Components, error) {
	if err == nil && !done {
		_, err = b.atHost(ctx, c)
	}
	if err != nil {
		c.Release()
		return nil, err
	}
	return c, nil
}

// Grow extends cores over pixels of cls with ClassGrow.
func (b *Backend) Grow(ctx context.Context, cores processing.Components, cls processing.Plane, g processing.Growth) (processing.Components, error) {
	if err := args.Grow(b, cores, cls, g); err != nil {
		return nil, err
	}
	p := planes(cls)
	if err := b.demandAll(ctx, p); err != nil {
		return nil, err
	}
	k, v := cores.(*components), p[0].content
	c := b.from(p[0], append(slices.Clone(k.origins), origin{cls: v, growth: &g})...)
	if k.inner == nil {
		var err error
		c.host, err = b.host.Grow(ctx, k.host, v.stored, g)
		return b.finished(ctx, c, err == nil, err)
	}
	done, err := b.onDevice(ctx, v, func(q processing.Plane) (err error) {
		c.inner, err = b.inner.Grow(ctx, k.inner, q, g)
		return err
	})
	return b.finished(ctx, c, done, err)
}

// Keep empties the components whose label is not kept.
func (b *Backend) Keep(ctx context.Context, c processing.Components, keep []bool) error {
	if err := args.Keep(b, c, keep); err != nil {
		return err
	}
	q := c.(*components)
	if q.inner != nil {
		if err := b.inner.Keep(ctx, q.inner, keep); err != nil {
			return err
		}
	}
	if q.host != nil {
		if err := b.host.Keep(ctx, q.host, keep); err != nil {
			return err
		}
	}
	if len(keep) > 0 {
		q.origins = append(q.origins, origin{keep: slices.Clone(keep)})
	}
	return nil
}

// Paint writes 255 into dst where a component is, 0 elsewhere.
func (b *Backend) Paint(ctx context.Context, dst processing.Plane, c processing.Components) error {
	if err := args.Paint(b, dst, c); err != nil {
		return err
	}
	p := planes(dst)
	q := c.(*components)
	return b.onHost(ctx, operation{writes: p, run: func(ctx context.Context, on *site) error {
		if q.inner == nil {
			l, err := b.atHost(ctx, q)
			if err != nil {
				return err
			}
			return on.Paint(ctx, on.of(p[0]), l)
		}
		// Spans are little beside the plane that the device would paint and send.
		spans, err := b.inner.Spans(ctx, q.inner)
		if err != nil {
			return err
		}
		s, err := b.host.Host(ctx, on.of(p[0]))
		if err != nil {
			return err
		}
		parallel.Split(len(s.U8), 1<<18, func(from, to int) { clear(s.U8[from:to]) })
		span.Fill(s.U8, p[0].w, spans, 255)
		return ctx.Err()
	}})
}

// Spans returns the runs of pixels of equal label.
func (b *Backend) Spans(ctx context.Context, c processing.Components) ([]processing.Span, error) {
	if err := args.Spans(b, c); err != nil {
		return nil, err
	}
	q := c.(*components)
	if q.inner != nil {
		return b.inner.Spans(ctx, q.inner)
	}
	return b.host.Spans(ctx, q.host)
}

// FillHoles writes 255 into the pixels of dst that are 0 and do not reach the picture's border.
func (b *Backend) FillHoles(ctx context.Context, dst processing.Plane) error {
	if err := args.FillHoles(b, dst); err != nil {
		return err
	}
	p := planes(dst)
	return b.onHost(ctx, operation{reads: p, writes: p, run: func(ctx context.Context, on *site) error {
		return on.FillHoles(ctx, on.of(p[0]))
	}})
}

// Tally sums up each component. It reads eleven bytes a pixel, little of which is near a component: that is for the host.
func (b *Backend) Tally(ctx context.Context, c processing.Components, t processing.TallyPlanes, tables *processing.LumaTables) (sums []processing.Tally, err error) {
	if err := args.Tally(b, c, t, tables); err != nil {
		return nil, err
	}
	p := planes(t.Class, t.Member, t.Y, t.B, t.V, t.Spread, t.Starlet)
	q := c.(*components)
	err = b.onHost(ctx, operation{reads: p, run: func(ctx context.Context, on *site) error {
		l, err := b.atHost(ctx, q)
		if err != nil {
			return err
		}
		sums, err = on.Tally(ctx, l, processing.TallyPlanes{
			Class: on.of(p[0]), Member: on.of(p[1]), Y: on.of(p[2]), B: on.of(p[3]), V: on.of(p[4]), Spread: on.of(p[5]), Starlet: on.of(p[6]),
		}, tables)
		return err
	}})
	return sums, err
}
