package cpu

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// censoredSums slides packed sums over the pixels of y that exclude does not mark: 32-bit sums for windows of radius up
// to narrowRadius, 64-bit sums for larger ones.
type censoredSums[S uint32 | uint64] struct {
	window
	slideRow func(col []S, add, sub []uint16, addOut, subOut []uint8)
	y        []uint16
	exclude  flags
}

// down slides the column sums of the tile, all 0 at first, and calls emit when they hold the sums of row y.
func (c *censoredSums[S]) down(t *worker, tile rect, col []S, emit func(y int)) bool {
	x0, x1, at := c.columns(tile)
	none, out := zeroScratch[uint16](t, x1-x0), scratch[uint8](t, x1-x0)
	kernel.Fill(out, math.MaxUint8)
	entering, leaving := c.exclude.buffer(t, x1-x0), c.exclude.buffer(t, x1-x0)
	return c.slide(t, tile, func(add, sub int) {
		c.slideRow(col[at:at+x1-x0],
			rowOr(c.y, c.w, add, x0, x1, none), rowOr(c.y, c.w, sub, x0, x1, none),
			c.exclude.row(add, x0, x1, out, entering), c.exclude.row(sub, x0, x1, out, leaving))
	}, emit)
}

// need returns the least number n of pixels that a window of radius r must hold: 4·n ≥ (2r+1)².
func need(r int) uint64 {
	side := uint64(2*r + 1)
	return (side*side + 3) / 4
}

// Background writes the mean of Y over the pixels of a window that Exclude does not mark. The smallest window is
// computed for every pixel. Runs of pixels where it holds too few are collected, and the next window is computed only
// for small boxes around them.
func (b executor) Background(ctx context.Context, op processing.Background) error {
	d, levels := op.Dst.(*plane), b.backgroundLevels(op.Y.(*plane), op.Exclude.(*plane), op.Radii)
	last := levels[len(levels)-1]
	return b.tiles(ctx, d.w, d.h, last.rx, last.ry, func(t *worker, tile rect) {
		background(t, tile, raster{d.data.U16, d.w, 0}, levels, &b.kernels)
	})
}

// raster holds some rows of a plane of w columns; the first one is row top.
type raster struct {
	pix    []uint16
	w, top int
}

// row returns the samples x0 … x1−1 of row y of the plane.
func (r raster) row(y, x0, x1 int) []uint16 {
	at := (y - r.top) * r.w
	return r.pix[at+x0 : at+x1]
}

func (b *Backend) backgroundLevels(y, exclude *plane, radii []int) []backgroundLevel {
	levels := make([]backgroundLevel, len(radii))
	for i, r := range radii {
		levels[i] = b.backgroundLevel(y, exclude, r)
	}
	// The last window is used if it holds any pixel.
	levels[len(levels)-1].need = 1
	return levels
}

// backgroundLevel is one of the windows of Background.
type backgroundLevel struct {
	censoredSums[uint64]
	need    uint64
	inverse []uint64
	mean    func(dst []uint16, sum, inverse []uint64, need uint64) bool
}

func (b *Backend) backgroundLevel(y, exclude *plane, r int) backgroundLevel {
	g := newWindow(y.w, y.h, r)
	v := backgroundLevel{
		censoredSums: censoredSums[uint64]{g, b.kernels.Censor, y.data.U16, exclude.flags()},
		need:         need(r),
		mean:         kernel.CensoredMean,
	}
	most := g.pixels()
	if most > maxTable {
		v.mean = kernel.DividedMean
		return v
	}
	v.inverse = make([]uint64, most+1)
	for n := 1; n <= most; n++ {
		v.inverse[n] = kernel.Inverse(uint64(n))
	}
	return v
}

// maxTable is the largest window, in pixels, for which inverses are tabulated.
const maxTable = 1 << 16

