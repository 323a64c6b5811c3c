package cpu

import (
	"context"

	"blik/processing"
	"blik/processing/cpu/kernel"
	"blik/processing/internal/arena"
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

// pixels returns the number of pixels of a window.
func (g window) pixels() int { return (2*g.rx + 1) * (2*g.ry + 1) }

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

// BoxMean writes the rounded mean over the window of radius r: U8→U8 and U16→U16.
func (b executor) BoxMean(ctx context.Context, op processing.BoxMean) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	g, k := newWindow(d.w, d.h, op.Radius), &b.kernels
	return b.tiles(ctx, d.w, d.h, g.rx, g.ry, func(t *worker, tile rect) {
		if d.kind == processing.U16 {
			boxMean16(t, k, g, tile, d.data.U16, s.data.U16)
		} else {
			boxMean8(t, k, g, tile, d.data.U8, s.data.U8)
		}
	})
}

// boxMean8 computes BoxMean of a tile.
func boxMean8(t *worker, k *kernel.Table, g window, tile rect, dst, src []uint8) {
	if g.pixels() < kernel.MaxMean && g.ry <= kernel.MaxBytes {
		boxMeanRows(t, g, tile, dst, src, k.SlideBytes, k.Boxes8)
	} else {
		boxMeanSums(t, g, tile, dst, src)
	}
}

// boxMean16 does the same for 16 bits.
func boxMean16(t *worker, k *kernel.Table, g window, tile rect, dst, src []uint16) {
	if g.pixels() < kernel.MaxMean {
		boxMeanRows(t, g, tile, dst, src, k.SlideWords, k.Boxes16)
	} else {
		boxMeanSums(t, g, tile, dst, src)
	}
}

// boxMeanRows takes the means of windows small enough for kernels that divide by counts.
func boxMeanRows[T uint8 | uint16, S uint16 | uint32](t *worker, g window, tile rect, dst, src []T,
	slide func(col []S, add, sub []T), means func(dst []T, col []S, k int, c *kernel.Counts)) {
	x0, x1, at := g.columns(tile)
	// The kernels also read the column before the first window.
	col := zeroScratch[S](t, 1+g.width(tile)+kernel.Block)
	none := zeroScratch[T](t, x1-x0)
	c, ny := kernel.NewCounts(&t.arena, tile.x1-tile.x0, g.columnsAt(tile.x0)), 0
	g.slide(t, tile, func(add, sub int) {
		slide(col[1+at:][:x1-x0], rowOr(src, g.w, add, x0, x1, none), rowOr(src, g.w, sub, x0, x1, none))
	}, func(y int) {
		if n := g.countY(y); n != ny {
			ny = n
			c.Set(ny, arena.SizeOf[T]() == 1)
		}
		means(dst[y*g.w+tile.x0:y*g.w+tile.x1], col, 2*g.rx+1, c)
	})
}

// boxMeanSums takes the means of larger windows than detection has.
func boxMeanSums[T uint8 | uint16](t *worker, g window, tile rect, dst, src []T) {
	x0, x1, at := g.columns(tile)
	col := zeroScratch[uint64](t, g.width(tile))
	sum := scratch[uint64](t, tile.x1-tile.x0)
	none := zeroScratch[T](t, x1-x0)
	left, right := min(tile.x1, max(tile.x0, g.rx)), max(tile.x0, min(tile.x1, g.w-g.rx))
	right = max(left, right)
	g.slide(t, tile, func(add, sub int) {
		kernel.Slide(col[at:at+x1-x0], rowOr(src, g.w, add, x0, x1, none), rowOr(src, g.w, sub, x0, x1, none))
	}, func(y int) {
		kernel.Scan(sum, col, 2*g.rx+1)
		out := dst[y*g.w+tile.x0 : y*g.w+tile.x1]
		ny := uint64(g.countY(y))
		side := func(from, to int) {
			for x := from; x < to; x++ {
				i := x - tile.x0
				kernel.Means(out[i:i+1], sum[i:], ny*uint64(g.countX(x)))
			}
		}
		side(tile.x0, left)
		kernel.Means(out[left-tile.x0:right-tile.x0], sum[left-tile.x0:], ny*uint64(2*g.rx+1))
		side(right, tile.x1)
	})
}
