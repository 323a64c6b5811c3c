package cpu

import (
	"context"
	"math"

	"blik/processing"
)

// censoredSums slides packed sums of y over the pixels that exclude does not mark: sums of 32 bits in windows of a
// radius of at most narrowRadius, of 64 bits in others.
type censoredSums[S uint32 | uint64] struct {
	window
	slideRow func(col []S, add, sub []uint16, addOut, subOut []uint8)
	scanRow  func(dst, col []S, k int)
	y        []uint16
	exclude  flags
}

// run calls emit with the window sums of every row of the tile.
func (c *censoredSums[S]) run(t *worker, tile rect, emit func(y int, sum []S)) bool {
	x0, x1, at := c.columns(tile)
	col := zeros[S](t, c.width(tile))
	sum := take[S](t, tile.x1-tile.x0)
	none, out := zeros[uint16](t, x1-x0), take[uint8](t, x1-x0)
	fill(out, math.MaxUint8)
	entering, leaving := c.exclude.buffer(t, x1-x0), c.exclude.buffer(t, x1-x0)
	return c.slide(t, tile, func(add, sub int) {
		c.slideRow(col[at:at+x1-x0],
			rowOr(c.y, c.w, add, x0, x1, none), rowOr(c.y, c.w, sub, x0, x1, none),
			c.exclude.row(add, x0, x1, out, entering), c.exclude.row(sub, x0, x1, out, leaving))
	}, func(y int) {
		c.scanRow(sum, col, 2*c.rx+1)
		emit(y, sum)
	})
}

// need returns the number of pixels from which on a window of radius r counts: 4·n ≥ (2r+1)².
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

// raster is a few rows of a plane of w columns, from row top on.
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
		censoredSums: censoredSums[uint64]{g, b.kernels.censor, b.kernels.scan64, y.data.U16, exclude.flags()},
		need:         need(r),
		mean:         b.kernels.censoredMean,
	}
	most := (2*g.rx + 1) * (2*g.ry + 1)
	if most > maxTable {
		v.mean = dividedMean
		return v
	}
	v.inverse = make([]uint64, most+1)
	for n := 1; n <= most; n++ {
		v.inverse[n] = inverse(uint64(n))
	}
	return v
}

// maxTable is the largest window in pixels that inverses are tabulated for.
const maxTable = 1 << 16

// dividedMean is censoredMean for windows too large for a table of inverses.
func dividedMean(dst []uint16, sum, _ []uint64, need uint64) bool {
	poor := false
	for i, s := range sum[:len(dst)] {
		n := s >> countShift
		poor = poor || n < need
		dst[i] = uint16((s&sumMask + n/2) / max(n, 1))
	}
	return poor
}

