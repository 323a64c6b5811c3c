package cpu

import (
	"context"
	"math"

	"blik/processing"
)

// A running window: column sums slide down by a row, and the window's sum slides right along them, four additions a
// pixel whatever the size (McDonnell 1981). Integers only, so nothing drifts and a tile may begin anywhere.

// window is the geometry of clipped windows of radius r on a picture of w × h pixels.
type window struct {
	w, h int
	// rx and ry are the radius, or less where a smaller one covers the whole picture already.
	rx, ry int
}

func newWindow(w, h, r int) window { return window{w, h, min(r, w-1), min(r, h-1)} }

// countX returns how many columns of the window about column x lie inside the picture.
func (g window) countX(x int) int { return min(x+g.rx, g.w-1) - max(x-g.rx, 0) + 1 }

func (g window) countY(y int) int { return min(y+g.ry, g.h-1) - max(y-g.ry, 0) + 1 }

// width is the length of the column sums of a tile.
func (g window) width(t rect) int { return t.x1 - t.x0 + 2*g.rx }

// columns returns the tile's columns with the border that lies inside the picture, and where the first of them is
// among the column sums.
func (g window) columns(t rect) (x0, x1, at int) {
	x0, x1 = max(0, t.x0-g.rx), min(g.w, t.x1+g.rx)
	return x0, x1, x0 - (t.x0 - g.rx)
}

// slide moves the window down the rows of a tile. step(add, sub) adds row add to the column sums and subtracts row sub,
// −1 standing for no row; emit(y) is called when the sums are those of row y. It returns false if it was cancelled.
func (g window) slide(t *worker, tile rect, step func(add, sub int), emit func(y int)) bool {
	p := newCancelCheck(t, g.width(tile))
	for y := max(0, tile.y0-g.ry); y < min(g.h, tile.y0+g.ry); y++ {
		if p.stop() {
			return false
		}
		step(y, -1)
	}
	for y := tile.y0; y < tile.y1; y++ {
		if p.stop() {
			return false
		}
		step(g.entering(tile, y))
		emit(y)
	}
	return true
}

// entering returns the row that joins the window when it comes to row y and the one that leaves it, −1 for none.
func (g window) entering(tile rect, y int) (add, sub int) {
	add, sub = y+g.ry, y-g.ry-1
	if add >= g.h {
		add = -1
	}
	if sub < tile.y0-g.ry {
		sub = -1
	}
	return add, sub
}

// rowOr returns the samples x0 … x1−1 of row y, or those of none when y is negative.
func rowOr[T sample](s []T, w, y, x0, x1 int, none []T) []T {
	if y < 0 {
		return none[:x1-x0]
	}
	return s[y*w+x0 : y*w+x1]
}

// zeros returns cleared scratch.
func zeros[T sample | uint64 | int32 | float64](t *worker, n int) []T {
	s := take[T](t, n)
	clear(s)
	return s
}

// BoxMean writes the rounded mean over the window of radius r: U8→U8, U16→U16 and F32→F32. The sums of F32 planes are
// taken in float64 by van Herk's recursion with + in place of max, which subtracts nothing, so that a large or infinite
// sample leaves no trace outside its windows.
func (b executor) BoxMean(ctx context.Context, op processing.BoxMean) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	switch d.kind {
	case processing.U8:
		return boxMean[uint8](ctx, b.Backend, d, s, op.Radius, math.MaxUint8)
	case processing.U16:
		return boxMean[uint16](ctx, b.Backend, d, s, op.Radius, math.MaxUint16)
	default:
		return boxMeanFloat(ctx, b.Backend, d, s, op.Radius)
	}
}

func boxMean[T uint8 | uint16](ctx context.Context, b *Backend, d, s *plane, r int, most uint64) error {
	g := newWindow(d.w, d.h, r)
	k := sumsOf[T](&b.kernels)
	pixels := uint64(2*g.rx+1) * uint64(2*g.ry+1)
	if pixels*most <= math.MaxUint32 {
		return boxMeanSums(ctx, b, d, s, g, k.slide32, b.kernels.scan32, k.mean32)
	}
	return boxMeanSums(ctx, b, d, s, g, k.slide64, b.kernels.scan64, k.mean64)
}

