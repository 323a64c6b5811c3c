package cpu

import (
	"context"

	"blik/internal/span"
	"blik/processing"
	"blik/processing/cpu/kernel"
)

var _ processing.Frugal = (*Backend)(nil)

const (
	// estimateRows and classRows are the heights of the bands in which FirstEstimate and Classify go over a picture.
	// They are large compared with the rows needed above and below, and small enough that a band stays in the cache and
	// takes little memory. classColumns is the width of the tiles in which Classify looks for peaks.
	estimateRows, classRows, classColumns = 160, 128, 640
)

// bandsOf divides h rows into bands of at most most rows, so that every worker gets some, and returns their height.
func (b *Backend) bandsOf(h, most int) int {
	const least = 32
	share := (h + 4*b.workers - 1) / (4 * b.workers)
	return min(b.tiling.band*most/classRows, max(least, share))
}

// band returns scratch for n samples, with undefined content, that stays in t.
func band[T kernel.Sample](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	return (*s)[:n]
}

// FirstEstimate implements processing.Frugal. It goes over the picture in tiles that stay in the second-level cache,
// each with its surroundings.
func (b *Backend) FirstEstimate(ctx context.Context, op processing.FirstEstimate) error {
	out, y, v := op.Exclude.(*plane), op.Y.(*plane), op.V.(*plane)
	height, width := b.bandsOf(y.h, estimateRows), b.tiling.columnsOf(y.w)
	nx := (y.w + width - 1) / width
	return b.each(ctx, nx*((y.h+height-1)/height), func(t *worker, i int) {
		x0, y0 := i%nx*width, i/nx*height
		b.firstEstimate(t, &op, rect{x0, y0, min(y.w, x0+width), min(y.h, y0+height)}, out.marks, y, v)
	})
}

// columnsOf divides w columns into tiles, which begin at multiples of 64, and returns their width.
func (t *tiling) columnsOf(w int) int {
	n := max(1, (w+t.columns/2)/t.columns)
	return ((w+n-1)/n + 63) / 64 * 64
}

// firstEstimate computes FirstEstimate of a tile.
func (b *Backend) firstEstimate(t *worker, op *processing.FirstEstimate, tile rect, out *span.Set, y, v *plane) {
	r, around := op.Radius, op.Margin+3*op.Radius
	// The tile with its surroundings; below, columns and rows count from its corner.
	from := rect{max(0, tile.x0-around), max(0, tile.y0-around), min(y.w, tile.x1+around), min(y.h, tile.y1+around)}
	w, n := from.x1-from.x0, from.y1-from.y0
	light, one, other := band(&t.bands[0], n*w), band(&t.bands[1], n*w), band(&t.bands[2], n*w)
	for i := range n {
		at := (from.y0+i)*y.w + from.x0
		copy(light[i*w:(i+1)*w], y.data.U16[at:])
	}
	part := func(around int) rect {
		return rect{
			max(from.x0, tile.x0-around) - from.x0, max(from.y0, tile.y0-around) - from.y0,
			min(from.x1, tile.x1+around) - from.x0, min(from.y1, tile.y1+around) - from.y0,
		}
	}
	// line takes the best over squares.
	line := func(dst, src []uint16, radius, around int, dilate bool) {
		l := lines[uint16]{b: b, dst: dst, src: src, w: w, h: n, order: kernel.OrderOf[uint16](&b.kernels, dilate)}
		l.strip(t, part(around), radius)
	}
	line(one, light, r, op.Margin+2*r, false)
	line(other, one, r, op.Margin+r, true)
	if t.stopped() {
		return
	}
	t.arena.Reset()
	boxMean16(t, &b.kernels, newWindow(w, n, r), part(op.Margin), one, other)
	marks := band(&t.marks, 2*n*w)
	wide := marks[n*w:]
	at := part(op.Margin)
	for j := at.y0; j < at.y1; j++ {
		x, k := (from.y0+j)*v.w+from.x0, j*w
		b.kernels.DifferenceThreshold(marks[k+at.x0:k+at.x1], light[k+at.x0:k+at.x1], one[k+at.x0:k+at.x1],
			v.data.U8[x+at.x0:x+at.x1], int32(op.Over), int32(op.Level))
	}
	l := lines[uint8]{b: b, dst: wide, src: marks, w: w, h: n, order: kernel.OrderOf[uint8](&b.kernels, true)}
	at = part(0)
	l.strip(t, at, op.Margin)
	for j := at.y0; j < at.y1; j++ {
		out.Pack(wide[j*w+at.x0:j*w+at.x1], tile.x0, from.y0+j)
	}
}

