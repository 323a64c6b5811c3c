package cpu

import (
	"context"
	"math"
	"sync/atomic"

	"blik/processing"
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
func rowOr[T sample](s []T, w, y, x0, x1 int, none []T) []T {
	if y < 0 {
		return none[:x1-x0]
	}
	return s[y*w+x0 : y*w+x1]
}

// zeros returns scratch filled with zeros.
func zeros[T sample | uint64 | int32 | float64](t *worker, n int) []T {
	s := take[T](t, n)
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
	k := sumsOf[T](&b.kernels)
	pixels := uint64(2*g.rx+1) * uint64(2*g.ry+1)
	switch {
	case pixels < maxFloatMean && g.ry <= maxBytes && most == math.MaxUint8:
		return boxMeanRows(ctx, b, d, s, g, b.kernels.slideBytes, b.kernels.boxes8)
	case pixels < maxFloatMean && most == math.MaxUint16:
		return boxMeanRows(ctx, b, d, s, g, b.kernels.sums16.slide32, b.kernels.boxes16)
	case pixels*most <= math.MaxUint32:
		return boxMeanSums(ctx, b, d, s, g, k.slide32, b.kernels.scan32, k.mean32)
	}
	return boxMeanSums(ctx, b, d, s, g, k.slide64, b.kernels.scan64, k.mean64)
}

// maxFloatMean bounds the number of pixels for which float32 divides sums of bytes exactly, and 16-bit sums to within a
// unit.
const maxFloatMean = 1 << 14

// maxBytes is the largest radius for which the differences of column sums of bytes fit a signed 16-bit word.
const maxBytes = 63

// countsBlock is the largest number of columns that a kernel with counts processes at a time. It may read up to the end
// of the last block; results beyond the row are not used.
const countsBlock = 32

// counts are the numbers of columns and pixels of the windows along a row: those of whole windows, and fewer at the
// sides of the picture.
type counts struct {
	columns, pixels []uint32
	// half is n/2, and inverse 1/n; for bytes in blocks of countsBlock, even columns before odd ones.
	half, inverse []float32
	// Most windows are whole: those of columns from … to−1.
	from, to int
}

// newCounts returns counts for n columns starting at x0, to be completed by set for each row.
func newCounts(t *worker, g window, x0, n int) *counts {
	n = (n + countsBlock - 1) / countsBlock * countsBlock
	c := &counts{columns: take[uint32](t, n), pixels: take[uint32](t, n), half: take[float32](t, n),
		inverse: take[float32](t, n)}
	for i := range c.columns {
		c.columns[i] = uint32(max(1, g.countX(min(x0+i, g.w-1))))
	}
	c.from, c.to = longestRun(c.columns)
	return c
}

// longestRun returns the longest run of equal values.
func longestRun[T comparable](s []T) (from, to int) {
	i := 0
	for _, j := range runEnds(s) {
		if j-i > to-from {
			from, to = i, j
		}
		i = j
	}
	return from, to
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

// set computes the counts of a row whose windows have ny rows.
func (c *counts) set(ny int, paired bool) {
	// Paired columns are stored in a different order, so only whole blocks can be filled at once.
	from, to := c.from, c.to
	if paired {
		from, to = (from+countsBlock-1)/countsBlock*countsBlock, to/countsBlock*countsBlock
	}
	if from >= to {
		from, to = 0, 0
	}
	sides := func(i, end int) {
		const block = countsBlock
		for ; i < end; i++ {
			n, at := uint32(ny)*c.columns[i], i
			if paired {
				at = i&^(block-1) + i&1*(block/2) + i&(block-1)>>1
			}
			c.pixels[i], c.half[at], c.inverse[at] = n, float32(n/2)+0.5, 1/float32(n)
		}
	}
	sides(0, from)
	sides(to, len(c.columns))
	if from < to {
		n := uint32(ny) * c.columns[from]
		fill(c.pixels[from:to], n)
		fill(c.half[from:to], float32(n/2)+0.5)
		fill(c.inverse[from:to], 1/float32(n))
	}
}

// boxMeanRows takes the means of windows small enough for kernels that divide by counts.
func boxMeanRows[T uint8 | uint16, S uint16 | uint32](ctx context.Context, b *Backend, d, s *plane, g window,
	slide func(col []S, add, sub []T), means func(dst []T, col []S, k int, c *counts)) error {
	dst, src, w := pixels[T](d), pixels[T](s), d.w
	return b.tiles(ctx, w, d.h, g.rx, g.ry, func(t *worker, tile rect) {
		x0, x1, at := g.columns(tile)
		// The kernels also read the column before the first window.
		col := zeros[S](t, 1+g.width(tile)+countsBlock)
		none := zeros[T](t, x1-x0)
		c, ny := newCounts(t, g, tile.x0, tile.x1-tile.x0), 0
		g.slide(t, tile, func(add, sub int) {
			slide(col[1+at:][:x1-x0], rowOr(src, w, add, x0, x1, none), rowOr(src, w, sub, x0, x1, none))
		}, func(y int) {
			if n := g.countY(y); n != ny {
				ny = n
				c.set(ny, d.kind == processing.U8)
			}
			means(dst[y*w+tile.x0:y*w+tile.x1], col, 2*g.rx+1, c)
		})
	})
}

func sumUp[T uint16 | uint32](s []T) (sum uint32) {
	for _, v := range s {
		sum += uint32(v)
	}
	return sum
}

// boxes writes the rounded means of windows of the columns i+1 … i+k.
func boxes[T uint8 | uint16, S uint16 | uint32](dst []T, col []S, k int, c *counts) {
	s := sumUp(col[:k])
	enter, leave, pixels := col[k:][:len(dst)], col[:len(dst)], c.pixels[:len(dst)]
	var n uint32
	var inv uint64
	for i := range dst {
		s += uint32(enter[i]) - uint32(leave[i])
		if pixels[i] != n {
			n = pixels[i]
			inv = inverse(uint64(n))
		}
		dst[i] = T(divide(uint64(s)+uint64(n/2), inv))
	}
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

// boxCount writes how many pixels of the window have any of bits in c.
func (b *Backend) boxCount(ctx context.Context, d, c *plane, g window, bits uint8) error {
	src, w := c.flags(), d.w
	return b.tiles(ctx, w, d.h, g.rx, g.ry, func(t *worker, tile rect) {
		x0, x1, at := g.columns(tile)
		col := zeros[uint8](t, g.width(tile))
		none := zeros[uint8](t, x1-x0)
		entering, leaving := src.buffer(t, x1-x0), src.buffer(t, x1-x0)
		g.slide(t, tile, func(add, sub int) {
			b.kernels.countBits(col[at:at+x1-x0], src.row(add, x0, x1, none, entering),
				src.row(sub, x0, x1, none, leaving), bits)
		}, func(y int) {
			b.kernels.scanCount(d.data.U16[y*w+tile.x0:y*w+tile.x1], col, 2*g.rx+1)
		})
	})
}

// floatCounts are the numbers n of pixels of the windows along a row, 1/n, and 1/n².
type floatCounts struct {
	columns, pixels, share, square []float64
	// Most windows are whole: those of columns from … to−1.
	from, to int
}

// newFloatCounts returns floatCounts for n columns starting at x0, to be completed by set for each row.
func newFloatCounts(t *worker, g window, x0, n int) *floatCounts {
	n = (n + countsBlock - 1) / countsBlock * countsBlock
	c := &floatCounts{columns: take[float64](t, n), pixels: take[float64](t, n), share: take[float64](t, n),
		square: take[float64](t, n)}
	for i := range c.columns {
		c.columns[i] = float64(max(1, g.countX(min(x0+i, g.w-1))))
	}
	c.from, c.to = longestRun(c.columns)
	return c
}

// set computes the counts of a row whose windows have ny rows.
func (c *floatCounts) set(ny int) {
	sides := func(i, end int) {
		for ; i < end; i++ {
			n := float64(ny) * c.columns[i]
			share := 1 / n
			c.pixels[i], c.share[i], c.square[i] = n, share, share*share
		}
	}
	sides(0, c.from+1)
	sides(c.to, len(c.columns))
	fill(c.pixels[c.from:c.to], c.pixels[c.from])
	fill(c.share[c.from:c.to], c.share[c.from])
	fill(c.square[c.from:c.to], c.square[c.from])
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
		col := zeros[float64](t, 1+g.width(tile)+countsBlock)
		none := zeros[float32](t, x1-x0)
		c, ny := newFloatCounts(t, g, tile.x0, tile.x1-tile.x0), 0
		low, high := uint32(math.MaxUint32), uint32(0)
		g.slide(t, tile, func(add, sub int) {
			if rounded.Load() {
				return
			}
			in := rowOr(src, w, add, x0, x1, none)
			least, most := k.magnitudes(in)
			// If all samples are 0, least is 0, and 1 less wraps to the largest number.
			low, high = min(low, least-1), max(high, most)
			if !sumsExactly(low+1, high, pixels) {
				rounded.Store(true)
				return
			}
			k.slideFloats(col[1+at:][:x1-x0], in, rowOr(src, w, sub, x0, x1, none))
		}, func(y int) {
			if rounded.Load() {
				return
			}
			if n := g.countY(y); n != ny {
				ny = n
				c.set(ny)
			}
			k.floatMeans(dst[y*w+tile.x0:y*w+tile.x1], col, 2*g.rx+1, c)
		})
	})
	return !rounded.Load(), err
}

// sumsExactly reports whether sums of n samples need no rounding in float64, given the bits of the smallest nonzero
// magnitude and of the largest. All samples are multiples of the last place of the smallest, and the sum must be less
// than 2⁵³ of these.
func sumsExactly(least, most uint32, n float64) bool {
	return most < infinity && (least == 0 || n*float64(math.Float32frombits(most)) < unitOf(least)*(1<<53))
}

// unitOf returns the value of the last place of a positive sample with these bits.
func unitOf(bits uint32) float64 { return math.Ldexp(1, max(int(bits>>23), 1)-150) }

// magnitudes returns the bits of the smallest nonzero magnitude of the samples, 0 if there is none, and of the largest.
func magnitudes(s []float32) (least, most uint32) {
	least--
	for _, v := range s {
		m := math.Float32bits(v) & math.MaxInt32
		least, most = min(least, m-1), max(most, m)
	}
	return least + 1, most
}

func slideFloats(col []float64, add, sub []float32) {
	add, sub = add[:len(col)], sub[:len(col)]
	for i := range col {
		col[i] += float64(add[i]) - float64(sub[i])
	}
}

// floatMeans writes means of windows of the columns i+1 … i+k.
func floatMeans(dst []float32, col []float64, k int, c *floatCounts) {
	s := 0.0
	for _, v := range col[:k] {
		s += v
	}
	for i := range dst {
		s += col[i+k] - col[i]
		dst[i] = float32(s / c.pixels[i])
	}
}

// groupRows is the number of rows that boxMeanFloat sums horizontally at a time: as many as a vector has lanes.
const groupRows = 8

// blockGroup holds rows of column sums of a tile, and the rows for the means of their windows.
type blockGroup struct {
	// col holds groupRows rows of pitch sums, a multiple of groupRows; the first n + k − 1 of a row count.
	col   []float64
	pitch int
	// dst are the rows that exist.
	dst [][]float32
	n   int
	// k is the width of the windows, nx and ny how many columns and rows of each lie inside the picture. A whole vector
	// may be read at the last column of nx.
	k  int
	nx []float64
	ny [groupRows]float64
	// lanes is scratch: the sums of each column side by side, and for their means as many floats.
	lanes []float64
	means []float32
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
		ring := take[float64](t, ky*pitch)
		slot := func(i int) []float64 { return ring[i*pitch:][:m] }
		run := take[float64](t, m)
		group := newBlockGroup(t, g, tile)
		read := func(slot []float64, y int) {
			if y < 0 || y >= h {
				clear(slot)
				return
			}
			b.kernels.doubles(slot, src[y*w+x0:y*w+x1])
		}
		none := zeros[float32](t, m)
		for i := range ky {
			read(slot(i), i-g.ry)
		}
		p := newCancelCheck(t, g.width(tile))
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
				into := group.next(dst[y*w+tile.x0:y*w+tile.x1], g.countY(y), at, at+m)
				if i > 0 {
					x := none
					if y+g.ry < h {
						x = src[(y+g.ry)*w+x0 : (y+g.ry)*w+x1]
					}
					b.kernels.advanceSums(into, run, slot(i-1), x, slot(i))
				} else {
					copy(into, slot(0))
					b.kernels.addRow(into, run)
				}
				if len(group.dst) == groupRows || y == h-1 {
					b.kernels.blockMeans(group)
					group.dst = group.dst[:0]
				}
			}
			read(slot(ky-1), top+ky+g.ry)
		}
	})
}

