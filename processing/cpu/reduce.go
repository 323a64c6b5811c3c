package cpu

import (
	"context"
	"math"
	"slices"
	"sync"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// Histogram counts the values of src where exclude is 0; exclude may be nil.
func (b executor) Histogram(ctx context.Context, op processing.Histogram) ([]uint64, error) {
	s := op.Src.(*plane)
	var e *plane
	if op.Exclude != nil {
		e = op.Exclude.(*plane)
	}
	const bins = 1 << 8
	total := make([]uint64, bins)
	var mu sync.Mutex
	// A task is a large share of the picture, so that clearing and adding its bins takes little time in comparison.
	n := s.w * s.h
	share := max(spanPixels, (n+4*b.workers-1)/(4*b.workers), 4*bins)
	share = min(share, 1<<30)
	err := b.each(ctx, (n+share-1)/share, func(t *worker, k int) {
		part := zeroScratch[uint32](t, bins)
		for i := k * share; i < min(n, (k+1)*share); i += spanPixels {
			if t.stopped() {
				return
			}
			j := min(n, (k+1)*share, i+spanPixels)
			var out []uint8
			if e != nil {
				out = e.data.U8[i:j]
			}
			kernel.Histogram(part, s.data.U8[i:j], out)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, c := range part {
			total[i] += uint64(c)
		}
	})
	if err != nil {
		return nil, err
	}
	return total, nil
}

// NoiseTiles returns the noise of each tile in the source's own levels, tiles in reading order. The Haar transform is
// that of the tile: its blocks of 2 × 2 pixels begin at the tile's corner, and a last odd row or column has no HH1.
func (b executor) NoiseTiles(ctx context.Context, op processing.NoiseTiles) ([]float64, error) {
	s := op.Src.(*plane)
	src, w, h, side := s.data.U8, s.w, s.h, op.Side
	// A larger side also leaves the whole picture under a quarter of the tile's area.
	side = min(side, 2*max(w, h)+1)
	nx, ny := (w+side-1)/side, (h+side-1)/side
	sigma := make([]float64, nx*ny)
	err := b.each(ctx, len(sigma), func(t *worker, i int) {
		sigma[i] = math.NaN()
		x, y := i%nx*side, i/nx*side
		tile := rect{x, y, min(w, x+side), min(h, y+side)}
		tw, th := tile.x1-x, tile.y1-y
		if 4*tw*th < side*side || tw < 2 || th < 2 {
			return
		}
		// The orthonormal coefficient is half the difference of differences.
		sigma[i] = medianDetail(t, src, w, tile) / 2 / 0.6745
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(sigma, math.IsNaN), nil
}

// medianDetail returns the median of |a − b − c + d| over the blocks a b / c d of a tile, for an even number the mean
// of the middle two. Details are small, so two counters of each value take turns.
func medianDetail(t *worker, src []uint8, w int, tile rect) float64 {
	var counts [2][512]int32
	n, rows := (tile.x1-tile.x0)/2, (tile.y1-tile.y0)/2
	p := newCancelCheck(t, 2*n)
	for j := 0; j < rows && !p.stop(); j++ {
		upper := src[(tile.y0+2*j)*w+tile.x0:][:2*n]
		lower := src[(tile.y0+2*j+1)*w+tile.x0:][:2*n]
		for k := 0; k+1 < len(upper) && k+1 < len(lower); k += 2 {
			v := int32(upper[k]) - int32(upper[k+1]) - int32(lower[k]) + int32(lower[k+1])
			counts[k>>1&1][max(v, -v)&511]++
		}
	}
	ranked := func(rank int) int {
		for v := range 511 {
			if rank -= int(counts[0][v] + counts[1][v]); rank < 0 {
				return v
			}
		}
		return 511
	}
	return (float64(ranked((n*rows-1)/2)) + float64(ranked(n*rows/2))) / 2
}
