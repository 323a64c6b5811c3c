package cpu

import (
	"context"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// Contrast writes the class bits Wide and Seed into cls, and the contrast of seeds into seed.
func (b executor) Contrast(ctx context.Context, op processing.Contrast) error {
	c, s, l, g, e := op.Class.(*plane), op.Seed.(*plane), op.Y.(*plane), op.Background.(*plane), op.V.(*plane)
	return b.chunks(ctx, c.w*c.h, func(_ *worker, i, j int) {
		b.kernels.Contrast(c.data.U8[i:j], s.data.U16[i:j], l.data.U16[i:j], g.data.U16[i:j], e.data.U8[i:j], op.Rule)
	})
}

// Cores adds the class bits Core and Grow to cls.
func (b executor) Cores(ctx context.Context, op processing.Cores) error {
	c, l, g, p := op.Class.(*plane), op.Y.(*plane), op.Background.(*plane), op.Peak.(*plane)
	return b.chunks(ctx, c.w*c.h, func(_ *worker, i, j int) {
		kernel.Cores(c.data.U8[i:j], l.data.U16[i:j], g.data.U16[i:j], p.data.U16[i:j], op.Rule)
	})
}

// DifferenceThreshold writes 255 where y − b > over and v ≥ level, else 0.
func (b executor) DifferenceThreshold(ctx context.Context, op processing.DifferenceThreshold) error {
	d, l, g, e := op.Dst.(*plane), op.Y.(*plane), op.Background.(*plane), op.V.(*plane)
	return b.chunks(ctx, d.w*d.h, func(_ *worker, i, j int) {
		b.kernels.DifferenceThreshold(d.data.U8[i:j], l.data.U16[i:j], g.data.U16[i:j], e.data.U8[i:j], int32(op.Over),
			int32(op.Level))
	})
}
