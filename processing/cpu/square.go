package cpu

import (
	"context"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// MeanVariance writes mean and population variance (F32) of the window of a radius, 0…127, of a U8, U16 or F32 plane
// from n²σ² = n·ΣX² − (ΣX)². The sums are recursive, four additions a pixel at any radius (McDonnell 1981), and exact:
// floats and their squares are first rounded to multiples of a unit, as fine as 53 bits of a sum allow. With M the
// greatest magnitude in the plane, means err by at most 2⁻³⁵·M and variances by 2⁻³⁴·M² before they are rounded to
// F32; no variance is negative. Samples that are not finite are an error.
func MeanVariance(ctx context.Context, b *Backend, mean, variance, src processing.Plane, radius int) error {
	m, v, s := mean.(*plane), variance.(*plane), src.(*plane)
	g := newWindow(s.w, s.h, radius)
	switch s.kind {
	case processing.F32:
		return b.floatVariance(ctx, m, v, s, g)
	case processing.U8:
		if g.ry <= kernel.MaxBytes && (2*g.rx+1)*(2*g.ry+1) < kernel.MaxMean {
			return b.varianceRows(ctx, m, v, s, g)
		}
		return meanVariance[uint8](ctx, b, m, v, s, g)
	}
	return meanVariance[uint16](ctx, b, m, v, s, g)
}

// meanVariance is MeanVariance by exact sums: those of 16-bit samples over at most 255 × 255 pixels fit 32 bits, those
// of the squares 64, and so does n·ΣX².
func meanVariance[T uint8 | uint16](ctx context.Context, b *Backend, m, v, s *plane, g window) error {
	k, src, w := kernel.SumsOf[T](&b.kernels), pixels[T](s), s.w
	return b.tiles(ctx, w, s.h, g.rx, g.ry, func(t *worker, tile rect) {
		x0, x1, at := g.columns(tile)
		n := tile.x1 - tile.x0
		col, col2 := zeroScratch[uint32](t, g.width(tile)), zeroScratch[uint64](t, g.width(tile))
		sum, sum2 := scratch[uint32](t, n), scratch[uint64](t, n)
		none := zeroScratch[T](t, x1-x0)
		// Windows have the same width except at the sides of the picture.
		columns := scratch[int32](t, n)
		for i := range columns {
			columns[i] = int32(g.countX(tile.x0 + i))
		}
		ends := runEnds(columns)
		g.slide(t, tile, func(add, sub int) {
			a, d := rowOr(src, w, add, x0, x1, none), rowOr(src, w, sub, x0, x1, none)
			k.Slide32(col[at:at+x1-x0], a, d)
			k.Squares(col2[at:at+x1-x0], a, d)
		}, func(y int) {
			b.kernels.Scan32(sum, col, 2*g.rx+1)
			b.kernels.Scan64(sum2, col2, 2*g.rx+1)
			mean, variance := m.data.F32[y*w+tile.x0:y*w+tile.x1], v.data.F32[y*w+tile.x0:y*w+tile.x1]
			i, ny := 0, g.countY(y)
			for _, j := range ends {
				b.kernels.MeanVariance(mean[i:j], variance[i:j], sum[i:j], sum2[i:j], ny*int(columns[i]))
				i = j
			}
		})
	})
}

// varianceRows is MeanVariance for bytes in windows small enough for 32-bit sums of squares.
func (b *Backend) varianceRows(ctx context.Context, m, v, s *plane, g window) error {
	src, w := s.data.U8, s.w
	return b.tiles(ctx, w, s.h, g.rx, g.ry, func(t *worker, tile rect) {
		x0, x1, at := g.columns(tile)
		// The kernel also reads the column before the first window.
		width := 1 + g.width(tile) + kernel.Block
		col, col2 := zeroScratch[uint16](t, width), zeroScratch[uint32](t, width)
		none := zeroScratch[uint8](t, x1-x0)
		c, ny := kernel.NewCounts(&t.arena, tile.x1-tile.x0, g.columnsAt(tile.x0)), 0
		g.slide(t, tile, func(add, sub int) {
			a, d := rowOr(src, w, add, x0, x1, none), rowOr(src, w, sub, x0, x1, none)
			b.kernels.SlideBytes(col[1+at:][:x1-x0], a, d)
			b.kernels.SlideSquares(col2[1+at:][:x1-x0], a, d)
		}, func(y int) {
			if n := g.countY(y); n != ny {
				ny = n
				c.Set(ny, false)
			}
			b.kernels.Variances8(m.data.F32[y*w+tile.x0:y*w+tile.x1], v.data.F32[y*w+tile.x0:y*w+tile.x1], col, col2,
				2*g.rx+1, c)
		})
	})
}
