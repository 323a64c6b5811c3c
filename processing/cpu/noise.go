package cpu

import (
	"context"
	"math"
	"slices"

	"blik/processing"
)

// NoiseTiles returns the noise of each tile in the source's own levels, tiles in reading order. The Haar transform is
// that of the tile: its blocks of 2 × 2 pixels begin at the tile's corner, and a last odd row or column has no HH1.
func (b executor) NoiseTiles(ctx context.Context, op processing.NoiseTiles) ([]float64, error) {
	s := op.Src.(*plane)
	if s.kind == processing.U8 {
		return noiseTiles[uint8](ctx, b.Backend, s, op.Side)
	}
	return noiseTiles[uint16](ctx, b.Backend, s, op.Side)
}

func noiseTiles[T uint8 | uint16](ctx context.Context, b *Backend, s *plane, side int) ([]float64, error) {
	src, w, h := pixels[T](s), s.w, s.h
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

// fineBits is the number of low bits of a detail that medianDetail leaves to its second pass.
const fineBits = 8

// medianDetail returns the median of |a − b − c + d| over the blocks a b / c d of a tile, for an even number the mean
// of the middle two. It counts the high bits of all values, and then the low bits of those that share the high bits of
// the median, so that it needs no memory for the values, whatever the tile.
func medianDetail[T uint8 | uint16](t *worker, src []T, w int, tile rect) float64 {
	n, rows := (tile.x1-tile.x0)/2, (tile.y1-tile.y0)/2
	p := newCancelCheck(t, 2*n)
	look := func(count func(v int32)) {
		for j := 0; j < rows && !p.stop(); j++ {
			upper := src[(tile.y0+2*j)*w+tile.x0:][:2*n]
			lower := src[(tile.y0+2*j+1)*w+tile.x0:][:2*n]
			for k := 0; k+1 < len(upper) && k+1 < len(lower); k += 2 {
				v := int32(upper[k]) - int32(upper[k+1]) - int32(lower[k]) + int32(lower[k+1])
				count(max(v, -v))
			}
		}
	}
	if bytes, ok := any(src).([]uint8); ok {
		return medianOfBytes(&p, bytes, w, rect{tile.x0, tile.y0, tile.x0 + 2*n, tile.y0 + 2*rows})
	}
	var coarse [1 << (18 - fineBits)]int
	look(func(v int32) { coarse[v>>fineBits]++ })
	var fine [1 << fineBits]int
	seen := int32(-1)
	ranked := func(rank int) int32 {
		high := int32(0)
		for ; int(high) < len(coarse)-1 && rank >= coarse[high]; high++ {
			rank -= coarse[high]
		}
		if high != seen {
			fine, seen = [1 << fineBits]int{}, high
			look(func(v int32) {
				if v>>fineBits == high {
					fine[v&(1<<fineBits-1)]++
				}
			})
		}
		low := int32(0)
		for ; int(low) < len(fine)-1 && rank >= fine[low]; low++ {
			rank -= fine[low]
		}
		return high<<fineBits | low
	}
	return (float64(ranked((n*rows-1)/2)) + float64(ranked(n*rows/2))) / 2
}

// medianOfBytes is medianDetail for bytes, whose details are so few that one pass counts them all. Details are small,
// so two counters of each value take turns.
func medianOfBytes(p *cancelCheck, src []uint8, w int, tile rect) float64 {
	var counts [2][512]int32
	n, rows := (tile.x1-tile.x0)/2, (tile.y1-tile.y0)/2
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
