package cpu

import (
	"context"

	"blik/processing"
)

var _ processing.Frugal = (*Backend)(nil)

const (
	// estimateRows and classRows are the heights of the bands in which FirstEstimate and Classify go over a picture:
	// high against the rows above and below that they take in addition, low so that a band stays in the cache and
	// takes no memory to speak of.
	estimateRows, classRows = 160, 128
)

// bandsOf divides h rows into bands of at most most rows, such that every worker gets some, and returns their height.
func (b *Backend) bandsOf(h, most int) int {
	const least = 32
	share := (h + 4*b.workers - 1) / (4 * b.workers)
	return min(b.tiling.band*most/classRows, max(least, share))
}

// band returns scratch for n samples, with undefined content, that t keeps.
func band[T sample](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	return (*s)[:n]
}

// rowsOf returns the rows y0 … y1−1 of samples in rows of w.
func rowsOf[T sample](s []T, w, y0, y1 int) []T { return s[y0*w : y1*w] }

// FirstEstimate implements processing.Frugal.
func (b *Backend) FirstEstimate(ctx context.Context, op processing.FirstEstimate) error {
	out, y, v := op.Exclude.(*plane), op.Y.(*plane), op.V.(*plane)
	w, h, r := y.w, y.h, op.Radius
	height := b.bandsOf(h, estimateRows)
	return b.each(ctx, (h+height-1)/height, func(t *worker, i int) {
		y0, y1 := i*height, min(h, (i+1)*height)
		// The rows that are looked at; counted from top on from here.
		top, base := max(0, y0-op.Margin-3*r), min(h, y1+op.Margin+3*r)
		n := base - top
		light := rowsOf(y.data.U16, w, top, base)
		one, other := band(&t.bands[0], n*w), band(&t.bands[1], n*w)
		marks := band(&t.marks, n*w)
		part := func(around int) rect {
			return rect{0, max(0, y0-around) - top, w, min(h, y1+around) - top}
		}
		// line takes the best over squares.
		line := func(dst, src []uint16, radius, around int, dilate bool) {
			l := lines[uint16]{b: b, dst: dst, src: src, w: w, h: n, order: orderOf[uint16](&b.kernels, dilate)}
			l.strip(t, part(around), radius)
		}
		line(one, light, r, op.Margin+2*r, false)
		line(other, one, r, op.Margin+r, true)
		if t.stopped() {
			return
		}
		b.boxMeanBand(t, one, other, w, n, r, part(op.Margin))
		for at := part(op.Margin); at.y0 < at.y1; at.y0++ {
			i, j := at.y0*w, (at.y0+1)*w
			b.kernels.differenceThreshold(marks[i:j], light[i:j], one[i:j], rowsOf(v.data.U8, w, top, base)[i:j],
				int32(op.Over), int32(op.Level))
		}
		l := lines[uint8]{b: b, dst: rowsOf(out.data.U8, w, top, base), src: marks, w: w, h: n,
			order: orderOf[uint8](&b.kernels, true)}
		l.strip(t, part(0), op.Margin)
	})
}

// strip writes the rows of r, which go over the whole width, for squares of a radius; dst is not src.
func (l *lines[T]) strip(t *worker, r rect, radius int) {
	rx, ry := min(radius, l.w-1), min(radius, l.h-1)
	if rx == 0 && ry == 0 {
		copy(l.dst[r.y0*l.w:r.y1*l.w], l.src[r.y0*l.w:r.y1*l.w])
		return
	}
	const column = 2048
	for x := 0; x < l.w; x += column {
		t.used = 0
		l.tile(t, rect{x, r.y0, min(l.w, x+column), r.y1}, rx, ry, nil)
	}
}

// boxMeanBand is BoxMean of some rows of a band of n rows.
func (b *Backend) boxMeanBand(t *worker, dst, src []uint16, w, n, r int, rows rect) {
	g := newWindow(w, n, r)
	t.used = 0
	x0, x1, at := g.columns(rows)
	if (2*g.rx+1)*(2*g.ry+1) < maxFloatMean {
		col := zeros[uint32](t, 1+g.width(rows)+countsBlock)
		none := zeros[uint16](t, x1-x0)
		c, ny := newCounts(t, g, 0, w), 0
		g.slide(t, rows, func(add, sub int) {
			b.kernels.sums16.slide32(col[1+at:][:x1-x0], rowOr(src, w, add, x0, x1, none),
				rowOr(src, w, sub, x0, x1, none))
		}, func(y int) {
			if n := g.countY(y); n != ny {
				ny = n
				c.set(ny, false)
			}
			b.kernels.boxes16(dst[y*w:(y+1)*w], col, 2*g.rx+1, c)
		})
		return
	}
	col := zeros[uint64](t, g.width(rows))
	sum := take[uint64](t, w)
	none := zeros[uint16](t, x1-x0)
	g.slide(t, rows, func(add, sub int) {
		b.kernels.sums16.slide64(col[at:at+x1-x0], rowOr(src, w, add, x0, x1, none), rowOr(src, w, sub, x0, x1, none))
	}, func(y int) {
		b.kernels.scan64(sum, col, 2*g.rx+1)
		out := dst[y*w : (y+1)*w]
		for x := range out {
			n := uint64(g.countX(x) * g.countY(y))
			out[x] = uint16((sum[x] + n/2) / n)
		}
	})
}

