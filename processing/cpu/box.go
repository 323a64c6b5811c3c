package cpu

import (
	"context"
	"math"
	"sync/atomic"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// A running window: column sums slide down by a row, and the window's sum slides right along them, four additions per
// pixel whatever the size (McDonnell 1981). Integer sums are exact, so a tile may begin anywhere.

// window is the geometry of clipped windows of radius r on a picture of w × h pixels.
type window struct {
	w, h int
	// rx and ry are the radius, or less if a smaller one already covers the whole picture.
	rx, ry int
}

func newWindow(w, h, r int) window { return window{w, h, min(r, w-1), min(r, h-1)} }

// countX returns how many columns of the window around column x lie inside the picture.
func (g window) countX(x int) int { return min(x+g.rx, g.w-1) - max(x-g.rx, 0) + 1 }

func (g window) countY(y int) int { return min(y+g.ry, g.h-1) - max(y-g.ry, 0) + 1 }

// columnsAt returns a function that counts the columns of the window around column x0+i. Beyond the picture they are
// those of its last column.
func (g window) columnsAt(x0 int) func(i int) int {
	return func(i int) int { return max(1, g.countX(min(x0+i, g.w-1))) }
}

// width is the length of the column sums of a tile.
func (g window) width(t rect) int { return t.x1 - t.x0 + 2*g.rx }

// columns returns the tile's columns with the border that lies inside the picture, and the index of the first of them
// among the column sums.
func (g window) columns(t rect) (x0, x1, at int) {
	x0, x1 = max(0, t.x0-g.rx), min(g.w, t.x1+g.rx)
	return x0, x1, x0 - (t.x0 - g.rx)
}

// slide moves the window down the rows of a tile. step(add, sub) adds row add to the column sums and subtracts row sub,
// where −1 means no row; emit(y) is called when the sums are those of row y. It returns false if the operation was
// cancelled.
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

// entering returns the row that enters the window at row y and the row that leaves it, −1 for none.
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

// rowOr returns the samples x0 … x1−1 of row y, or those of none if y is negative.
func rowOr[T kernel.Sample](s []T, w, y, x0, x1 int, none []T) []T {
	if y < 0 {
		return none[:x1-x0]
	}
	return s[y*w+x0 : y*w+x1]
}

// zeroScratch is scratch filled with zeros.
func zeroScratch[T kernel.Sample | uint64 | int32 | float64](t *worker, n int) []T {
	s := scratch[T](t, n)
	clear(s)
	return s
}

// BoxMean writes the rounded mean over the window of radius r: U8→U8, U16→U16 and F32→F32. Sums of F32 planes are taken
// in float64 by van Herk's recursion with + instead of max. It subtracts nothing, so that a large or infinite sample
// has no effect outside its windows.
func (b executor) BoxMean(ctx context.Context, op processing.BoxMean) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	switch d.kind {
	case processing.U8:
		return boxMean[uint8](ctx, b.Backend, d, s, op.Radius, math.MaxUint8)
	case processing.U16:
		return boxMean[uint16](ctx, b.Backend, d, s, op.Radius, math.MaxUint16)
	}
	if exact, err := boxMeanExact(ctx, b.Backend, d, s, op.Radius); exact || err != nil {
		return err
	}
	return boxMeanFloat(ctx, b.Backend, d, s, op.Radius)
}

func boxMean[T uint8 | uint16](ctx context.Context, b *Backend, d, s *plane, r int, most uint64) error {
	g := newWindow(d.w, d.h, r)
	k := kernel.SumsOf[T](&b.kernels)
	pixels := uint64(2*g.rx+1) * uint64(2*g.ry+1)
	switch {
	case pixels < kernel.MaxMean && g.ry <= kernel.MaxBytes && most == math.MaxUint8:
		return boxMeanRows(ctx, b, d, s, g, b.kernels.SlideBytes, b.kernels.Boxes8)
	case pixels < kernel.MaxMean && most == math.MaxUint16:
		return boxMeanRows(ctx, b, d, s, g, b.kernels.Sums16.Slide32, b.kernels.Boxes16)
	case pixels*most <= math.MaxUint32:
		return boxMeanSums(ctx, b, d, s, g, k.Slide32, b.kernels.Scan32, k.Mean32)
	}
	return boxMeanSums(ctx, b, d, s, g, k.Slide64, b.kernels.Scan64, k.Mean64)
}

// runEnds returns where the runs of equal values end.
func runEnds[T comparable](s []T) (ends []int) {
	for i := range s {
		if i+1 == len(s) || s[i+1] != s[i] {
			ends = append(ends, i+1)
		}
	}
	return ends
}

// boxMeanRows takes the means of windows small enough for kernels that divide by counts.
func boxMeanRows[T uint8 | uint16, S uint16 | uint32](ctx context.Context, b *Backend, d, s *plane, g window,
	slide func(col []S, add, sub []T), means func(dst []T, col []S, k int, c *kernel.Counts)) error {
	dst, src, w := pixels[T](d), pixels[T](s), d.w
	return b.tiles(ctx, w, d.h, g.rx, g.ry, func(t *worker, tile rect) {
		x0, x1, at := g.columns(tile)
		// The kernels also read the column before the first window.
		col := zeroScratch[S](t, 1+g.width(tile)+kernel.Block)
		none := zeroScratch[T](t, x1-x0)
		c, ny := kernel.NewCounts(&t.arena, tile.x1-tile.x0, g.columnsAt(tile.x0)), 0
		g.slide(t, tile, func(add, sub int) {
			slide(col[1+at:][:x1-x0], rowOr(src, w, add, x0, x1, none), rowOr(src, w, sub, x0, x1, none))
		}, func(y int) {
			if n := g.countY(y); n != ny {
				ny = n
				c.Set(ny, d.kind == processing.U8)
			}
			means(dst[y*w+tile.x0:y*w+tile.x1], col, 2*g.rx+1, c)
		})
	})
}

