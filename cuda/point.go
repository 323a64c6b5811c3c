//go:build cuda && linux && amd64

package cuda

import (
	"context"

	"blik/processing"
	"blik/processing/args"
)

// Luma uploads the picture and writes the two planes that detection works on; processing.LumaTables has the
// arithmetic.
func (b *Backend) Luma(ctx context.Context, y, v processing.Plane, pic *processing.Picture, t *processing.LumaTables) error {
	if err := args.Luma(b, y, v, pic, t); err != nil {
		return err
	}
	yp, vp := y.(*plane), v.(*plane)
	w, h := yp.w, yp.h
	linear, kernel, samples := t.Linear16, "lumaU16", bytesOf(pic.U16)
	size := 2
	switch pic.Depth() {
	case 8:
		linear, kernel, samples, size = t.Linear8, "lumaU8", pic.U8, 1
	case 32:
		kernel, samples, size = "lumaF32", bytesOf(pic.F32), 4
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
		band := max(1, min(h, lumaBand/row))
		memory, err := q.bytes(int64(band) * int64(row))
		if err != nil {
			return err
		}
		q.writes(yp, vp)
		for top := 0; top < h; top += band {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(band, h-top)
			part := samples[top*row : (top+n)*row]
			err := q.copying(stageUpload, func() error { return q.d.upload(memory.ptr, int64(len(part)), part, len(part)) })
			if err != nil {
				return err
			}
			if size == 1 && pic.Channels == 3 {
				// lumaThreads and lumaRows of point.cu, four pixels a thread.
				const columns, rows = 4 * 128, 16
				grid := dim{(w + columns - 1) / columns, (n + rows - 1) / rows}
				if err := q.launch("lumaRGB8", grid, dim{x: columns / 4}, yp.from(top), vp.from(top), memory, lin, enc, w, n); err != nil {
					return err
				}
				continue
			}
			if err := q.pixels(kernel, w, n, yp.from(top), vp.from(top), memory, pic.Channels, lin, enc); err != nil {
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
	if err := args.Contrast(b, cls, seed, y, bg, v); err != nil {
		return err
	}
	c, s, l, g, e := cls.(*plane), seed.(*plane), y.(*plane), bg.(*plane), v.(*plane)
	return b.run(ctx, func(q *queue) error {
		q.writes(c, s)
		return q.eights("contrast", c.w, c.h, c, s, l, g, e, int(rule.Absolute), int(rule.Relative),
			int(rule.SeedAbsolute), int(rule.SeedRelative), int(rule.SeedLevel))
	})
}

// Cores adds the class bits Core and Grow to cls.
func (b *Backend) Cores(ctx context.Context, cls, y, bg, m processing.Plane, rule processing.CoreRule) error {
	if err := args.Cores(b, cls, y, bg, m); err != nil {
		return err
	}
	c, l, g, p := cls.(*plane), y.(*plane), bg.(*plane), m.(*plane)
	return b.run(ctx, func(q *queue) error {
		q.writes(c)
		return q.eights("cores", c.w, c.h, c, l, g, p, int(rule.Core), int(rule.Grow))
	})
}

// Threshold writes 255 where src ≥ level and 0 elsewhere; dst may be src.
func (b *Backend) Threshold(ctx context.Context, dst, src processing.Plane, level uint32) error {
	if err := args.Threshold(b, dst, src); err != nil {
		return err
	}
	d, s := dst.(*plane), src.(*plane)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		return q.pixels("threshold"+s.kind.String(), d.w, d.h, d, s, int(level))
	})
}

// Excess writes 255 where y − b > over and v ≥ level, else 0.
func (b *Backend) Excess(ctx context.Context, dst, y, bg, v processing.Plane, over uint16, level uint8) error {
	if err := args.Excess(b, dst, y, bg, v); err != nil {
		return err
	}
	d, l, g, e := dst.(*plane), y.(*plane), bg.(*plane), v.(*plane)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		return q.eights("excess", d.w, d.h, d, l, g, e, int(over), int(level))
	})
}
