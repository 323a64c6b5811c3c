package cpu

import (
	"context"
	"unsafe"

	"blik/processing"
)

// Morph applies op with element e to U8, U16 and F32 planes; dst may be src. A rectangle is a horizontal line
// followed by a vertical one. Every line runs by van Herk's and Gil and Werman's recursion, about three comparisons a
// pixel whatever its length (short horizontal ones by doubling, which is faster), eight bytes at a time. NaN in F32
// planes wins always.
func (b executor) Morph(ctx context.Context, op processing.Morph) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	switch d.kind {
	case processing.U8:
		return morph[uint8](ctx, b.Backend, d, s, op.Op, op.Element)
	case processing.U16:
		return morph[uint16](ctx, b.Backend, d, s, op.Op, op.Element)
	default:
		return morph[float32](ctx, b.Backend, d, s, op.Op, op.Element)
	}
}

func morph[T sample](ctx context.Context, b *Backend, d, s *plane, op processing.MorphOp, e processing.Element) error {
	step := func(d, s *plane, dilate bool) error { return lines(ctx, b, d, s, orderOf[T](&b.kernels, dilate), e) }
	switch op {
	case processing.Erode, processing.Dilate:
		return step(d, s, op == processing.Dilate)
	case processing.Open, processing.Close:
		if err := step(d, s, op == processing.Close); err != nil {
			return err
		}
		return step(d, d, op == processing.Open)
	}
	opened := d
	if d == s {
		p, err := b.Alloc(d.kind, d.w, d.h)
		if err != nil {
			return err
		}
		defer p.Release()
		opened = p.(*plane)
	}
	if err := morph[T](ctx, b, opened, s, processing.Open, e); err != nil {
		return err
	}
	out, in, low := pixels[T](d), pixels[T](s), pixels[T](opened)
	return b.chunks(ctx, len(out), func(_ *worker, i, j int) {
		out, in, low := out[i:j], in[i:j], low[i:j]
		for i := range out {
			out[i] = in[i] - low[i]
		}
	})
}

// lines applies one erosion or dilation as a chain of one-dimensional passes; all but the first are in place.
func lines[T sample](ctx context.Context, b *Backend, d, s *plane, o *order[T], e processing.Element) error {
	switch e.Direction {
	case processing.Horizontal:
		return alongRows(ctx, b, d, s, o, e.Size)
	case processing.Vertical:
		return alongColumns(ctx, b, d, s, o, e.Size, 0)
	case processing.Rising:
		return alongColumns(ctx, b, d, s, o, e.Size, -1)
	case processing.Falling:
		return alongColumns(ctx, b, d, s, o, e.Size, 1)
	}
	if e.Size == 1 {
		return alongColumns(ctx, b, d, s, o, e.Size2, 0)
	}
	if err := alongRows(ctx, b, d, s, o, e.Size); err != nil || e.Size2 == 1 {
		return err
	}
	return alongColumns(ctx, b, d, d, o, e.Size2, 0)
}

// copyPlane copies src to dst unless they are the same.
func copyPlane[T sample](ctx context.Context, b *Backend, d, s *plane) error {
	if d == s {
		return ctx.Err()
	}
	dst, src := pixels[T](d), pixels[T](s)
	return b.chunks(ctx, len(dst), func(_ *worker, i, j int) { copy(dst[i:j], src[i:j]) })
}

// alongRows takes the best over a horizontal window of k pixels. A strip of a row is copied out with its borders
// before it is written, except that the pixels right of the strip are read when the next strip starts: strips of a
// row belong to one task and go from left to right, and the last k/2 original pixels are carried along.
func alongRows[T sample](ctx context.Context, b *Backend, d, s *plane, o *order[T], k int) error {
	dst, src, w, h := pixels[T](d), pixels[T](s), d.w, d.h
	r := min(k/2, w-1)
	if r == 0 {
		return copyPlane[T](ctx, b, d, s)
	}
	k = 2*r + 1
	strip := min(w, max(b.tiling.strip, 4*r))
	rows := max(1, spanPixels/w)
	together := o.windows != nil && k >= minBatchWindow
	if together {
		rows = (rows + batchRows - 1) / batchRows * batchRows
	}
	return b.each(ctx, (h+rows-1)/rows, func(t *worker, i int) {
		y, end := i*rows, min(h, (i+1)*rows)
		if together {
			y = filterBatches(t, dst, src, w, y, end, o, k, strip)
		}
		padded := take[T](t, strip+2*r)
		left := take[T](t, r)
		for ; y < end; y++ {
			in, out := src[y*w:(y+1)*w], dst[y*w:(y+1)*w]
			fill(left, o.worst)
			for x := 0; x < w; x += strip {
				if x > 0 && t.stopped() {
					return
				}
				n := min(strip, w-x)
				copy(padded, left)
				m := copy(padded[r:n+2*r], in[x:])
				fill(padded[r+m:n+2*r], o.worst)
				copy(left, padded[n:n+r])
				o.sparse(out[x:x+n], padded[:n+2*r], k)
			}
		}
	})
}

// block is the number of samples that are looked at together for being blank.
const block = 64

