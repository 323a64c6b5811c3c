package cpu

import (
	"context"
	"math"
	"unsafe"

	"blik/processing"
)

// Morph applies op with element e to U8, U16 and F32 planes; dst may be src. A rectangle is a vertical line followed by
// a horizontal one. Vertical and diagonal lines use the recursion of van Herk, Gil and Werman, three comparisons per
// pixel for any length; horizontal ones merge known windows, log₄ of their length times. Floats are ordered by integer
// keys; NaN always wins.
func (b executor) Morph(ctx context.Context, op processing.Morph) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	switch d.kind {
	case processing.U8:
		return morph(ctx, b.Backend, d, s, op, d.data.U8, s.data.U8, nil)
	case processing.U16:
		return morph(ctx, b.Backend, d, s, op, d.data.U16, s.data.U16, nil)
	}
	if op.Op == processing.TopHat {
		return b.topHat(ctx, d, s, op)
	}
	return morph(ctx, b.Backend, d, s, op, bitsOf(d.data.F32), bitsOf(s.data.F32), &b.kernels)
}

// bitsOf returns floats as their bits.
func bitsOf(f []float32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(f))), len(f))
}

// morph works on samples dst and src of the planes d and s. convert has the conversions of floats and is nil for other
// samples.
func morph[T sample](ctx context.Context, b *Backend, d, s *plane, op processing.Morph, dst, src []T,
	convert *kernels) error {
	step := func(src []T, dilate bool) error {
		l := lines[T]{b: b, dst: dst, src: src, w: d.w, h: d.h, order: orderOf[T](&b.kernels, dilate)}
		if convert != nil {
			l.convert(convert, dilate)
		}
		return l.run(ctx, op.Element)
	}
	switch op.Op {
	case processing.Erode, processing.Dilate:
		return step(src, op.Op == processing.Dilate)
	case processing.Open, processing.Close:
		if err := step(src, op.Op == processing.Close); err != nil {
			return err
		}
		return step(dst, op.Op == processing.Open)
	}
	return executor{b}.topHat(ctx, d, s, op)
}

// topHat writes the source minus its opening.
func (b executor) topHat(ctx context.Context, d, s *plane, op processing.Morph) error {
	opened := d
	if d == s {
		p, err := b.Alloc(d.kind, d.w, d.h)
		if err != nil {
			return err
		}
		defer p.Release()
		opened = p.(*plane)
	}
	op.Dst, op.Op = opened, processing.Open
	if err := b.Morph(ctx, op); err != nil {
		return err
	}
	return b.chunks(ctx, d.w*d.h, func(_ *worker, i, j int) {
		switch d.kind {
		case processing.U8:
			subtract(d.data.U8[i:j], s.data.U8[i:j], opened.data.U8[i:j])
		case processing.U16:
			subtract(d.data.U16[i:j], s.data.U16[i:j], opened.data.U16[i:j])
		default:
			subtract(d.data.F32[i:j], s.data.F32[i:j], opened.data.F32[i:j])
		}
	})
}