// background computes a tile. Runs of poor pixels are collected in columns of cells. A cell is wide enough that, if it
// is poor as a whole, the border around its box is at most a few times its own pixels.
func background(t *worker, tile rect, dst raster, levels []backgroundLevel, k *kernels) {
	first, cell := &levels[0], max(128, 4*levels[len(levels)-1].rx)
	cells := make([][]processing.Run, (tile.x1-tile.x0+cell-1)/cell)
	keep := func(v *backgroundLevel, last bool, y, x0 int, sum []uint64) {
		row := dst.row(y, 0, v.w)
		for i := 0; i < len(sum); i++ {
			if sum[i]>>countShift >= v.need {
				continue
			}
			if last {
				if sum[i]>>countShift == 0 {
					row[x0+i] = v.y[y*v.w+x0+i]
				}
				continue
			}
			c := (x0 + i - tile.x0) / cell
			end := min(len(sum), tile.x0+(c+1)*cell-x0)
			j := i + 1
			for j < end && sum[j]>>countShift < v.need {
				j++
			}
			cells[c] = append(cells[c], processing.Run{Y: y, X0: x0 + i, X1: x0 + j})
			i = j - 1
		}
	}
	var done bool
	if first.rx <= narrowRadius && first.ry <= narrowRadius {
		wide := take[uint64](t, tile.x1-tile.x0)
		narrow := censoredSums[uint32]{first.window, k.censor32, k.scan32, first.y, first.exclude}
		done = narrow.run(t, tile, func(y int, sum []uint32) {
			out := dst.row(y, tile.x0, tile.x1)
			if !k.censoredMean32(out, sum, first.inverse, uint32(first.need)) {
				return
			}
			// The count is the upper part of a sum, so sums below this one hold too few pixels: all sums, if the
			// picture is smaller than the window needs.
			enough := uint32(min(first.need, 1<<(32-narrowShift)-1)) << narrowShift
			for i := 0; i < len(sum); i++ {
				if sum[i] >= enough {
					continue
				}
				j := i
				for ; j < len(sum) && sum[j] < enough; j++ {
					wide[j] = uint64(sum[j]>>narrowShift)<<countShift | uint64(sum[j]&narrowMask)
				}
				keep(first, len(levels) == 1, y, tile.x0+i, wide[i:j])
				i = j
			}
		})
	} else {
		done = first.run(t, tile, func(y int, sum []uint64) {
			if first.mean(dst.row(y, tile.x0, tile.x1), sum, first.inverse, first.need) {
				keep(first, len(levels) == 1, y, tile.x0, sum)
			}
		})
	}
	for i := 1; done && i < len(levels); i++ {
		v := &levels[i]
		for c := range cells {
			runs := cells[c]
			if len(runs) == 0 {
				continue
			}
			cells[c] = nil
			box := rect{runs[0].X0, runs[0].Y, runs[0].X1, runs[len(runs)-1].Y + 1}
			for _, p := range runs {
				box.x0, box.x1 = min(box.x0, p.X0), max(box.x1, p.X1)
			}
			done = v.run(t, box, func(y int, sum []uint64) {
				for ; len(runs) > 0 && runs[0].Y == y; runs = runs[1:] {
					p := runs[0]
					s := sum[p.X0-box.x0 : p.X1-box.x0]
					if v.mean(dst.row(y, p.X0, p.X1), s, v.inverse, v.need) {
						keep(v, i == len(levels)-1, y, p.X0, s)
					}
				}
			})
			if !done {
				return
			}
		}
	}
}

// Deviation writes the standard deviation of Y over the pixels of the window that Exclude does not mark.
func (b executor) Deviation(ctx context.Context, op processing.Deviation) error {
	d, l, e := op.Dst.(*plane), op.Y.(*plane), op.Exclude.(*plane)
	g := newWindow(d.w, d.h, op.Radius)
	first := censoredSums[uint64]{g, b.kernels.censor, b.kernels.scan64, l.data.U16, e.flags()}
	share := make([]float64, (2*g.rx+1)*(2*g.ry+1)+1)
	for n := 1; n < len(share); n++ {
		share[n] = 1 / float64(n)
	}
	return b.wanted(ctx, d, max(g.rx, g.ry), op.Where, func(t *worker, tile rect, out *target) {
		x0, x1, at := g.columns(tile)
		col2 := zeros[uint64](t, g.width(tile))
		sum2 := take[uint64](t, tile.x1-tile.x0)
		c := first
		c.slideRow = func(col []uint64, add, sub []uint16, addOut, subOut []uint8) {
			b.kernels.censor(col, add, sub, addOut, subOut)
			b.kernels.censorSquares(col2[at:at+x1-x0], add, sub, addOut, subOut)
		}
		c.run(t, tile, func(y int, sum []uint64) {
			b.kernels.scan64(sum2, col2, 2*g.rx+1)
			b.kernels.deviations(out.row(y), sum, sum2, share)
			out.put(y)
		})
	})
}

// deviations writes ⌊√v/n⌋ for v = n·ΣX² − (ΣX)² < 2⁶³, share[n] being 1/n. The product of floats is within one unit of
// the integer, and is then corrected.
func deviations(dst []uint16, sum, sum2 []uint64, share []float64) {
	sum, sum2 = sum[:len(dst)], sum2[:len(dst)]
	for i, s := range sum {
		n, s := s>>countShift, s&sumMask
		v := n*sum2[i] - s*s
		if v == 0 {
			dst[i] = 0
			continue
		}
		q := uint64(int64(math.Sqrt(float64(int64(v))) * share[n]))
		if low := q * n; low*low > v {
			q--
		} else if high := low + n; high*high <= v {
			q++
		}
		dst[i] = uint16(q)
	}
}