// sparse is window, but goes over long blank stretches: seeds and masks are blank almost everywhere.
func (o *order[T]) sparse(dst, src []T, k int) {
	end := len(src)
	blank := func(i int) bool { return o.blank(src[i:min(i+block, end)]) }
	for at := 0; at < len(dst); {
		i := at
		for i < end && blank(i) {
			i += block
		}
		if i >= end {
			fill(dst[at:], o.worst)
			return
		}
		if free := i - (k - 1); free > at {
			fill(dst[at:free], o.worst)
			at = free
		}
		// As far as the next blank stretch that is longer than the window. What window leaves of it is blank.
		for gap := 0; i < end && gap < k+2*block; i += block {
			if blank(i) {
				gap += block
			} else {
				gap = 0
			}
		}
		to := min(i, end) - (k - 1)
		o.window(dst[at:to], src[at:to+k-1], k)
		at = to
	}
}

// alongColumns takes the best over k pixels down the columns (shear 0), or down the diagonals: with shear s the
// column u holds pixel u + s·y of row y. Van Herk's recursion runs on whole rows of a tile of columns: a ring holds
// k of them, at first as read, then each as the best from itself to the end of the ring; run is the best of the rows
// read since. Output i needs slot i and run, and slot i−1, no longer needed, takes the row that run has taken in.
// So every row is read before it is written, and dst may be src.
func alongColumns[T sample](ctx context.Context, b *Backend, d, s *plane, o *order[T], k, shear int) error {
	dst, src, w, h := pixels[T](d), pixels[T](s), d.w, d.h
	longest, columns, first := h, w, 0
	if shear != 0 {
		longest, columns = min(w, h), w+h-1
		if shear > 0 {
			first = 1 - h
		}
	}
	r := min(k/2, longest-1)
	if r == 0 {
		return copyPlane[T](ctx, b, d, s)
	}
	k = 2*r + 1

	var zero T
	size := int(unsafe.Sizeof(zero))
	const line = 64
	tile := max(line, b.tiling.ring/(k*size))
	tile = min(tile, 4096, max(line, (columns+2*b.workers-1)/(2*b.workers)))
	tile = (tile + line - 1) / line * line
	if shear != 0 {
		tile = min(tile, longest)
	}
	return b.each(ctx, (columns+tile-1)/tile, func(t *worker, i int) {
		u0 := first + i*tile
		n := min(tile, first+columns-u0)
		c := column[T]{u: u0, n: n, w: w, shear: shear, y1: h}
		switch {
		case shear > 0:
			c.y0, c.y1 = max(0, 1-u0-n), min(h, w-u0)
		case shear < 0:
			c.y0, c.y1 = max(0, u0-w+1), min(h, u0+n)
		}
		c.run(t, dst, src, o, r)
	})
}

// column is a tile of n columns from u on, rows y0 … y1−1.
type column[T sample] struct {
	u, n, w, shear, y0, y1 int
}

// span returns where row y's part of the tile begins and ends in the tile, and the index of its first pixel.
func (c *column[T]) span(y int) (i, j, pixel int) {
	x := c.u + c.shear*y
	i, j = max(0, -x), min(c.n, c.w-x)
	return i, j, y*c.w + x + i
}

// read copies row y into a slot, worst where the tile leaves the picture, and reports whether the row is blank, in
// which case the slot stays as it is.
func (c *column[T]) read(slot, src []T, o *order[T], y int) (blank bool) {
	if y < c.y0 || y >= c.y1 {
		return true
	}
	i, j, p := c.span(y)
	row := src[p : p+j-i]
	if o.blank(row) {
		return true
	}
	fill(slot[:i], o.worst)
	copy(slot[i:], row)
	fill(slot[j:], o.worst)
	return false
}

// run filters the tile. Blank rows, of which masks have many, are marked and not touched.
func (c *column[T]) run(t *worker, dst, src []T, o *order[T], r int) {
	k := 2*r + 1
	const line = 64
	pitch := (c.n + line - 1) / line * line
	ring := take[T](t, k*pitch)
	run := take[T](t, c.n)
	blank := take[uint8](t, k)
	slot := func(i int) []T { return ring[i*pitch:][:c.n] }
	read := func(i, y int) {
		blank[i] = 0
		if c.read(slot(i), src, o, y) {
			blank[i] = 1
		}
	}
	for i := range k {
		read(i, c.y0-r+i)
	}
	inPlace := &dst[0] == &src[0]
	p := newCancelCheck(t, c.n)
	for y := c.y0; y < c.y1; y += k {
		for i := k - 2; i >= 0; i-- {
			if p.stop() {
				return
			}
			switch {
			case blank[i+1] != 0:
			case blank[i] != 0:
				copy(slot(i), slot(i+1))
				blank[i] = 0
			default:
				o.fold(slot(i), slot(i+1))
			}
		}
		empty := true
		for n := 0; n < k && y+n < c.y1; n++ {
			if p.stop() {
				return
			}
			i, j, at := c.span(y + n)
			out := dst[at : at+j-i]
			// The row that enters the window of row y+n; the slots before n are already out.
			if n > 0 {
				entering := y + n + r
				if c.shear == 0 && !empty && blank[n] == 0 && entering < c.y1 {
					_, _, x := c.span(entering)
					o.advance(out, run, slot(n-1), src[x:x+c.n], slot(n))
					blank[n-1] = 0
					continue
				}
				read(n-1, entering)
				switch {
				case blank[n-1] != 0:
				case empty:
					copy(run, slot(n-1))
					empty = false
				default:
					o.fold(run, slot(n-1))
				}
			}
			switch {
			case !empty && blank[n] == 0:
				o.merge(out, run[i:j], slot(n)[i:j])
			case !empty:
				copy(out, run[i:j])
			case blank[n] == 0:
				copy(out, slot(n)[i:j])
			case !inPlace:
				fill(out, o.worst)
			}
		}
		// In place, a row whose window is blank was blank itself.
		read(k-1, y+k+r)
	}
}