func boxMeanSums[T uint8 | uint16, S uint32 | uint64](ctx context.Context, b *Backend, d, s *plane, g window,
	slide func(col []S, add, sub []T), scan func(dst, col []S, k int), mean func(dst []T, sum []S, n uint64)) error {
	dst, src, w := pixels[T](d), pixels[T](s), d.w
	return b.tiles(ctx, w, d.h, g.rx, g.ry, func(t *worker, tile rect) {
		x0, x1, at := g.columns(tile)
		col := zeros[S](t, g.width(tile))
		sum := take[S](t, tile.x1-tile.x0)
		none := zeros[T](t, x1-x0)
		left, right := min(tile.x1, max(tile.x0, g.rx)), max(tile.x0, min(tile.x1, w-g.rx))
		right = max(left, right)
		g.slide(t, tile, func(add, sub int) {
			slide(col[at:at+x1-x0], rowOr(src, w, add, x0, x1, none), rowOr(src, w, sub, x0, x1, none))
		}, func(y int) {
			scan(sum, col, 2*g.rx+1)
			out := dst[y*w+tile.x0 : y*w+tile.x1]
			ny := uint64(g.countY(y))
			for x := tile.x0; x < left; x++ {
				i := x - tile.x0
				mean(out[i:i+1], sum[i:], ny*uint64(g.countX(x)))
			}
			mean(out[left-tile.x0:right-tile.x0], sum[left-tile.x0:], ny*uint64(2*g.rx+1))
			for x := right; x < tile.x1; x++ {
				i := x - tile.x0
				mean(out[i:i+1], sum[i:], ny*uint64(g.countX(x)))
			}
		})
	})
}

// BoxCount writes how many pixels of the window of radius r have one of the bits in cls.
func (b executor) BoxCount(ctx context.Context, op processing.BoxCount) error {
	d, c := op.Dst.(*plane), op.Class.(*plane)
	out, src, w := d.data.U16, c.data.U8, d.w
	g := newWindow(w, d.h, op.Radius)
	return b.tiles(ctx, w, d.h, g.rx, g.ry, func(t *worker, tile rect) {
		x0, x1, at := g.columns(tile)
		col := zeros[uint8](t, g.width(tile))
		none := zeros[uint8](t, x1-x0)
		g.slide(t, tile, func(add, sub int) {
			b.kernels.countBits(col[at:at+x1-x0], rowOr(src, w, add, x0, x1, none), rowOr(src, w, sub, x0, x1, none),
				op.Bits)
		}, func(y int) {
			b.kernels.scanCount(out[y*w+tile.x0:y*w+tile.x1], col, 2*g.rx+1)
		})
	})
}

// boxMeanFloat sums down the columns and then along the rows of a tile. Blocks begin at multiples of the window's side
// wherever the tiles do, so that the order in which floats are added is fixed.
func boxMeanFloat(ctx context.Context, b *Backend, d, s *plane, r int) error {
	dst, src, w, h := d.data.F32, s.data.F32, d.w, d.h
	g := newWindow(w, h, r)
	kx, ky := 2*g.rx+1, 2*g.ry+1
	tw := max(1, b.tiling.tile/8/kx) * kx
	return b.each(ctx, (w+tw-1)/tw, func(t *worker, i int) {
		tile := rect{i * tw, 0, min(w, (i+1)*tw), h}
		x0, x1, at := g.columns(tile)
		n, m := g.width(tile), x1-x0
		ring := take[float64](t, ky*m)
		slot := func(i int) []float64 { return ring[i*m:][:m] }
		run := take[float64](t, m)
		col, sum := zeros[float64](t, n), take[float64](t, tile.x1-tile.x0)
		read := func(slot []float64, y int) {
			if y < 0 || y >= h {
				clear(slot)
				return
			}
			for i, v := range src[y*w+x0 : y*w+x1] {
				slot[i] = float64(v)
			}
		}
		for i := range ky {
			read(slot(i), i-g.ry)
		}
		p := newCancelCheck(t, n)
		for top := 0; top < h; top += ky {
			for i := ky - 2; i >= 0; i-- {
				b.kernels.addRow(slot(i), slot(i+1))
			}
			clear(run)
			for i := 0; i < ky && top+i < h; i++ {
				if p.stop() {
					return
				}
				y := top + i
				if i > 0 {
					read(slot(i-1), y+g.ry)
					b.kernels.addRow(run, slot(i-1))
				}
				into := col[at : at+m]
				copy(into, slot(i))
				b.kernels.addRow(into, run)
				blockSums(sum, col, kx)
				// Left of the picture blockSums has added up to the end of a block, right of it there is nothing to
				// add.
				clear(col[:at])
				ny := g.countY(y)
				for j, v := range sum {
					x := tile.x0 + j
					dst[y*w+x] = float32(v / float64(ny*g.countX(x)))
				}
			}
			read(slot(ky-1), top+ky+g.ry)
		}
	})
}

func addRow(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] += a[i]
	}
}

// blockSums is windowMax with + for max.
func blockSums(dst, src []float64, k int) {
	for j := 0; j < len(dst); j += k {
		block := src[j : j+k]
		for i := k - 2; i >= 0; i-- {
			block[i] += block[i+1]
		}
		n := min(k, len(dst)-j)
		dst[j] = block[0]
		run := 0.0
		for i := 1; i < n; i++ {
			run += src[j+k+i-1]
			dst[j+i] = block[i] + run
		}
	}
}