// classified is what Classify keeps of the background in a band: runs of classed pixels, and their samples.
type classified struct {
	spans   []processing.Span
	samples []uint16
}

// Classify implements processing.Frugal.
func (b *Backend) Classify(ctx context.Context, op processing.Classify) (processing.Plane, error) {
	cls, y, v := op.Class.(*plane), op.Y.(*plane), op.V.(*plane)
	w, h := y.w, y.h
	levels := b.backgroundLevels(y, op.Exclude.(*plane), op.Radii)
	height := b.bandsOf(h, classRows)
	kept := make([]classified, (h+height-1)/height)
	err := b.each(ctx, len(kept), func(t *worker, i int) {
		y0, y1 := i*height, min(h, (i+1)*height)
		top, base := max(0, y0-op.PeakRadius), min(h, y1+op.PeakRadius)
		n := base - top
		background := raster{band(&t.bands[0], n*w), w, top}
		seed, peak := band(&t.bands[1], n*w), band(&t.bands[2], n*w)
		b.backgroundBand(t, rect{0, top, w, base}, background, levels)
		if t.stopped() {
			return
		}
		spare := band(&t.marks, w)
		for at := top; at < base; at++ {
			class := spare
			if at >= y0 && at < y1 {
				class = cls.data.U8[at*w : (at+1)*w]
			}
			b.kernels.contrast(class, seed[(at-top)*w:(at-top+1)*w], y.data.U16[at*w:(at+1)*w],
				background.row(at, 0, w), v.data.U8[at*w:(at+1)*w], op.Contrast)
		}
		l := lines[uint16]{b: b, dst: peak, src: seed, w: w, h: n, order: orderOf[uint16](&b.kernels, true)}
		l.strip(t, rect{0, y0 - top, w, y1 - top}, op.PeakRadius)
		for at := y0; at < y1; at++ {
			cores(cls.data.U8[at*w:(at+1)*w], y.data.U16[at*w:(at+1)*w], background.row(at, 0, w),
				peak[(at-top)*w:(at-top+1)*w], op.Cores)
		}
		k := &kept[i]
		k.spans = t.runs(cls, y0, y1, processing.ClassCore|processing.ClassGrow)
		samples := 0
		for _, s := range k.spans {
			samples += int(s.X1 - s.X0)
		}
		k.samples = make([]uint16, 0, samples)
		for _, s := range k.spans {
			k.samples = append(k.samples, background.row(int(s.Y), int(s.X0), int(s.X1))...)
		}
	})
	if err != nil {
		return nil, err
	}
	return b.gathered(kept, w, h), nil
}

// gathered puts what bands kept together.
func (b *Backend) gathered(kept []classified, w, h int) *plane {
	spans := 0
	for i := range kept {
		spans += len(kept[i].spans)
	}
	all := make([]processing.Span, 0, spans)
	for i := range kept {
		all = append(all, kept[i].spans...)
	}
	f := newFew(all, h)
	at := 0
	for i := range kept {
		at += copy(f.samples[at:], kept[i].samples)
	}
	return b.planeOf(f, w, h)
}

func (b *Backend) planeOf(f *few, w, h int) *plane {
	return &plane{Handle: processing.NewHandle(b, w, h), backend: b, kind: processing.U16, w: w, h: h, few: f}
}

// backgroundBand computes the background of a band, column by column.
func (b *Backend) backgroundBand(t *worker, rows rect, dst raster, levels []backgroundLevel) {
	const column = 2500
	n := max(1, (rows.x1+column/2)/column)
	for i := range n {
		t.used = 0
		background(t, rect{rows.x1 * i / n, rows.y0, rows.x1 * (i + 1) / n, rows.y1}, dst, levels, &b.kernels)
	}
}

// AllocAt implements processing.Frugal.
func (b *Backend) AllocAt(w, h int, where []processing.Span) (processing.Plane, error) {
	if err := processing.CheckAlloc(b, processing.U16, w, h); err != nil {
		return nil, err
	}
	return b.planeOf(newFew(where, h), w, h), nil
}

// TakeBytes implements processing.Frugal.
func (b *Backend) TakeBytes(p processing.Plane) ([]uint8, error) {
	if err := processing.CheckHost(b, p); err != nil {
		return nil, err
	}
	q := p.(*plane)
	pix := q.data.U8
	b.pool.forget(q)
	return pix, nil
}
