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

// spread mirrors a row at both ends of a picture of width w and converts it: dst[i] is column x+i.
func spread[D uint16 | float32, T kernel.Sample](dst []D, row []T, x, w int) {
	i := 0
	for ; i < len(dst) && x+i < 0; i++ {
		dst[i] = D(row[mirror(x+i, w)])
	}
	if n := min(len(dst), w-x); n > i {
		in := row[x+i : x+n]
		out := dst[i:n]
		for j, v := range in {
			out[j] = D(v)
		}
		i = n
	}
	for ; i < len(dst); i++ {
		dst[i] = D(row[mirror(x+i, w)])
	}
}

// bandHalo is the reach of both smoothings of StarletBand.
const bandHalo = 6

// StarletBand writes the positive part of the second band of the starlet transform of src (U8) in 1/256 grey levels,
// rounded down. All arithmetic is integer: the smooth planes are exact in units of 1/256 and of 1/256².
func (b executor) StarletBand(ctx context.Context, op processing.StarletBand) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	return b.tiles(ctx, d.w, d.h, bandHalo, bandHalo, func(t *worker, tile rect) { b.streamBand(t, tile, d, s) })
}

// streamBand streams source rows through both smoothings: each ring keeps the last rows that the next smoothing needs.
// Rows above and below the picture are mirrored. Mirroring commutes with a symmetric filter, so the smooth plane sees
// its own mirrored border. The first smoothing fits 16 bits and takes four pixels at a time, the second two.
func (b *Backend) streamBand(t *worker, tile rect, d, s *plane) {
	width := tile.x1 - tile.x0
	source, fine := newRing[uint16](t, 1, width+12), newRing[uint32](t, 2, width+8)
	down16, smooth16 := scratch[uint16](t, width+12), scratch[uint16](t, width+8)
	down32, coarse := scratch[uint32](t, width+8), scratch[uint32](t, width)
	check := newCancelCheck(t, 2*width)
	for y := tile.y0 - bandHalo; y < tile.y1+bandHalo; y++ {
		if check.stop() {
			return
		}
		in := mirror(y, s.h) * s.w
		spread(source.row(y), s.data.U8[in:in+s.w], tile.x0-bandHalo, s.w)
		// The rows are complete from the fifth of the source and from the ninth of the fine plane on.
		if y-2 < tile.y0-4 {
			continue
		}
		source.smooth(b.kernels.Spline16, smooth16, down16, y-2)
		kernel.Widen(fine.row(y-2), smooth16)
		if at := y - bandHalo; at >= tile.y0 {
			fine.smooth(b.kernels.Spline32, coarse, down32, at)
			kernel.BandRow(d.data.U16[at*d.w+tile.x0:at*d.w+tile.x1], fine.row(at)[4:], coarse)
		}
	}
}

// ring holds the rows that a smoothing with gaps of step needs.
type ring[T uint16 | uint32] struct {
	step int
	rows [][]T
}

func newRing[T uint16 | uint32](t *worker, step, width int) ring[T] {
	r := ring[T]{step: step, rows: make([][]T, 4*step+1)}
	for i := range r.rows {
		r.rows[i] = scratch[T](t, width)
	}
	return r
}

// row returns the memory of row y, which may be negative.
func (r *ring[T]) row(y int) []T {
	n := len(r.rows)
	return r.rows[(y%n+n)%n]
}

// smooth writes row y smoothed down and across; it is 4 steps shorter than the rows of the ring.
func (r *ring[T]) smooth(spline func(dst, a, b, c, d, e []T), dst, down []T, y int) {
	s := r.step
	down = down[:len(dst)+4*s]
	spline(down, r.row(y-2*s), r.row(y-s), r.row(y), r.row(y+s), r.row(y+2*s))
	spline(dst, down, down[s:], down[2*s:], down[3*s:], down[4*s:])
}
