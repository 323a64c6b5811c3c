package cpu

import (
	"context"
	"errors"
	"math"
	"sync"

	"blik/processing/cpu/kernel"
)

// rounding returns the rounding for windows of g and samples up to a magnitude with these bits.
func rounding(g window, most uint32) *kernel.Rounding {
	return kernel.NewRounding(2*g.rx+1, 2*g.ry+1, float64(math.Float32frombits(most)))
}

// floatVariance is MeanVariance for floats, by running sums. It works with the unit that a few rows suggest, and again
// if the largest of all samples needs another one.
func (b *Backend) floatVariance(ctx context.Context, m, v, s *plane, g window) error {
	const step = 16
	var most uint32
	for y := 0; y < s.h; y += step {
		_, high := b.kernels.Magnitudes(s.data.F32[y*s.w : (y+1)*s.w])
		most = max(most, high)
	}
	for most < kernel.Infinity {
		round := rounding(g, most)
		greatest, err := b.roundedVariance(ctx, m, v, s, g, round)
		if err != nil {
			return err
		}
		most = greatest
		if most < kernel.Infinity && *rounding(g, most) == *round {
			return nil
		}
	}
	return errors.New("mean and variance of samples that are not finite")
}

// roundedVariance is floatVariance with sums of a given unit, and returns the bits of the greatest magnitude; those of
// NaN are above those of infinity.
func (b *Backend) roundedVariance(ctx context.Context, m, v, s *plane, g window, r *kernel.Rounding) (uint32, error) {
	src, w, k := s.data.F32, s.w, &b.kernels
	var mu sync.Mutex
	var greatest uint32
	err := b.tiles(ctx, w, s.h, g.rx, g.ry, func(t *worker, tile rect) {
		x0, x1, at := g.columns(tile)
		// The kernel also reads the column before the first window.
		width := 1 + g.width(tile) + kernel.Block
		col, col2 := zeroScratch[float64](t, width), zeroScratch[float64](t, width)
		none := zeroScratch[float32](t, x1-x0)
		c, ny, most := kernel.NewFloatCounts(&t.arena, tile.x1-tile.x0, g.columnsAt(tile.x0)), 0, uint32(0)
		g.slide(t, tile, func(add, sub int) {
			in := rowOr(src, w, add, x0, x1, none)
			_, high := k.Magnitudes(in)
			most = max(most, high)
			k.SlideRounded(col[1+at:][:x1-x0], col2[1+at:][:x1-x0], in, rowOr(src, w, sub, x0, x1, none), r)
		}, func(y int) {
			if n := g.countY(y); n != ny {
				ny = n
				c.Set(ny)
			}
			k.FloatVariances(m.data.F32[y*w+tile.x0:y*w+tile.x1], v.data.F32[y*w+tile.x0:y*w+tile.x1], col, col2,
				2*g.rx+1, c)
		})
		mu.Lock()
		defer mu.Unlock()
		greatest = max(greatest, most)
	})
	return greatest, err
}
