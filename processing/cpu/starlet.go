package cpu

import (
	"context"

	"blik/processing"
	"blik/processing/args"
)

// mirror returns the sample that stands for index i of n: the picture is mirrored at its border without repeating
// the edge, again and again if need be.
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
func spread[D uint16 | float32, T sample](dst []D, row []T, first, x, w int) {
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
// down. All is integer: the smooth plane of level j is exact in 1/256^j, at most 32 bits at level 3.
func (b *Backend) StarletBand(ctx context.Context, dst, src processing.Plane, level int) error {
	if err := args.StarletBand(b, dst, src, level); err != nil {
		return err
	}
	d, s := dst.(*plane), src.(*plane)
	// The filter of level j reaches 2^j pixels, all of them together halo.
	halo := 2<<level - 2
	return b.tiles(ctx, d.w, d.h, halo, halo, func(t *worker, tile rect) {
		b.starletBand(t, tile, d, s, level, halo)
	})
}

// starletBand streams source rows through the levels: plane j keeps the last 4·2^j+1 rows of the picture smoothed j times,
// and gives out a row of plane j+1 as soon as the middle one has its neighbours. Rows above and below the picture are
// those that mirror gives; mirroring about a sample commutes with a symmetric filter, so that every level sees its own
// mirrored border. The first smoothing fits 16 bits and takes four pixels at a time, the others two.
func (b *Backend) starletBand(t *worker, tile rect, d, s *plane, level, halo int) {
	width := tile.x1 - tile.x0
	source := newRing[uint16](t, 0, width+2*halo)
	down16, smooth16 := take[uint16](t, width+2*halo), take[uint16](t, width+2*halo-4)
	planes := make([]ring[uint32], level-1)
	pad := halo
	for j := range planes {
		pad -= 2 << j
		planes[j] = newRing[uint32](t, j+1, width+2*pad)
	}
	down, last := take[uint32](t, width+2*halo), take[uint32](t, width)
	pace := newPace(t, 2*width)
	for y := tile.y0 - halo; y < tile.y1+halo; y++ {
		if pace.stop() {
			return
		}
		in := mirror(y, s.h) * s.w
		spread(source.row(y), s.data.U8[in:in+s.w], 0, tile.x0-halo, s.w)
		// Each smoothing gives out row at, and has given out those since first.
		first, at := tile.y0-halo+2, y-2
		if at < first {
			continue
		}
		source.smooth(b.rows.spline16, smooth16, down16, at)
		if level == 1 {
			bandRow(d.data.U16[at*d.w+tile.x0:at*d.w+tile.x1], source.row(at)[2:], smooth16, 0)
			continue
		}
		widen(planes[0].row(at), smooth16)
		for j := range planes {
			p := &planes[j]
			first, at = first+2*p.step, at-2*p.step
			if at < first {
				break
			}
			if j+1 < len(planes) {
				p.smooth(b.rows.spline32, planes[j+1].row(at), down, at)
				continue
			}
			p.smooth(b.rows.spline32, last, down, at)
			bandRow(d.data.U16[at*d.w+tile.x0:at*d.w+tile.x1], p.row(at)[2*p.step:], last, 8*(level-1))
		}
	}
}

// ring holds the rows of a smooth plane that the next smoothing with holes of a step needs.
type ring[T uint16 | uint32] struct {
	step int
	rows [][]T
}

func newRing[T uint16 | uint32](t *worker, level, width int) ring[T] {
	r := ring[T]{step: 1 << level, rows: make([][]T, 4<<level+1)}
	for i := range r.rows {
		r.rows[i] = take[T](t, width)
	}
	return r
}

// row returns the place of row y.
func (r *ring[T]) row(y int) []T { return r.rows[ringIndex(y, len(r.rows))] }

// smooth writes row y smoothed down and across, 4 steps shorter than the rows of the ring.
func (r *ring[T]) smooth(spline func(dst, a, b, c, d, e []T), dst, down []T, y int) {
	s := r.step
	down = down[:len(dst)+4*s]
	spline(down, r.row(y-2*s), r.row(y-s), r.row(y), r.row(y+s), r.row(y+2*s))
	spline(dst, down, down[s:], down[2*s:], down[3*s:], down[4*s:])
}

func widen(dst []uint32, src []uint16) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = uint32(src[i])
	}
}

