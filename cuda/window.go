//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"math"

	"gorgonia.org/cu"

	"blik/processing"
)

// cuPtr converts an offset to the type of a device pointer.
func cuPtr(n int64) cu.DevicePtr { return cu.DevicePtr(n) }

// table is a summed-area table in device memory, made by the kernels of window.cu.
type table struct {
	memory buffer
	stride int
}

// chunkRows is the constant of the same name in window.cu.
const chunkRows = 8

// table makes the table of what the kernels tableChunks<name> and tableRows<name> sum; size is that of a sum, 4 or 8
// bytes.
func (q *queue) table(name string, size, w, h int, args ...any) (table, error) {
	chunks := (h + chunkRows - 1) / chunkRows
	stride := int(roundUp(int64(w+1), 32))
	sums, err := q.bytes(int64(chunks) * int64(w) * int64(size))
	if err != nil {
		return table{}, err
	}
	t := table{stride: stride}
	if t.memory, err = q.bytes(int64(h+1) * int64(stride) * int64(size)); err != nil {
		return table{}, err
	}
	columns := dim{x: 256}
	if err := q.Launch("tableChunks"+name, dim{(w + 255) / 256, chunks}, columns,
		append([]any{sums, w, h}, args...)...); err != nil {
		return table{}, err
	}
	prefix := "tablePrefix32"
	if size == 8 {
		prefix = "tablePrefix64"
	}
	if err := q.Launch(prefix, dim{x: (w + 31) / 32}, dim{32, 32}, sums, w, chunks); err != nil {
		return table{}, err
	}
	return t, q.Launch("tableRows"+name, dim{x: chunks}, columns, append([]any{t.memory, stride, sums, w, h},
		args...)...)
}

// clamped returns the radius, or a smaller one that already covers the whole picture.
func clamped(r, w, h int) int { return min(r, max(w, h)-1) }

// BoxMean writes the rounded mean over the window of radius r.
func (b executor) BoxMean(ctx context.Context, op processing.BoxMean) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	w, h := d.w, d.h
	op.Radius = clamped(op.Radius, w, h)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		if op.Radius == 0 {
			return q.duplicate(d, s)
		}
		most := uint64(math.MaxUint8)
		if d.kind == processing.U16 {
			most = math.MaxUint16
		}
		if op.Radius <= maxWarpMean {
			g := q.warps(w, h, op.Radius, 4)
			return q.Launch("warpMean"+s.kind.String(), dim{x: g.grid}, dim{x: slideThreads}, d, s, op.Radius, g.strips,
				g.width, g.rows, w, h)
		}
		if op.Radius <= maxSlide {
			g, err := q.segments(s, op.Radius)
			if err != nil {
				return err
			}
			return q.Launch("slideMean"+s.kind.String(), g.grid, dim{x: slideThreads}, d, s, g.sums, g.stride,
				op.Radius, g.width, g.rows, w, h)
		}
		pixels := uint64(min(2*op.Radius+1, w)) * uint64(min(2*op.Radius+1, h))
		kind, name, size := "Value", "boxMean", 4
		// Includes half a window's count for rounding.
		if pixels*most+pixels > math.MaxUint32 {
			kind, name, size = "Long", "boxMeanLong", 8
		}
		t, err := q.table(kind+s.kind.String(), size, w, h, s)
		if err != nil {
			return err
		}
		return q.Pixels(name+d.kind.String(), w, h, d, t.memory, t.stride, op.Radius)
	})
}

// The sliding window of slide.cu: a block of slideThreads takes a strip of slideStrip columns, the window's border
// included, and runs down some rows. maxSlide is the largest radius for which some of the strip remains.
const (
	slideThreads = 128
	slideStrip   = 8 * slideThreads
	slideSegment = 16
	maxSlide     = 127
	// The number of blocks per multiprocessor, limited by their registers.
	slideBlocks = 6
)

// slide is the geometry of a sliding window and the sums of its segments.
type slide struct {
	grid                dim
	width, rows, stride int
	sums                buffer
}

// strips cuts a picture into strips of equal width, as wide as the window allows where a strip takes so many columns.
func strips(w, r, columns int) (n, width int) {
	widest := (columns - 2*r - 7) &^ 7
	n = (w + widest - 1) / widest
	width = int(roundUp(int64((w+n-1)/n), 8))
	return (w + width - 1) / width, width
}

// slideRows returns the number of rows that a block slides down: the one that takes the least time for the picture,
// given how many blocks a multiprocessor runs at a time and that starting a block costs as much as about 12 rows.
func (q *queue) slideRows(strips, h, blocks int) int {
	best, least := 0, math.MaxInt
	for rows := 16; rows <= 48; rows += 4 {
		slots := max(1, q.d.info.Multiprocessors*blocks)
		turns := (strips*((h+rows-1)/rows) + slots - 1) / slots
		if cost := turns * (rows + 12); cost < least {
			best, least = rows, cost
		}
	}
	return best
}

// geometry divides a picture into strips and allocates memory for the sums of its segments.
func (q *queue) geometry(w, h, r int) (g slide, err error) {
	n, width := strips(w, r, slideStrip)
	g = slide{width: width, rows: q.slideRows(n, h, slideBlocks), stride: int(roundUp(int64(w), 8))}
	g.grid = dim{n, (h + g.rows - 1) / g.rows}
	g.sums, err = q.bytes(4 * int64(segmentRows(h)) * int64(g.stride))
	return g, err
}