func subtract[T sample](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

// copyPlane copies src to dst unless they are the same.
func copyPlane[T sample](ctx context.Context, b *Backend, dst, src []T) error {
	if &dst[0] == &src[0] {
		return ctx.Err()
	}
	return b.chunks(ctx, len(dst), func(_ *worker, i, j int) { copy(dst[i:j], src[i:j]) })
}

// lines is one erosion or dilation; dst may be src.
type lines[T sample] struct {
	b        *Backend
	dst, src []T
	w, h     int
	order    *order[T]
	// encode and decode convert rows, also in place; nil if samples need no keys. ordered reports whether the samples
	// of a row are their own keys, as in most rows of floats.
	encode, decode func(dst, src []T)
	ordered        func(src []T) bool
}

// convert makes l work on floats.
func (l *lines[T]) convert(k *kernels, dilate bool) {
	nan := int32(math.MinInt32)
	if dilate {
		nan = math.MaxInt32
	}
	l.encode = any(func(dst, src []int32) { k.keys(dst, src, nan) }).(func(dst, src []T))
	l.decode = any(k.unkeyed).(func(dst, src []T))
	l.ordered = any(k.ordered).(func(src []T) bool)
}

func (l *lines[T]) run(ctx context.Context, e processing.Element) error {
	switch e.Direction {
	case processing.Horizontal:
		return l.rectangle(ctx, e.Size, 1)
	case processing.Vertical:
		return l.rectangle(ctx, 1, e.Size)
	case processing.Rising:
		return l.diagonal(ctx, e.Size, -1)
	case processing.Falling:
		return l.diagonal(ctx, e.Size, 1)
	}
	return l.rectangle(ctx, e.Size, e.Size2)
}

// rectangle takes the best over kx × ky pixels. The picture is divided into strips of rows, and these into tiles whose
// rings of rows stay in the second-level cache. A row goes through a tile's vertical line and at once through the
// horizontal one. In place, a strip covers the whole width, reads each of its rows before that is written, and reads
// the rows of neighbouring strips from copies.
func (l *lines[T]) rectangle(ctx context.Context, kx, ky int) error {
	rx, ry := min(kx/2, l.w-1), min(ky/2, l.h-1)
	if rx == 0 && ry == 0 {
		return copyPlane(ctx, l.b, l.dst, l.src)
	}
	inPlace := &l.dst[0] == &l.src[0]
	width := l.w
	if !inPlace && ry > 0 {
		var zero T
		width = max(l.b.tiling.ring/((2*ry+1)*int(unsafe.Sizeof(zero))), l.b.tiling.tile/4, 8*rx)
	}
	nx := max(1, l.w/width)
	width = (l.w + nx - 1) / nx
	ny := min(4*l.b.workers, max(l.b.workers, l.h/(8*ry+l.b.tiling.rows)))
	height := (l.h + ny - 1) / ny
	ny = (l.h + height - 1) / height
	borders := make([][]T, ny)
	if inPlace && ry > 0 {
		if err := l.b.each(ctx, ny, func(_ *worker, i int) {
			y0, y1 := i*height, min(l.h, (i+1)*height)
			above, below := l.src[max(0, y0-ry)*l.w:y0*l.w], l.src[y1*l.w:min(l.h, y1+ry)*l.w]
			borders[i] = append(append(make([]T, 0, len(above)+len(below)), above...), below...)
		}); err != nil {
			return err
		}
	}
	return l.b.each(ctx, nx*ny, func(t *worker, i int) {
		x, y := i%nx*width, i/nx*height
		if x < l.w {
			l.tile(t, rect{x, y, min(l.w, x+width), min(l.h, y+height)}, rx, ry, borders[i/nx])
		}
	})
}

// tile writes a tile of rectangle. borders holds copies of the rows above and below it if these may be overwritten,
// else nothing.
func (l *lines[T]) tile(t *worker, r rect, rx, ry int, borders []T) {
	x0, x1 := max(0, r.x0-rx), min(l.w, r.x1+rx)
	m, n, at := x1-x0, r.x1-r.x0, x0-(r.x0-rx)
	line, margin := take[T](t, n+2*rx), take[T](t, at)
	fill(line, l.order.worst)
	fill(margin, l.order.worst)
	row := func(y int) []T {
		switch {
		case borders == nil || y >= r.y0 && y < r.y1:
			return l.src[y*l.w+x0 : y*l.w+x1]
		case y < r.y0:
			y -= max(0, r.y0-ry)
		default:
			y += min(r.y0, ry) - r.y1
		}
		return borders[y*l.w+x0 : y*l.w+x1]
	}
	into := func(y int) []T {
		if rx == 0 {
			return l.dst[y*l.w+r.x0 : y*l.w+r.x1]
		}
		return line[at : at+m]
	}
	// keyed returns a row of keys, in slot if they are not the row itself; encoded says that one was not.
	encoded := false
	keyed := func(slot, row []T) []T {
		if l.encode == nil || l.ordered(row) {
			return row
		}
		encoded = true
		l.encode(slot, row)
		return slot
	}
	emit := func(y int) {
		out := l.dst[y*l.w+r.x0 : y*l.w+r.x1]
		if rx > 0 {
			// The kernel may have changed samples left of the picture.
			copy(line, margin)
			l.order.window(out, line, 2*rx+1)
		}
		if encoded {
			l.decode(out, out)
		}
	}
	p := newCancelCheck(t, 2*n)
	switch {
	case ry == 0:
		for y := r.y0; y < r.y1 && !p.stop(); y++ {
			to := into(y)
			copy(to, keyed(to, row(y)))
			emit(y)
		}
	case ry <= maxMerged && borders == nil:
		l.merged(t, r, m, ry, &p, func(slot []T, y int) []T { return keyed(slot, row(y)) }, into, emit)
	default:
		l.down(t, r, m, ry, &p, func(slot []T, y int) []T { return keyed(slot, row(y)) }, into, emit)
	}
}

// maxMerged is the largest radius for which a window is covered by four windows of four rows.
const maxMerged = 7

// merged takes the best over 2r+1 rows of m samples by merging windows of four rows. It stores less than van Herk's
// recursion if at most four of them cover a window. Rows outside the picture are replaced by those at its border, which
// are in their windows anyway.
func (l *lines[T]) merged(t *worker, tile rect, m, r int, p *cancelCheck, key func(slot []T, y int) []T,
	into func(y int) []T, emit func(y int)) {
	var slots, rows [4][]T
	if l.encode != nil {
		for i := range slots {
			slots[i] = take[T](t, m)
		}
	}
	next := max(0, tile.y0-r)
	at := func(y int) []T {
		y = max(0, min(y, l.h-1))
		for ; next <= y; next++ {
			rows[next%4] = key(slots[next%4], next)
		}
		return rows[y%4]
	}
	// Windows of four rows are stored under their first row.
	fours := max(0, 2*r-2)
	const line = 64
	pitch := (m+line-1)/line*line + line
	ring := take[T](t, fours*pitch)
	four := func(y int) []T { return ring[(y+r)%fours*pitch:][:m] }
	merge := func(y int) { l.order.best4(four(y), at(y), at(y+1), at(y+2), at(y+3)) }
	if r > 1 {
		for y := tile.y0 - r; y < tile.y0+r-3; y++ {
			merge(y)
		}
	}
	for y := tile.y0; y < tile.y1 && !p.stop(); y++ {
		if r == 1 {
			below := at(y + 1)
			l.order.best4(into(y), at(y-1), at(y), below, below)
		} else {
			last := y + r - 3
			merge(last)
			l.order.best4(into(y), four(y-r), four(min(y-r+4, last)), four(min(y-r+8, last)), four(last))
		}
		emit(y)
	}
}

// down takes the best over 2r+1 rows of m samples by van Herk's recursion. A ring holds that many rows: first as read,
// then each as the best from itself to the end of the ring; run is the best of the rows read since. Row i of a block
// needs slot i and run; slot i−1, no longer needed, takes the row that was merged into run. So every row is read once,
// before the row r above it is written.
func (l *lines[T]) down(t *worker, tile rect, m, r int, p *cancelCheck, key func(slot []T, y int) []T,
	into func(y int) []T, emit func(y int)) {
	k, o := 2*r+1, l.order
	const line = 64
	pitch := (m+line-1)/line*line + line
	ring := take[T](t, k*pitch)
	run, none := take[T](t, m), take[T](t, m)
	fill(none, o.worst)
	slot := func(i int) []T { return ring[i*pitch:][:m] }
	// read returns row y, in the slot for it if key puts it there.
	read := func(slot []T, y int) []T {
		if y < 0 || y >= l.h {
			return none
		}
		return key(slot, y)
	}
	for i := range k {
		copy(slot(i), read(slot(i), tile.y0-r+i))
	}
	for top := tile.y0; top < tile.y1; top += k {
		for i := k - 2; i >= 0; i-- {
			if p.stop() {
				return
			}
			o.fold(slot(i), slot(i+1))
		}
		copy(into(top), slot(0))
		emit(top)
		copy(run, none)
		for i := 1; i < k && top+i < tile.y1; i++ {
			if p.stop() {
				return
			}
			o.advance(into(top+i), run, slot(i-1), read(slot(i-1), top+i+r), slot(i))
			emit(top + i)
		}
		if top+k < tile.y1 {
			copy(slot(k-1), read(slot(k-1), top+k+r))
		}
	}
}

// diagonal takes the best over k pixels down the diagonals: with shear s, 1 or −1, column u holds pixel u + s·y of row
// y. Van Herk's recursion (see down) runs on tiles of such columns, in place: every row is read before it is written,
// and dst may be src.
func (l *lines[T]) diagonal(ctx context.Context, k, shear int) error {
	b, w, h, src := l.b, l.w, l.h, l.src
	r := min(k/2, min(w, h)-1)
	if r == 0 {
		return copyPlane(ctx, b, l.dst, src)
	}
	if l.encode != nil {
		if err := b.chunks(ctx, len(src), func(_ *worker, i, j int) { l.encode(l.dst[i:j], src[i:j]) }); err != nil {
			return err
		}
		src = l.dst
	}
	columns, first := w+h-1, 0
	if shear > 0 {
		first = 1 - h
	}
	var zero T
	const line = 64
	tile := max(line, b.tiling.ring/((2*r+1)*int(unsafe.Sizeof(zero))))
	tile = min(tile, 4096, max(line, (columns+2*b.workers-1)/(2*b.workers)))
	tile = min((tile+line-1)/line*line, min(w, h))
	if err := b.each(ctx, (columns+tile-1)/tile, func(t *worker, i int) {
		u0 := first + i*tile
		n := min(tile, first+columns-u0)
		c := column[T]{u: u0, n: n, w: w, shear: shear, y0: max(0, u0-w+1), y1: min(h, u0+n)}
		if shear > 0 {
			c.y0, c.y1 = max(0, 1-u0-n), min(h, w-u0)
		}
		c.run(t, l.dst, src, l.order, r)
	}); err != nil || l.decode == nil {
		return err
	}
	return b.chunks(ctx, len(src), func(_ *worker, i, j int) { l.decode(l.dst[i:j], l.dst[i:j]) })
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

// read copies row y into a slot, with worst outside the picture, and reports whether the row is blank; the slot of a
// blank row is left as it is.
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

// run filters the tile. Blank rows, which are common in masks, are flagged and skipped.
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