// background computes a tile. Runs of poor pixels are collected in columns of cells. A cell is so wide that even if all
// of it is poor, the border around its box has at most a few times as many pixels.
func background(t *worker, tile rect, dst raster, levels []backgroundLevel, k *kernel.Table) {
	first, last := &levels[0], &levels[len(levels)-1]
	p := poorRuns{left: tile.x0, cell: max(128, 4*last.rx)}
	p.cells = make([][]processing.Run, (tile.x1-tile.x0+p.cell-1)/p.cell)
	var done bool
	if first.rx > kernel.NarrowRadius || first.ry > kernel.NarrowRadius {
		col, sum := zeroScratch[uint64](t, first.width(tile)), scratch[uint64](t, tile.x1-tile.x0)
		done = first.down(t, tile, col, func(y int) {
			kernel.Scan(sum, col, 2*first.rx+1)
			if first.mean(dst.row(y, tile.x0, tile.x1), sum, first.inverse, first.need) {
				p.short(y, tile.x0, sum, first.need)
			}
		})
	} else {
		narrow := censoredSums[uint32]{first.window, k.Censor32, first.y, first.exclude}
		// The kernel also reads the column before the first window.
		col := zeroScratch[uint32](t, 1+first.width(tile)+kernel.Block)
		poor := scratch[uint64](t, (tile.x1-tile.x0+63)/64)
		done = narrow.down(t, tile, col[1:], func(y int) {
			if k.NarrowMeans(dst.row(y, tile.x0, tile.x1), poor, col, 2*first.rx+1, uint32(first.need)) {
				p.marked(y, tile.x0, poor)
			}
		})
	}
	for i := 1; done && i < len(levels); i++ {
		v := &levels[i]
		for c := range p.cells {
			runs := p.cells[c]
			p.cells[c] = nil
			for done && len(runs) > 0 {
				n := v.together(runs)
				done = v.means(t, runs[:n], dst, &p)
				runs = runs[n:]
			}
		}
	}
	for _, r := range slices.Concat(p.cells...) {
		copy(dst.row(r.Y, r.X0, r.X1), last.y[r.Y*last.w+r.X0:])
	}
}

// poorRuns are runs of pixels of a tile whose window holds too few pixels, in columns of cells; each column is in
// reading order.
type poorRuns struct {
	left, cell int
	cells      [][]processing.Run
}

// add adds the pixels x0 … x1−1 of row y.
func (p *poorRuns) add(y, x0, x1 int) {
	for x0 < x1 {
		c := (x0 - p.left) / p.cell
		end := min(x1, p.left+(c+1)*p.cell)
		p.cells[c] = append(p.cells[c], processing.Run{Y: y, X0: x0, X1: end})
		x0 = end
	}
}

// short adds the pixels, starting at x0, whose sums hold fewer than need pixels.
func (p *poorRuns) short(y, x0 int, sum []uint64, need uint64) {
	for i := 0; i < len(sum); i++ {
		if sum[i]>>kernel.CountShift >= need {
			continue
		}
		j := i + 1
		for j < len(sum) && sum[j]>>kernel.CountShift < need {
			j++
		}
		p.add(y, x0+i, x0+j)
		i = j
	}
}

// marked adds the pixels, starting at x0, whose bits are set.
func (p *poorRuns) marked(y, x0 int, set []uint64) {
	begin := -1
	for i, v := range set {
		if v == 0 && begin < 0 {
			continue
		}
		for at := 0; at < 64; {
			if begin < 0 {
				at += bits.TrailingZeros64(v >> at)
				if at >= 64 {
					break
				}
				begin = 64*i + at
			}
			if at += bits.TrailingZeros64(^(v >> at)); at < 64 {
				p.add(y, x0+begin, x0+64*i+at)
				begin = -1
			}
		}
	}
	if begin >= 0 {
		p.add(y, x0+begin, x0+64*len(set))
	}
}

// together returns how many of the runs, at least one, should share a box: those with fewer rows between them than the
// window reads above and below a box.
func (v *backgroundLevel) together(runs []processing.Run) int {
	for i := 1; i < len(runs); i++ {
		if runs[i].Y-runs[i-1].Y > 2*v.ry {
			return i
		}
	}
	return len(runs)
}

// means writes the means of runs, and adds those that hold too few pixels to poor.
func (v *backgroundLevel) means(t *worker, runs []processing.Run, dst raster, poor *poorRuns) bool {
	mark := t.arena.Mark()
	defer t.arena.Rewind(mark)
	box := rect{runs[0].X0, runs[0].Y, runs[0].X1, runs[len(runs)-1].Y + 1}
	for _, p := range runs {
		box.x0, box.x1 = min(box.x0, p.X0), max(box.x1, p.X1)
	}
	col, sum := zeroScratch[uint64](t, v.width(box)), scratch[uint64](t, box.x1-box.x0)
	return v.down(t, box, col, func(y int) {
		n := 0
		for n < len(runs) && runs[n].Y == y {
			n++
		}
		if n == 0 {
			return
		}
		x0, x1 := runs[0].X0, runs[n-1].X1
		kernel.Scan(sum[:x1-x0], col[x0-box.x0:x1-box.x0+2*v.rx], 2*v.rx+1)
		for _, p := range runs[:n] {
			s := sum[p.X0-x0 : p.X1-x0]
			if v.mean(dst.row(y, p.X0, p.X1), s, v.inverse, v.need) {
				poor.short(y, p.X0, s, v.need)
			}
		}
		runs = runs[n:]
	})
}
