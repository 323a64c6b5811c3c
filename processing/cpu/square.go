package cpu

import (
	"context"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// square holds the running sums of a window: of the samples and, if wanted, of their squares.
type square struct {
	window
	col   []uint32
	col2  []uint64
	sum   []uint32
	sum2  []uint64
	at, n int
	// countsX holds how many columns of the window lie inside the picture.
	countsX []int32
}

func newSquare(t *worker, g window, tile rect, squares bool) *square {
	x0, x1, at := g.columns(tile)
	s := &square{window: g, at: at, n: x1 - x0, countsX: scratch[int32](t, tile.x1-tile.x0)}
	for i := range s.countsX {
		s.countsX[i] = int32(g.countX(tile.x0 + i))
	}
	s.col, s.sum = zeroScratch[uint32](t, g.width(tile)), scratch[uint32](t, tile.x1-tile.x0)
	if squares {
		s.col2, s.sum2 = zeroScratch[uint64](t, g.width(tile)), scratch[uint64](t, tile.x1-tile.x0)
	}
	return s
}

// squareSums slides windows of several radii down a tile together and calls emit with their sums for every row. All
// sums are exact: those of 16-bit samples over at most 255 × 255 pixels fit 32 bits, those of the squares 64, and so
// does n·ΣX².
func squareSums[T uint8 | uint16](b *Backend, t *worker, tile rect, src []T, squares []*square, emit func(y int)) {
	k := kernel.SumsOf[T](&b.kernels)
	var none []T
	for _, s := range squares {
		none = zeroScratch[T](t, max(len(none), s.n))
	}
	move := func(s *square, add, sub int) {
		x0, x1, _ := s.columns(tile)
		a, d := rowOr(src, s.w, add, x0, x1, none), rowOr(src, s.w, sub, x0, x1, none)
		k.Slide32(s.col[s.at:s.at+s.n], a, d)
		if s.col2 != nil {
			k.Squares(s.col2[s.at:s.at+s.n], a, d)
		}
	}
	p := newCancelCheck(t, 2*len(squares)*(tile.x1-tile.x0))
	for _, s := range squares {
		for y := max(0, tile.y0-s.ry); y < min(s.h, tile.y0+s.ry); y++ {
			if p.stop() {
				return
			}
			move(s, y, -1)
		}
	}
	for y := tile.y0; y < tile.y1; y++ {
		if p.stop() {
			return
		}
		for _, s := range squares {
			add, sub := s.entering(tile, y)
			move(s, add, sub)
			b.kernels.Scan32(s.sum, s.col, 2*s.rx+1)
			if s.col2 != nil {
				b.kernels.Scan64(s.sum2, s.col2, 2*s.rx+1)
			}
		}
		emit(y)
	}
}

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

func meanVariance[T uint8 | uint16](ctx context.Context, b *Backend, m, v, s *plane, g window) error {
	return b.tiles(ctx, s.w, s.h, g.rx, g.ry, func(t *worker, tile rect) {
		q := newSquare(t, g, tile, true)
		// Windows have the same width except at the sides of the picture.
		ends := runEnds(q.countsX)
		squareSums(b, t, tile, pixels[T](s), []*square{q}, func(y int) {
			mean := m.data.F32[y*s.w+tile.x0 : y*s.w+tile.x1]
			variance := v.data.F32[y*s.w+tile.x0 : y*s.w+tile.x1]
			ny := g.countY(y)
			i := 0
			for _, j := range ends {
				b.kernels.MeanVariance(mean[i:j], variance[i:j], q.sum[i:j], q.sum2[i:j], ny*int(q.countsX[i]))
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
