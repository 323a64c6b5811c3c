package cpu

import (
	"context"

	"blik/processing"
)

// Contrast writes the class bits Wide and Seed into cls, and the contrast of seeds into seed.
func (b executor) Contrast(ctx context.Context, op processing.Contrast) error {
	c, s, l, g, e := op.Class.(*plane), op.Seed.(*plane), op.Y.(*plane), op.Background.(*plane), op.V.(*plane)
	return b.chunks(ctx, c.w*c.h, func(_ *worker, i, j int) {
		b.kernels.contrast(c.data.U8[i:j], s.data.U16[i:j], l.data.U16[i:j], g.data.U16[i:j], e.data.U8[i:j], op.Rule)
	})
}

func contrast(cls []uint8, seed, y, bg []uint16, v []uint8, rule processing.ContrastRule) {
	n := len(cls)
	seed, y, bg, v = seed[:n], y[:n], bg[:n], v[:n]
	absolute := int32(rule.Absolute)
	for i := range cls {
		d := int32(y[i]) - int32(bg[i])
		cls[i], seed[i] = 0, 0
		if d <= absolute {
			continue
		}
		scaled := uint64(d) << 16
		if scaled <= uint64(rule.Relative)*uint64(bg[i]) {
			continue
		}
		cls[i] = processing.ClassWide
		if d > int32(rule.SeedAbsolute) && v[i] >= rule.SeedLevel &&
			(rule.SeedRelative == 0 || scaled > uint64(rule.SeedRelative)*uint64(65535-bg[i])) {
			cls[i] = processing.ClassWide | processing.ClassSeed
			seed[i] = uint16(d)
		}
	}
}

// Cores adds the class bits Core and Grow to cls.
func (b executor) Cores(ctx context.Context, op processing.Cores) error {
	c, l, g, p := op.Class.(*plane), op.Y.(*plane), op.Background.(*plane), op.Peak.(*plane)
	return b.chunks(ctx, c.w*c.h, func(_ *worker, i, j int) {
		b.kernels.cores(c.data.U8[i:j], l.data.U16[i:j], g.data.U16[i:j], p.data.U16[i:j], op.Rule)
	})
}

func cores(cls []uint8, y, bg, m []uint16, rule processing.CoreRule) {
	n := len(cls)
	y, bg, m = y[:n], bg[:n], m[:n]
	for i := 0; i < n; i++ {
		if cls[i] == 0 {
			// Most pixels have no class: skip them by words.
			for _, v := range words(cls[i+1:]) {
				if v != 0 {
					break
				}
				i += 8
			}
			continue
		}
		c := cls[i]
		if c&processing.ClassWide == 0 && c&processing.ClassSeed == 0 {
			continue
		}
		d := uint64(max(int32(y[i])-int32(bg[i]), 0)) << 16
		if c&processing.ClassSeed != 0 && d >= uint64(rule.Core)*uint64(m[i]) {
			c |= processing.ClassCore
		}
		if c&processing.ClassWide != 0 && d > uint64(rule.Grow)*uint64(m[i]) {
			c |= processing.ClassGrow
		}
		cls[i] = c
	}
}

// DifferenceThreshold writes 255 where y − b > over and v ≥ level, else 0.
func (b executor) DifferenceThreshold(ctx context.Context, op processing.DifferenceThreshold) error {
	d, l, g, e := op.Dst.(*plane), op.Y.(*plane), op.Background.(*plane), op.V.(*plane)
	return b.chunks(ctx, d.w*d.h, func(_ *worker, i, j int) {
		b.kernels.differenceThreshold(d.data.U8[i:j], l.data.U16[i:j], g.data.U16[i:j], e.data.U8[i:j], int32(op.Over),
			int32(op.Level))
	})
}

func differenceThreshold(dst []uint8, y, bg []uint16, v []uint8, over, level int32) {
	n := len(dst)
	y, bg, v = y[:n], bg[:n], v[:n]
	for i := range dst {
		high := over - (int32(y[i]) - int32(bg[i]))
		bright := level - 1 - int32(v[i])
		dst[i] = uint8((high & bright) >> 31)
	}
}
