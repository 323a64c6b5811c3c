//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"

	"blik/processing"
)

// Luminance uploads the picture and writes the planes that are given; processing.LuminanceTables has the arithmetic.
func (b executor) Luminance(ctx context.Context, op processing.Luminance) error {
	return b.run(ctx, func(q *queue) error {
		v, err := q.lights(op)
		if err != nil {
			return err
		}
		// Bands of rows bound the memory for samples, and the delay until a cancel is noticed.
		band := max(1, min(v.h, luminanceBand/v.row))
		memory, err := q.bytes(int64(band) * int64(v.row))
		if err != nil {
			return err
		}
		for top := 0; top < v.h; top += band {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(band, v.h-top)
			err := q.copying(stageUpload, func() error {
				return q.d.uploadIn(q.d.stream, memory.ptr, v.samples[top*v.row:(top+n)*v.row])
			})
			if err != nil {
				return err
			}
			if err := v.rows(memory, top, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// lights is one call of Luminance.
type lights struct {
	q              *queue
	y, v           *plane
	rgb            [3]*plane
	w, h, channels int
	// samples are those of the picture, row bytes a row; size is that of one.
	samples              []byte
	row, size            int
	kernel               string
	linear, enc, display buffer
}

// lights prepares the arguments of the kernels.
func (q *queue) lights(op processing.Luminance) (v *lights, err error) {
	v = &lights{q: q, w: op.Picture.Width, h: op.Picture.Height, channels: op.Picture.Channels}
	// The kernels skip planes without memory.
	v.y, v.v, v.rgb = &plane{}, &plane{}, [3]*plane{{}, {}, {}}
	if op.Lit() {
		v.y, v.v = op.Y.(*plane), op.V.(*plane)
	}
	if op.Coloured() {
		v.rgb = [3]*plane{op.Red.(*plane), op.Green.(*plane), op.Blue.(*plane)}
	}
	linear := op.Tables.Linear16
	v.kernel, v.samples, v.size = "lumaU16", BytesOf(op.Picture.U16), 2
	switch op.Picture.Depth() {
	case 8:
		linear, v.kernel, v.samples, v.size = op.Tables.Linear8, "lumaU8", op.Picture.U8, 1
	case 32:
		v.kernel, v.samples, v.size = "lumaF32", BytesOf(op.Picture.F32), 4
	}
	v.row = op.Picture.Width * op.Picture.Channels * v.size
	if v.linear, err = q.constants(BytesOf(linear)); err != nil {
		return nil, err
	}
	if v.enc, err = q.constants(op.Tables.Encode8); err != nil {
		return nil, err
	}
	if op.Coloured() {
		if v.display, err = q.constants(op.Tables.Display); err != nil {
			return nil, err
		}
	}
	q.writes(v.y, v.v)
	q.writes(v.rgb[:]...)
	return v, nil
}

// rows queues the work on n rows from row top on, whose samples lie in memory.
func (v *lights) rows(memory buffer, top, n int) error {
	if v.size == 1 && v.channels == 3 {
		// lumaThreads and lumaRows of point.cu, four pixels a thread.
		const columns, rows = 4 * 128, 16
		grid := dim{(v.w + columns - 1) / columns, (n + rows - 1) / rows}
		return v.q.Launch("lumaRGB8", grid, dim{x: columns / 4}, v.y.from(top), v.v.from(top), v.rgb[0].from(top),
			v.rgb[1].from(top), v.rgb[2].from(top), memory, v.linear, v.enc, v.display, v.w, n)
	}
	return v.q.Pixels(v.kernel, v.w, n, v.y.from(top), v.v.from(top), v.rgb[0].from(top), v.rgb[1].from(top),
		v.rgb[2].from(top), memory, v.channels, v.linear, v.enc, v.display)
}

// luminanceBand is the approximate number of bytes of a picture that are on the device at a time.
const luminanceBand = 64 << 20

// from returns the part of p from row y on, as a kernel argument.
func (p *plane) from(y int) *plane {
	part := *p
	part.memory.ptr += cuPtr(int64(y) * p.pitch)
	return &part
}

// eights is pixels for kernels whose threads take eight of a row.
func (q *queue) eights(name string, w, h int, args ...any) error {
	grid, block := Over((w+7)/8, h)
	return q.Launch(name, grid, block, append(args, w, h)...)
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
