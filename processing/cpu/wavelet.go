package cpu

import (
	"context"
	"math"
	"slices"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// WaveletTransform writes one level of the separable 2-D transform of src into dst, both F32, whose
// quadrants hold LL, HL, LH, HH; sides are ⌈w/2⌉ for the low and ⌊w/2⌋ for the high band. The border is periodic; an
// odd side is extended by its last sample once.
func WaveletTransform(ctx context.Context, b *Backend, dst, src processing.Plane, wave kernel.Wavelet) error {
	d, s, f := dst.(*plane), src.(*plane), kernel.FilterOf(wave)
	out, in, w, h := d.data.F32, s.data.F32, d.w, d.h
	wide, high := (w+1)/2*2, (h+1)/2*2
	m := high / 2
	return b.strips(ctx, m, 2*w, func(t *worker, i0, i1 int) {
		lines := [2][]float32{scratch[float32](t, wide), scratch[float32](t, wide)}
		var rows [4][]float32
		for k := range rows {
			rows[k] = scratch[float32](t, w)
		}
		lost := scratch[float32](t, w)
		// floats returns a row of even length, which may be the source's own.
		floats := func(line []float32, y int) []float32 {
			y = min((y+high)%high, h-1)
			row := in[y*w : (y+1)*w]
			if w == wide {
				return row
			}
			copy(line, row)
			line[wide-1] = line[w-1]
			return line
		}
		along := func(dst []float32, y int) {
			b.kernels.Analyse(dst[:wide/2], dst[wide/2:], floats(lines[0], y), f)
		}
		if !f.Short {
			along(rows[2], 2*i0-2)
			along(rows[3], 2*i0-1)
		}
		p := newCancelCheck(t, 2*w)
		for i := i0; i < i1; i++ {
			if p.stop() {
				return
			}
			lowRow, highRow := out[i*w:(i+1)*w], lost
			if m+i < h {
				highRow = out[(m+i)*w : (m+i+1)*w]
			}
			if f.Short && w == wide {
				b.kernels.HaarPair(lowRow, highRow, floats(lines[0], 2*i), floats(lines[1], 2*i+1), f)
				continue
			}
			if !f.Short && w == wide {
				b.kernels.Pair4(lowRow, highRow, rows[2], rows[3], floats(lines[0], 2*i), floats(lines[1], 2*i+1), f)
				continue
			}
			rows = [4][]float32{rows[2], rows[3], rows[0], rows[1]}
			along(rows[2], 2*i)
			along(rows[3], 2*i+1)
			if f.Short {
				b.kernels.Both2(lowRow, highRow, rows[2], rows[3], f)
			} else {
				b.kernels.Both4(lowRow, highRow, rows[0], rows[1], rows[2], rows[3], f)
			}
		}
	})
}

// InverseWavelet undoes WaveletTransform on planes of float32, columns first.
func InverseWavelet(ctx context.Context, b *Backend, dst, src processing.Plane, wave kernel.Wavelet) error {
	d, s, f := dst.(*plane), src.(*plane), kernel.FilterOf(wave)
	out, in, w, h := d.data.F32, s.data.F32, d.w, d.h
	m, half := (h+1)/2, (w+1)/2
	row := func(y int) []float32 { return in[y*w : (y+1)*w] }
	// lost is the last row of high coefficients if the height is odd.
	lost := make([]float32, w)
	highRow := func(i int) []float32 {
		if m+i < h {
			return row(m + i)
		}
		return lost
	}
	pair := func(dst []float32, i, odd int) {
		t, j := f.Backward(odd), (i+1)%m
		if f.Short {
			b.kernels.Tap2(dst, row(i), highRow(i), t[0], t[1])
			return
		}
		b.kernels.Tap4(dst, row(i), highRow(i), row(j), highRow(j), t)
	}
	if h%2 == 1 {
		even, odd := make([]float32, w), make([]float32, w)
		pair(even, m-1, 0)
		pair(odd, m-1, 1)
		c := f.Missing()
		for x := range lost {
			lost[x] = float32(c * (odd[x] - even[x]))
		}
	}
	return b.strips(ctx, m, 2*w, func(t *worker, i0, i1 int) {
		line, joined := scratch[float32](t, 2*half), scratch[float32](t, 2*half)
		p := newCancelCheck(t, 2*w)
		for y := 2 * i0; y < min(h, 2*i1); y++ {
			if p.stop() {
				return
			}
			pair(line[:w], y/2, y%2)
			if w%2 == 1 {
				line[w] = 0
				b.kernels.Synthesise(joined, line[:half], line[half:], f)
				line[w] = float32(f.Missing() * (joined[w] - joined[w-1]))
			}
			b.kernels.Synthesise(joined, line[:half], line[half:], f)
			copy(out[y*w:(y+1)*w], joined)
		}
	})
}

// strips divides n rows, each of which costs as much as perRow pixels, into runs, and calls f on each.
func (b *Backend) strips(ctx context.Context, n, perRow int, f func(t *worker, i, j int)) error {
	step := max(1, min((n+4*b.workers-1)/(4*b.workers), max(8, 8*spanPixels/perRow)))
	return b.each(ctx, (n+step-1)/step, func(t *worker, k int) { f(t, k*step, min(n, (k+1)*step)) })
}

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
