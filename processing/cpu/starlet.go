package cpu

import (
	"context"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// mirror returns the index of the sample that stands for index i of n: the picture is mirrored at its border without
// repeating the edge, repeatedly if needed.
func mirror(i, n int) int {
	if i >= 0 && i < n {
		return i
	}
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	i %= period
	if i < 0 {
		i += period
	}
	return min(i, period-i)
}

// spread mirrors a row at both ends of a picture of width w and converts it: dst[i] is column x+i. The row holds the
// columns from first on, as far as they are needed.
func spread[D uint16 | float32, T kernel.Sample](dst []D, row []T, first, x, w int) {
	i := 0
	for ; i < len(dst) && x+i < 0; i++ {
		dst[i] = D(row[mirror(x+i, w)-first])
	}
	if n := min(len(dst), w-x); n > i {
		in := row[x+i-first : x+n-first]
		out := dst[i:n]
		for j, v := range in {
			out[j] = D(v)
		}
		i = n
	}
	for ; i < len(dst); i++ {
		dst[i] = D(row[mirror(x+i, w)-first])
	}
}

// StarletBand writes the positive part of a band of the starlet transform of src (U8) in 1/256 grey levels, rounded
// down. All arithmetic is integer: the smooth plane of level j is exact in 1/256^j, at most 32 bits at level 3.
func (b executor) StarletBand(ctx context.Context, op processing.StarletBand) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	// The filter of level j reaches 2^j pixels; halo is the sum over all levels.
	halo := 2<<op.Level - 2
	return b.tiles(ctx, d.w, d.h, halo, halo, func(t *worker, tile rect) {
		b.streamBand(t, tile, d, s, op.Level, halo)
	})
}

// streamBand streams source rows through the levels: plane j keeps the last 4·2^j+1 rows of the picture smoothed j
// times, and outputs a row of plane j+1 as soon as the middle one has its neighbours. Rows above and below the picture
// are mirrored. Mirroring commutes with a symmetric filter, so every level sees its own mirrored border. The first
// smoothing fits 16 bits and takes four pixels at a time, the others two.
func (b *Backend) streamBand(t *worker, tile rect, d, s *plane, level, halo int) {
	out := func(y int) []uint16 { return d.data.U16[y*d.w+tile.x0 : y*d.w+tile.x1] }
	width := tile.x1 - tile.x0
	source := newRing[uint16](t, 0, width+2*halo)
	down16, smooth16 := scratch[uint16](t, width+2*halo), scratch[uint16](t, width+2*halo-4)
	planes := make([]ring[uint32], level-1)
	pad := halo
	for j := range planes {
		pad -= 2 << j
		planes[j] = newRing[uint32](t, j+1, width+2*pad)
	}
	down, last := scratch[uint32](t, width+2*halo), scratch[uint32](t, width)
	check := newCancelCheck(t, 2*width)
	for y := tile.y0 - halo; y < tile.y1+halo; y++ {
		if check.stop() {
			return
		}
		in := mirror(y, s.h) * s.w
		spread(source.row(y), s.data.U8[in:in+s.w], 0, tile.x0-halo, s.w)
		// Each smoothing outputs row at, and has output those since first.
		first, at := tile.y0-halo+2, y-2
		if at < first {
			continue
		}
		source.smooth(b.kernels.Spline16, smooth16, down16, at)
		if level == 1 {
			kernel.BandRow(out(at), source.row(at)[2:], smooth16, 0)
			continue
		}
		kernel.Widen(planes[0].row(at), smooth16)
		for j := range planes {
			p := &planes[j]
			first, at = first+2*p.step, at-2*p.step
			if at < first {
				break
			}
			if j+1 < len(planes) {
				p.smooth(b.kernels.Spline32, planes[j+1].row(at), down, at)
				continue
			}
			p.smooth(b.kernels.Spline32, last, down, at)
			kernel.BandRow(out(at), p.row(at)[2*p.step:], last, 8*(level-1))
		}
	}
}

// ring holds the rows of a smooth plane that the next smoothing, with gaps of step, needs.
type ring[T uint16 | uint32] struct {
	step int
	rows [][]T
}

func newRing[T uint16 | uint32](t *worker, level, width int) ring[T] {
	r := ring[T]{step: 1 << level, rows: make([][]T, 4<<level+1)}
	for i := range r.rows {
		r.rows[i] = scratch[T](t, width)
	}
	return r
}

// row returns the memory of row y.
func (r *ring[T]) row(y int) []T { return r.rows[ringIndex(y, len(r.rows))] }

// smooth writes row y smoothed down and across; it is 4 steps shorter than the rows of the ring.
func (r *ring[T]) smooth(spline func(dst, a, b, c, d, e []T), dst, down []T, y int) {
	s := r.step
	down = down[:len(dst)+4*s]
	spline(down, r.row(y-2*s), r.row(y-s), r.row(y), r.row(y+s), r.row(y+2*s))
	spline(dst, down, down[s:], down[2*s:], down[3*s:], down[4*s:])
}

// ringIndex returns the slot of row y, which may be negative.
func ringIndex(y, n int) int {
	y %= n
	if y < 0 {
		y += n
	}
	return y
}