func boxMeanSums[T uint8 | uint16, S uint32 | uint64](ctx context.Context, b *Backend, d, s *plane, g window,
	slide func(col []S, add, sub []T), scan func(dst, col []S, k int), mean func(dst []T, sum []S, n uint64)) error {
	dst, src, w := pixels[T](d), pixels[T](s), d.w
	return b.tiles(ctx, w, d.h, g.rx, g.ry, func(t *worker, tile rect) {
		x0, x1, at := g.columns(tile)
		col := zeroScratch[S](t, g.width(tile))
		sum := scratch[S](t, tile.x1-tile.x0)
		none := zeroScratch[T](t, x1-x0)
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

// boxMeanExact is boxMeanFloat with running sums, for planes whose sums need no rounding, so that every order of
// additions gives the same result. It reports whether the plane is of that kind; if not, the content of dst is
// undefined.
func boxMeanExact(ctx context.Context, b *Backend, d, s *plane, r int) (exact bool, err error) {
	dst, src, w, k := d.data.F32, s.data.F32, d.w, &b.kernels
	g := newWindow(w, d.h, r)
	// A difference of two windows needs twice the range of one.
	pixels := 2 * float64(2*g.rx+1) * float64(2*g.ry+1)
	var rounded atomic.Bool
	err = b.tiles(ctx, w, d.h, g.rx, g.ry, func(t *worker, tile rect) {
		x0, x1, at := g.columns(tile)
		// The kernels also read the column before the first window.
		col := zeroScratch[float64](t, 1+g.width(tile)+kernel.Block)
		none := zeroScratch[float32](t, x1-x0)
		c, ny := kernel.NewFloatCounts(&t.arena, tile.x1-tile.x0, g.columnsAt(tile.x0)), 0
		low, high := uint32(math.MaxUint32), uint32(0)
		g.slide(t, tile, func(add, sub int) {
			if rounded.Load() {
				return
			}
			in := rowOr(src, w, add, x0, x1, none)
			least, most := k.Magnitudes(in)
			// If all samples are 0, least is 0, and 1 less wraps to the largest number.
			low, high = min(low, least-1), max(high, most)
			if !kernel.SumsExactly(low+1, high, pixels) {
				rounded.Store(true)
				return
			}
			k.SlideFloats(col[1+at:][:x1-x0], in, rowOr(src, w, sub, x0, x1, none))
		}, func(y int) {
			if rounded.Load() {
				return
			}
			if n := g.countY(y); n != ny {
				ny = n
				c.Set(ny)
			}
			k.FloatMeans(dst[y*w+tile.x0:y*w+tile.x1], col, 2*g.rx+1, c)
		})
	})
	return !rounded.Load(), err
}

// boxMeanFloat sums down the columns and then along the rows of a tile. Blocks begin at multiples of the window's side,
// wherever tiles begin, so that the order of float additions is fixed.
func boxMeanFloat(ctx context.Context, b *Backend, d, s *plane, r int) error {
	dst, src, w, h := d.data.F32, s.data.F32, d.w, d.h
	g := newWindow(w, h, r)
	kx, ky := 2*g.rx+1, 2*g.ry+1
	// The ring of a tile stays in the second-level cache, and every worker gets a tile.
	tw := min(max(2*b.tiling.ring/8/ky, 8*g.rx), b.tiling.tile, (w+b.workers-1)/b.workers)
	tw = max(1, (tw+kx-1)/kx) * kx
	return b.each(ctx, (w+tw-1)/tw, func(t *worker, i int) {
		tile := rect{i * tw, 0, min(w, (i+1)*tw), h}
		x0, x1, at := g.columns(tile)
		m := x1 - x0
		// Rows of the ring begin at different offsets within a page.
		const line = 8
		pitch := (m+line-1)/line*line + line
		ring := scratch[float64](t, ky*pitch)
		slot := func(i int) []float64 { return ring[i*pitch:][:m] }
		run := scratch[float64](t, m)
		group := kernel.NewBlockGroup(&t.arena, tile.x1-tile.x0, kx, g.columnsAt(tile.x0))
		read := func(slot []float64, y int) {
			if y < 0 || y >= h {
				clear(slot)
				return
			}
			b.kernels.Doubles(slot, src[y*w+x0:y*w+x1])
		}
		none := zeroScratch[float32](t, m)
		for i := range ky {
			read(slot(i), i-g.ry)
		}
		p := newCancelCheck(t, g.width(tile))
		for top := 0; top < h; top += ky {
			for i := ky - 2; i >= 0; i-- {
				b.kernels.AddRow(slot(i), slot(i+1))
			}
			clear(run)
			for i := 0; i < ky && top+i < h; i++ {
				if p.stop() {
					return
				}
				y := top + i
				into := group.Next(dst[y*w+tile.x0:y*w+tile.x1], g.countY(y), at, at+m)
				if i > 0 {
					x := none
					if y+g.ry < h {
						x = src[(y+g.ry)*w+x0 : (y+g.ry)*w+x1]
					}
					b.kernels.AdvanceSums(into, run, slot(i-1), x, slot(i))
				} else {
					copy(into, slot(0))
					b.kernels.AddRow(into, run)
				}
				if group.Full() || y == h-1 {
					b.kernels.BlockMeans(group)
					group.Empty()
				}
			}
			read(slot(ky-1), top+ky+g.ry)
		}
	})
}