func newBlockGroup(t *worker, w window, tile rect) *blockGroup {
	n := tile.x1 - tile.x0
	pitch := (w.width(tile) + groupRows - 1) / groupRows * groupRows
	g := &blockGroup{
		col: zeros[float64](t, groupRows*pitch), pitch: pitch, n: n, k: 2*w.rx + 1, nx: take[float64](t, n+groupRows),
		lanes: take[float64](t, groupRows*pitch), means: take[float32](t, groupRows*pitch),
		dst: make([][]float32, 0, groupRows),
	}
	for i := range g.nx {
		g.nx[i] = float64(max(1, w.countX(min(tile.x0+i, w.w-1))))
	}
	return g
}

// next appends a row, whose windows have ny rows, and returns its column sums from x0 to x1. The others are 0.
func (g *blockGroup) next(dst []float32, ny, x0, x1 int) []float64 {
	i := len(g.dst)
	g.dst = append(g.dst, dst)
	g.ny[i] = float64(ny)
	col := g.col[i*g.pitch : (i+1)*g.pitch]
	// blockMeans may have left values there.
	clear(col[:x0])
	clear(col[x1:])
	return col[x0:x1]
}

func addRow(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] += a[i]
	}
}

func doubles(dst []float64, src []float32) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = float64(src[i])
	}
}

func advanceSums(dst, run, keep []float64, x []float32, suffix []float64) {
	n := len(dst)
	run, keep, x, suffix = run[:n], keep[:n], x[:n], suffix[:n]
	for i := range dst {
		v := float64(x[i])
		keep[i] = v
		run[i] += v
		dst[i] = suffix[i] + run[i]
	}
}

func blockMeans(g *blockGroup) {
	sum := g.lanes[:g.n]
	for i, dst := range g.dst {
		blockSums(sum, g.col[i*g.pitch:(i+1)*g.pitch], g.k)
		for x, s := range sum {
			dst[x] = float32(s / (g.ny[i] * g.nx[x]))
		}
	}
}

// blockSums is windowMax with + instead of max.
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
