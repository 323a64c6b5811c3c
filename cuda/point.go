//go:build cuda && linux && amd64

package cuda

import (
	"context"

	"blik/processing"
)

// Luma uploads the picture and writes the two planes that detection works on; processing.LumaTables has the
// arithmetic.
func (b *Backend) Luma(ctx context.Context, y, v processing.Plane, pic *processing.Picture, t *processing.LumaTables) error {
	a := b.args("luma")
	yp := a.plane("luminance", y, processing.U16)
	vp := a.plane("level", v, processing.U8)
	if pic == nil || t == nil {
		a.fail("no picture or no tables given")
	}
	if a.err != nil {
		return a.err
	}
	if err := pic.Validate(); err != nil {
		return err
	}
	if pic.Width != a.w || pic.Height != a.h {
		a.fail("the picture is %d × %d pixels, the planes are %d × %d", pic.Width, pic.Height, a.w, a.h)
	}
	linear, kernel, samples := t.Linear16, "lumaU16", bytesOf(pic.U16)
	size := 2
	switch pic.Depth() {
	case 8:
		linear, kernel, samples, size = t.Linear8, "lumaU8", pic.U8, 1
	case 32:
		kernel, samples, size = "lumaF32", bytesOf(pic.F32), 4
	}
	switch {
	case len(t.Encode8) != 1<<16:
		a.fail("the encoding table has %d entries, must have 65536", len(t.Encode8))
	case size == 1 && len(linear) != 1<<8:
		a.fail("the 8-bit linear table has %d entries, must have 256", len(linear))
	case size != 1 && len(linear) != 1<<16:
		a.fail("the 16-bit linear table has %d entries, must have 65536", len(linear))
	}
	if a.err != nil {
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		lin, err := q.constants(bytesOf(linear))
		if err != nil {
			return err
		}
		enc, err := q.constants(t.Encode8)
		if err != nil {
			return err
		}
		// Bands of rows bound the memory for samples, and the time until a cancel is seen.
		row := pic.Width * pic.Channels * size
		band := max(1, min(a.h, lumaBand/row))
		memory, err := q.bytes(int64(band) * int64(row))
		if err != nil {
			return err
		}
		q.writes(yp, vp)
		for top := 0; top < a.h; top += band {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(band, a.h-top)
			part := samples[top*row : (top+n)*row]
			err := q.copying(stageUpload, func() error { return q.d.upload(memory.ptr, int64(len(part)), part, len(part)) })
			if err != nil {
				return err
			}
			if size == 1 && pic.Channels == 3 {
				// lumaThreads and lumaRows of point.cu, four pixels a thread.
				const columns, rows = 4 * 128, 16
				grid := dim{(a.w + columns - 1) / columns, (n + rows - 1) / rows}
				if err := q.launch("lumaRGB8", grid, dim{x: columns / 4}, yp.from(top), vp.from(top), memory, lin, enc, a.w, n); err != nil {
					return err
				}
				continue
			}
			if err := q.pixels(kernel, a.w, n, yp.from(top), vp.from(top), memory, pic.Channels, lin, enc); err != nil {
				return err
			}
		}
		return nil
	})
}

// lumaBand is about how many bytes of a picture are on the device at a time.
const lumaBand = 64 << 20

// from is the part of p from row y on, for a kernel's argument.
func (p *plane) from(y int) *plane {
	part := *p
	part.memory.ptr += cuPtr(int64(y) * p.pitch)
	return &part
}

// eights is pixels for kernels whose threads take eight of a row.
func (q *queue) eights(name string, w, h int, args ...any) error {
	grid, block := over((w+7)/8, h)
	return q.launch(name, grid, block, append(args, w, h)...)
}

// Contrast writes the class bits Wide and Seed into cls, and the contrast of seeds into seed.
func (b *Backend) Contrast(ctx context.Context, cls, seed, y, bg, v processing.Plane, rule processing.ContrastRule) error {
	a := b.args("contrast")
	c := a.plane("class", cls, processing.U8)
	s := a.plane("seed", seed, processing.U16)
	l := a.plane("luminance", y, processing.U16)
	g := a.plane("background", bg, processing.U16)
	e := a.plane("level", v, processing.U8)
	a.apart(s, l, g)
	a.apart(c, e)
	if a.err != nil {
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(c, s)
		return q.eights("contrast", a.w, a.h, c, s, l, g, e, int(rule.Absolute), int(rule.Relative),
			int(rule.SeedAbsolute), int(rule.SeedRelative), int(rule.SeedLevel))
	})
}

// Cores adds the class bits Core and Grow to cls.
func (b *Backend) Cores(ctx context.Context, cls, y, bg, m processing.Plane, rule processing.CoreRule) error {
	a := b.args("cores")
	c := a.plane("class", cls, processing.U8)
	l := a.plane("luminance", y, processing.U16)
	g := a.plane("background", bg, processing.U16)
	p := a.plane("peak", m, processing.U16)
	if a.err != nil {
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(c)
		return q.eights("cores", a.w, a.h, c, l, g, p, int(rule.Core), int(rule.Grow))
	})
}

// Threshold writes 255 where src ≥ level and 0 elsewhere; dst may be src.
func (b *Backend) Threshold(ctx context.Context, dst, src processing.Plane, level uint32) error {
	a := b.args("threshold")
	d := a.plane("destination", dst, processing.U8)
	s := a.plane("source", src, processing.U8, processing.U16)
	if a.err != nil {
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		return q.pixels("threshold"+kindName(s.kind), a.w, a.h, d, s, int(level))
	})
}

// Excess writes 255 where y − b > over and v ≥ level, else 0.
func (b *Backend) Excess(ctx context.Context, dst, y, bg, v processing.Plane, over uint16, level uint8) error {
	a := b.args("excess")
	d := a.plane("destination", dst, processing.U8)
	l := a.plane("luminance", y, processing.U16)
	g := a.plane("background", bg, processing.U16)
	e := a.plane("level", v, processing.U8)
	if a.err != nil {
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		return q.eights("excess", a.w, a.h, d, l, g, e, int(over), int(level))
	})
}
