//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"

	"blik/processing"
)

// Luminance uploads the picture and writes the two planes that detection works on; processing.LuminanceTables has the
// arithmetic.
func (b executor) Luminance(ctx context.Context, op processing.Luminance) error {
	yp, vp := op.Y.(*plane), op.V.(*plane)
	w, h := yp.w, yp.h
	// The planes for the network; without memory the kernels leave them.
	rgb := [3]*plane{{}, {}, {}}
	if op.Coloured() {
		rgb = [3]*plane{op.Red.(*plane), op.Green.(*plane), op.Blue.(*plane)}
	}
	linear, kernel, samples := op.Tables.Linear16, "lumaU16", bytesOf(op.Picture.U16)
	size := 2
	switch op.Picture.Depth() {
	case 8:
		linear, kernel, samples, size = op.Tables.Linear8, "lumaU8", op.Picture.U8, 1
	case 32:
		kernel, samples, size = "lumaF32", bytesOf(op.Picture.F32), 4
	}
	return b.run(ctx, func(q *queue) error {
		lin, err := q.constants(bytesOf(linear))
		if err != nil {
			return err
		}
		enc, err := q.constants(op.Tables.Encode8)
		if err != nil {
			return err
		}
		var display buffer
		if op.Coloured() {
			if display, err = q.constants(op.Tables.Display); err != nil {
				return err
			}
		}
		// Bands of rows bound the memory for samples, and the time until a cancel is seen.
		row := op.Picture.Width * op.Picture.Channels * size
		band := max(1, min(h, luminanceBand/row))
		memory, err := q.bytes(int64(band) * int64(row))
		if err != nil {
			return err
		}
		q.writes(yp, vp)
		q.writes(rgb[:]...)
		for top := 0; top < h; top += band {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(band, h-top)
			part := samples[top*row : (top+n)*row]
			err := q.copying(stageUpload, func() error {
				return q.d.upload(memory.ptr, int64(len(part)), part, len(part))
			})
			if err != nil {
				return err
			}
			if size == 1 && op.Picture.Channels == 3 {
				// lumaThreads and lumaRows of point.cu, four pixels a thread.
				const columns, rows = 4 * 128, 16
				grid := dim{(w + columns - 1) / columns, (n + rows - 1) / rows}
				if err := q.launch("lumaRGB8", grid, dim{x: columns / 4}, yp.from(top), vp.from(top),
					rgb[0].from(top), rgb[1].from(top), rgb[2].from(top), memory, lin, enc, display, w, n); err != nil {
					return err
				}
				continue
			}
			if err := q.pixels(kernel, w, n, yp.from(top), vp.from(top), rgb[0].from(top), rgb[1].from(top),
				rgb[2].from(top), memory, op.Picture.Channels, lin, enc, display); err != nil {
				return err
			}
		}
		return nil
	})
}

// luminanceBand is about how many bytes of a picture are on the device at a time.
const luminanceBand = 64 << 20

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
func (b executor) Contrast(ctx context.Context, op processing.Contrast) error {
	c, s, l, g, e := op.Class.(*plane), op.Seed.(*plane), op.Y.(*plane), op.Background.(*plane), op.V.(*plane)
	return b.run(ctx, func(q *queue) error {
		q.writes(c, s)
		return q.eights("contrast", c.w, c.h, c, s, l, g, e, int(op.Rule.Absolute), int(op.Rule.Relative),
			int(op.Rule.SeedAbsolute), int(op.Rule.SeedRelative), int(op.Rule.SeedLevel))
	})
}

// Cores adds the class bits Core and Grow to cls.
func (b executor) Cores(ctx context.Context, op processing.Cores) error {
	c, l, g, p := op.Class.(*plane), op.Y.(*plane), op.Background.(*plane), op.Peak.(*plane)
	return b.run(ctx, func(q *queue) error {
		q.writes(c)
		return q.eights("cores", c.w, c.h, c, l, g, p, int(op.Rule.Core), int(op.Rule.Grow))
	})
}

// DifferenceThreshold writes 255 where y − b > over and v ≥ level, else 0.
func (b executor) DifferenceThreshold(ctx context.Context, op processing.DifferenceThreshold) error {
	d, l, g, e := op.Dst.(*plane), op.Y.(*plane), op.Background.(*plane), op.V.(*plane)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		return q.eights("excess", d.w, d.h, d, l, g, e, int(op.Over), int(op.Level))
	})
}