// strip writes a part for squares of a radius; dst is not src.
func (l *lines[T]) strip(t *worker, r rect, radius int) {
	rx, ry := min(radius, l.w-1), min(radius, l.h-1)
	if rx == 0 && ry == 0 {
		for y := r.y0; y < r.y1; y++ {
			copy(l.dst[y*l.w+r.x0:y*l.w+r.x1], l.src[y*l.w+r.x0:y*l.w+r.x1])
		}
		return
	}
	const column = 2048
	for x := r.x0; x < r.x1; x += column {
		t.arena.Reset()
		l.tile(t, rect{x, r.y0, min(r.x1, x+column), r.y1}, rx, ry, nil)
	}
}

func (b *Backend) Classify(ctx context.Context, op processing.Classify) error {
	cls, y, v := op.Class.(*plane), op.Y.(*plane), op.V.(*plane)
	w, h := y.w, y.h
	levels := b.backgroundLevels(y, op.Exclude.(*plane), op.Radii)
	height := b.bandsOf(h, classRows)
	return b.each(ctx, (h+height-1)/height, func(t *worker, i int) {
		y0, y1 := i*height, min(h, (i+1)*height)
		top, base := max(0, y0-op.PeakRadius), min(h, y1+op.PeakRadius)
		n := base - top
		background := raster{band(&t.bands[0], n*w), w, top}
		backgroundBand(t, rect{0, top, w, base}, background, levels, &b.kernels)
		if t.stopped() {
			return
		}
		for x := 0; x < w; x += classColumns {
			b.classes(t, &op, rect{x, y0, min(w, x+classColumns), y1}, cls, y, v, background)
		}
	})
}

// classes writes the class bits of a tile. Seeds are kept for the tile and the surroundings that its peaks depend on.
func (b *Backend) classes(t *worker, op *processing.Classify, tile rect, cls, y, v *plane, background raster) {
	r := op.PeakRadius
	from := rect{max(0, tile.x0-r), max(0, tile.y0-r), min(y.w, tile.x1+r), min(y.h, tile.y1+r)}
	w, n := from.x1-from.x0, from.y1-from.y0
	seed, peak, class := band(&t.bands[1], n*w), band(&t.bands[2], n*w), band(&t.marks, w)
	for at := from.y0; at < from.y1; at++ {
		i := at*y.w + from.x0
		b.kernels.Contrast(class, seed[(at-from.y0)*w:(at-from.y0+1)*w], y.data.U16[i:i+w],
			background.row(at, from.x0, from.x1), v.data.U8[i:i+w], op.Contrast)
		if at >= tile.y0 && at < tile.y1 {
			copy(cls.data.U8[at*y.w+tile.x0:at*y.w+tile.x1], class[tile.x0-from.x0:])
		}
	}
	l := lines[uint16]{b: b, dst: peak, src: seed, w: w, h: n, order: kernel.OrderOf[uint16](&b.kernels, true)}
	in := rect{tile.x0 - from.x0, tile.y0 - from.y0, tile.x1 - from.x0, tile.y1 - from.y0}
	l.strip(t, in, r)
	for at := tile.y0; at < tile.y1; at++ {
		i, j := at*y.w+tile.x0, (at-from.y0)*w
		kernel.Cores(cls.data.U8[i:i+tile.x1-tile.x0], y.data.U16[i:i+tile.x1-tile.x0],
			background.row(at, tile.x0, tile.x1), peak[j+in.x0:j+in.x1], op.Cores)
	}
}

// backgroundBand computes the background of a band, column by column.
func backgroundBand(t *worker, rows rect, dst raster, levels []backgroundLevel, kernels *kernel.Table) {
	const column = 2500
	n := max(1, (rows.x1+column/2)/column)
	for i := range n {
		t.arena.Reset()
		background(t, rect{rows.x1 * i / n, rows.y0, rows.x1 * (i + 1) / n, rows.y1}, dst, levels, kernels)
	}
}
