package cpu

import (
	"context"

	"blik/processing"
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

// spread returns row y of src, mirrored at both ends and converted: dst[i] is column x+i.
func spread[D uint32 | float32, T sample](dst []D, src []T, w, x, y int) {
	row := src[y*w : (y+1)*w]
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

// StarletBand writes the positive part of a band of the starlet transform of src (U8) in 1/256 grey levels, rounded
// down. All is integer: the smooth plane of level j is exact in 1/256^j, at most 32 bits at level 3.
func (b *Backend) StarletBand(ctx context.Context, dst, src processing.Plane, level int) error {
	a := b.args("starlet band")
	d := a.plane("destination", dst, processing.U16)
	s := a.plane("source", src, processing.U8)
	if level < 1 || level > 3 {
		a.fail("level %d: must be 1, 2 or 3", level)
	}
	if a.err != nil {
		return a.err
	}
	// The filter of level j reaches 2^j pixels, all of them together halo.
	halo := 2<<level - 2
	return b.tiles(ctx, d.w, d.h, halo, halo, func(t *worker, tile rect) {
		b.starletBand(t, tile, d, s, level, halo)
	})
}

// starletBand streams source rows through the levels: level j keeps the last 4·2^j+1 rows of the smooth plane j, and
// gives out a row of plane j+1 as soon as the middle one has its neighbours. Rows above and below the picture are
// those that mirror gives; whole-sample mirroring commutes with a symmetric filter, so that every level sees its
// own mirrored border.
func (b *Backend) starletBand(t *worker, tile rect, d, s *plane, level, halo int) {
	type smooth struct {
		step, pad int
		ring      [][]uint32
	}
	width := tile.x1 - tile.x0
	planes := make([]smooth, level)
	pad := halo
	for j := range planes {
		p := smooth{step: 1 << j, pad: pad, ring: make([][]uint32, 4<<j+1)}
		for i := range p.ring {
			p.ring[i] = take[uint32](t, width+2*pad)
		}
		planes[j] = p
		pad -= 2 << j
	}
	down := take[uint32](t, width+2*halo)
	last := take[uint32](t, width)
	pace := newPace(t, 2*width)
	shift := 8 * (level - 1)
	for y := tile.y0 - halo; y < tile.y1+halo; y++ {
		if pace.stop() {
			return
		}
		at := y
		spread(planes[0].ring[ringIndex(at, len(planes[0].ring))], s.data.U8, s.w, tile.x0-halo, mirror(y, s.h))
		for j := range planes {
			p := &planes[j]
			n := len(p.ring)
			// The rows seen by this level begin at the top of the tile less its pad.
			if at-(n-1) < tile.y0-p.pad {
				break
			}
			row := func(i int) []uint32 { return p.ring[ringIndex(at-i*p.step, n)] }
			w := width + 2*p.pad
			b.rows.spline32(down[:w], row(0), row(1), row(2), row(3), row(4))
			out := last
			if j+1 < level {
				next := &planes[j+1]
				out = next.ring[ringIndex(at-2*p.step, len(next.ring))]
			}
			b.rows.spline32(out, down, down[p.step:], down[2*p.step:], down[3*p.step:], down[4*p.step:])
			at -= 2 * p.step
		}
		if at != y-halo {
			continue
		}
		fine := planes[level-1]
		middle := fine.ring[ringIndex(at, len(fine.ring))][fine.pad:]
		bandRow(d.data.U16[at*d.w+tile.x0:at*d.w+tile.x1], middle, last, shift)
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
func bandRow(dst []uint16, fine, coarse []uint32, shift int) {
	fine, coarse = fine[:len(dst)], coarse[:len(dst)]
	for i := range dst {
		v := max(int64(fine[i])<<8-int64(coarse[i]), 0)
		dst[i] = uint16(v >> (shift & 63))
	}
}