// ringIndex returns the slot of row y, which may be negative.
func ringIndex(y, n int) int {
	y %= n
	if y < 0 {
		y += n
	}
	return y
}

// bandRow writes (256·fine − coarse) / 2^shift where positive.
func bandRow[T uint16 | uint32](dst []uint16, fine, coarse []T, shift int) {
	fine, coarse = fine[:len(dst)], coarse[:len(dst)]
	for i := range dst {
		v := int64(fine[i])<<8 - int64(coarse[i])
		dst[i] = uint16(max(v, 0) >> (shift & 63))
	}
}

// Starlet writes the first len(bands) bands and what is left of src. Planes may not be given twice. Level j is read
// straight from the smooth plane before it, down the columns first; the smooth planes lie in the planes of the next
// bands until all are there.
func (b *Backend) Starlet(ctx context.Context, bands []processing.Plane, smooth, src processing.Plane) error {
	if err := args.Starlet(b, bands, smooth, src); err != nil {
		return err
	}
	outs := make([]*plane, 0, len(bands)+1)
	for _, p := range bands {
		outs = append(outs, p.(*plane))
	}
	outs = append(outs, smooth.(*plane))
	switch s := src.(*plane); s.kind {
	case processing.U8:
		return starlet[uint8](ctx, b, outs, s)
	case processing.U16:
		return starlet[uint16](ctx, b, outs, s)
	default:
		return starlet[float32](ctx, b, outs, s)
	}
}

// starlet fills outs with the bands and, last, the smooth plane.
func starlet[T sample](ctx context.Context, b *Backend, outs []*plane, s *plane) error {
	first, levels := outs[0], len(outs)-1
	convert := func(dst *plane) error {
		out, in := dst.data.F32, pixels[T](s)
		return b.spans(ctx, len(in), func(_ *worker, i, j int) {
			out, in := out[i:j], in[i:j]
			for i := range out {
				out[i] = float32(in[i])
			}
		})
	}
	if err := convert(first); err != nil {
		return err
	}
	for j := range levels {
		if err := smoothPlane(ctx, b, outs[j+1], outs[j], 1<<j); err != nil {
			return err
		}
	}
	for j := range levels {
		fine, coarse := outs[j].data.F32, outs[j+1].data.F32
		err := b.spans(ctx, len(fine), func(_ *worker, i, j int) {
			fine, coarse := fine[i:j], coarse[i:j]
			for i := range fine {
				fine[i] -= coarse[i]
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// smoothPlane applies the B3-spline with holes of a step, mirrored at the border.
func smoothPlane(ctx context.Context, b *Backend, d, s *plane, step int) error {
	src, w, h := s.data.F32, s.w, s.h
	pad := 2 * step
	return b.tiles(ctx, w, h, min(pad, w), 0, func(t *worker, tile rect) {
		n := tile.x1 - tile.x0
		x0, x1 := max(0, tile.x0-pad), min(w, tile.x1+pad)
		inside := take[float32](t, x1-x0)
		var scratch, taps [5][]float32
		for i := range scratch {
			scratch[i] = take[float32](t, n)
		}
		p := newPace(t, 2*n)
		for y := tile.y0; y < tile.y1; y++ {
			if p.stop() {
				return
			}
			for i := range taps {
				v := mirror(y+(i-2)*step, h) * w
				taps[i] = src[v+x0 : v+x1]
			}
			b.rows.splineF(inside, taps[0], taps[1], taps[2], taps[3], taps[4])
			for i := range taps {
				x := tile.x0 + (i-2)*step
				if x >= 0 && x+n <= w {
					taps[i] = inside[x-x0:]
					continue
				}
				taps[i] = scratch[i]
				spread(taps[i], inside, x0, x, w)
			}
			b.rows.splineF(d.data.F32[y*w+tile.x0:y*w+tile.x1], taps[0], taps[1], taps[2], taps[3], taps[4])
		}
	})
}