// segmentRows is the number of segments down a picture.
func segmentRows(h int) int { return (h + slideSegment - 1) / slideSegment }

// segmentGrid is the grid of the kernels that sum segments.
func segmentGrid(w, h int) (grid, block dim) {
	return dim{(w + slideStrip - 1) / slideStrip, segmentRows(h)}, dim{x: slideThreads}
}

// segments sums the segments of a picture.
func (q *queue) segments(s *plane, r int) (slide, error) {
	g, err := q.geometry(s.w, s.h, r)
	if err != nil {
		return g, err
	}
	grid, block := segmentGrid(s.w, s.h)
	return g, q.Launch("segmentsOf"+s.kind.String(), grid, block, g.sums, g.stride, s, s.w, s.h)
}

// Background writes the mean of y over the pixels of a window that are not excluded. Radii are at most 2047.
func (b executor) Background(ctx context.Context, op processing.Background) error {
	d, l, e := op.Dst.(*plane), op.Y.(*plane), op.Exclude.(*plane)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		if op.Radii[0] <= maxWarp && op.Radii[len(op.Radii)-1] <= maxSlide && len(op.Radii) <= maxCellRadii+1 {
			return q.background(d, l, e, op.Radii)
		}
		levels := make([]int32, len(op.Radii))
		for i, r := range op.Radii {
			levels[i] = int32(r)
		}
		list, err := q.constants(BytesOf(levels))
		if err != nil {
			return err
		}
		t, err := q.table("Censored", 8, d.w, d.h, l, e)
		if err != nil {
			return err
		}
		return q.Pixels("background", d.w, d.h, d, l, t.memory, t.stride, list, len(levels))
	})
}

// The sliding window of a single warp: warpStrip columns, the window's border included. maxWarp is the largest
// radius for which enough of them remain, widestWarp of slide.cu, and maxWarpMean that for a mean, which blocks of
// threads take faster beyond; maxFew is the largest whose sums and numbers of samples share a word; warpsAtOnce is
// about how many warps a multiprocessor works on.
const (
	warpStrip   = 8 * 32
	maxWarp     = 48
	maxWarpMean = 16
	maxFew      = 7
	warpsAtOnce = 24
)

// cellSide is the side of the cells of slide.cu, used where the first window had too few samples; maxCellRadii is the
// maximum number of radii of their kernel.
const (
	cellSide     = 32
	maxCellRadii = 8
)

// warps is the geometry of windows that use one warp each.
type warps struct {
	grid                int
	strips, width, rows int
}

// warps divides a picture among warps, each of which does some rows, a multiple of grain, so that the picture takes the
// least time, given how many warps run at a time and that a row before the first result costs about a third of a row of
// results.
func (q *queue) warps(w, h, r, grain int) warps {
	g := warps{}
	g.strips, g.width = strips(w, r, warpStrip)
	slots := max(1, q.d.info.Multiprocessors*warpsAtOnce)
	least := math.MaxInt
	for rows := grain; rows <= 64; rows += grain {
		turns := (g.strips*((h+rows-1)/rows) + slots - 1) / slots
		if cost := turns * (3*rows + 2*r + 1); cost < least {
			g.rows, least = rows, cost
		}
	}
	const perBlock = slideThreads / 32
	g.grid = (g.strips*((h+g.rows-1)/g.rows) + perBlock - 1) / perBlock
	return g
}

// background slides the first window over the picture, and the larger ones over the cells where it held too few
// samples.
func (q *queue) background(d, y, exclude *plane, radii []int) error {
	r := radii[0]
	g := q.warps(d.w, d.h, r, cellSide)
	// A bit for each pixel that remains to be done, in words for 32 columns of a strip; the cells of such pixels, and
	// their number.
	const words = warpStrip / 32
	cells := g.strips * words * ((d.h + cellSide - 1) / cellSide)
	wanting, err := q.bytes(4 * words * int64(g.strips) * int64(d.h))
	if err != nil {
		return err
	}
	list, err := q.bytes(4 * int64(cells))
	if err != nil {
		return err
	}
	listed, err := q.bytes(4)
	if err != nil {
		return err
	}
	if err := q.d.zero(listed, 4); err != nil {
		return err
	}
	// A quarter of the window, rounded up.
	name, need := "openMeanMany", r*r+r+1
	if r <= maxFew {
		name = "openMeanFew"
	}
	if len(radii) == 1 {
		need = 1
	}
	block := dim{x: slideThreads}
	if err := q.Launch(name, dim{x: g.grid}, block, d, y, exclude, wanting, list, listed, need, r, g.strips, g.width,
		g.rows, d.w, d.h); err != nil {
		return err
	}
	larger := radii[min(1, len(radii)-1):]
	packed := 0
	for i, r := range larger {
		packed |= r << (8 * i)
	}
	name = "openCellsFar"
	if cellSide+2*larger[len(larger)-1] <= slideThreads {
		name = "openCellsNear"
	}
	grid := min(cells, max(1, q.d.info.Multiprocessors*8))
	return q.Launch(name, dim{x: grid}, block, d, y, exclude, wanting, list, listed, packed, len(larger), g.strips,
		g.width, d.w, d.h)
}
