package cpu

import (
	"context"

	"blik/processing"
	"blik/processing/args"
)

// Contrast writes the class bits Wide and Seed into cls, and the contrast of seeds into seed.
func (b *Backend) Contrast(ctx context.Context, cls, seed, y, bg, v processing.Plane, rule processing.ContrastRule) error {
	if err := args.Contrast(b, cls, seed, y, bg, v); err != nil {
		return err
	}
	c, s, l, g, e := cls.(*plane), seed.(*plane), y.(*plane), bg.(*plane), v.(*plane)
	return b.spans(ctx, c.w*c.h, func(_ *worker, i, j int) {
		contrast(c.data.U8[i:j], s.data.U16[i:j], l.data.U16[i:j], g.data.U16[i:j], e.data.U8[i:j], rule)
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
func (b *Backend) Cores(ctx context.Context, cls, y, bg, m processing.Plane, rule processing.CoreRule) error {
	if err := args.Cores(b, cls, y, bg, m); err != nil {
		return err
	}
	c, l, g, p := cls.(*plane), y.(*plane), bg.(*plane), m.(*plane)
	return b.spans(ctx, c.w*c.h, func(_ *worker, i, j int) {
		cores(c.data.U8[i:j], l.data.U16[i:j], g.data.U16[i:j], p.data.U16[i:j], rule)
	})
}

func cores(cls []uint8, y, bg, m []uint16, rule processing.CoreRule) {
	n := len(cls)
	y, bg, m = y[:n], bg[:n], m[:n]
	for i := 0; i < n; i++ {
		if cls[i] == 0 {
			// Most pixels are of no class: go over them by words.
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

// Threshold writes 255 where src ≥ level and 0 elsewhere; dst may be src.
func (b *Backend) Threshold(ctx context.Context, dst, src processing.Plane, level uint32) error {
	if err := args.Threshold(b, dst, src); err != nil {
		return err
	}
	d, s := dst.(*plane), src.(*plane)
	return b.spans(ctx, d.w*d.h, func(_ *worker, i, j int) {
		if s.kind == processing.U8 {
			threshold(d.data.U8[i:j], s.data.U8[i:j], level)
		} else {
			threshold(d.data.U8[i:j], s.data.U16[i:j], level)
		}
	})
}

func threshold[T uint8 | uint16](dst []uint8, src []T, level uint32) {
	src = src[:len(dst)]
	for i, v := range src {
		// The sign of v − level, spread over all bits.
		dst[i] = ^uint8((int64(v) - int64(level)) >> 63)
	}
}

// Excess writes 255 where y − b > over and v ≥ level, else 0.
func (b *Backend) Excess(ctx context.Context, dst, y, bg, v processing.Plane, over uint16, level uint8) error {
	if err := args.Excess(b, dst, y, bg, v); err != nil {
		return err
	}
	d, l, g, e := dst.(*plane), y.(*plane), bg.(*plane), v.(*plane)
	return b.spans(ctx, d.w*d.h, func(_ *worker, i, j int) {
		excess(d.data.U8[i:j], l.data.U16[i:j], g.data.U16[i:j], e.data.U8[i:j], int32(over), int32(level))
	})
}

func excess(dst []uint8, y, bg []uint16, v []uint8, over, level int32) {
	n := len(dst)
	y, bg, v = y[:n], bg[:n], v[:n]
	for i := range dst {
		high := over - (int32(y[i]) - int32(bg[i]))
		bright := level - 1 - int32(v[i])
		dst[i] = uint8((high & bright) >> 31)
	}
}
