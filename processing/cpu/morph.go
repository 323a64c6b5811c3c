package cpu

import (
	"context"

	"blik/processing"
	"blik/processing/cpu/kernel"
	"blik/processing/internal/arena"
)

// Morph applies op with element e to U8 and U16 planes; dst may be src. A rectangle is a vertical line followed by a
// horizontal one. Vertical lines use the recursion of van Herk, Gil and Werman, three comparisons per pixel for any
// length; horizontal ones merge known windows, log₄ of their length times.
func (b executor) Morph(ctx context.Context, op processing.Morph) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	if d.kind == processing.U8 {
		return morph(ctx, b.Backend, op, d.w, d.h, d.data.U8, s.data.U8)
	}
	return morph(ctx, b.Backend, op, d.w, d.h, d.data.U16, s.data.U16)
}

func morph[T uint8 | uint16](ctx context.Context, b *Backend, op processing.Morph, w, h int, dst, src []T) error {
	step := func(src []T, dilate bool) error {
		l := lines[T]{b: b, dst: dst, src: src, w: w, h: h, order: kernel.OrderOf[T](&b.kernels, dilate)}
		return l.rectangle(ctx, op.Element.Width, op.Element.Height)
	}
	if op.Op == processing.Erode || op.Op == processing.Dilate {
		return step(src, op.Op == processing.Dilate)
	}
	if err := step(src, op.Op == processing.Close); err != nil {
		return err
	}
	return step(dst, op.Op == processing.Open)
}

// copyPlane copies src to dst unless they are the same.
func copyPlane[T kernel.Sample](ctx context.Context, b *Backend, dst, src []T) error {
	if &dst[0] == &src[0] {
		return ctx.Err()
	}
	return b.chunks(ctx, len(dst), func(_ *worker, i, j int) { copy(dst[i:j], src[i:j]) })
}

// lines is one erosion or dilation; dst may be src.
type lines[T uint8 | uint16] struct {
	b        *Backend
	dst, src []T
	w, h     int
	order    *kernel.Order[T]
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
		width = max(l.b.tiling.ring/((2*ry+1)*arena.SizeOf[T]()), l.b.tiling.tile/4, 8*rx)
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
	line, margin := scratch[T](t, n+2*rx), scratch[T](t, at)
	kernel.Fill(line, l.order.Worst)
	kernel.Fill(margin, l.order.Worst)
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
	emit := func(y int) {
		out := l.dst[y*l.w+r.x0 : y*l.w+r.x1]
		if rx > 0 {
			// The kernel may have changed samples left of the picture.
			copy(line, margin)
			l.order.Window(out, line, 2*rx+1)
		}
	}
	p := newCancelCheck(t, 2*n)
	switch {
	case ry == 0:
		for y := r.y0; y < r.y1 && !p.stop(); y++ {
			copy(into(y), row(y))
			emit(y)
		}
	case ry <= maxMerged && borders == nil:
		l.merged(t, r, m, ry, &p, row, into, emit)
	default:
		l.down(t, r, m, ry, &p, row, into, emit)
	}
}

// maxMerged is the largest radius for which a window is covered by four windows of four rows.
const maxMerged = 7

// merged takes the best over 2r+1 rows of m samples by merging windows of four rows. It stores less than van Herk's
// recursion if at most four of them cover a window. Rows outside the picture are replaced by those at its border, which
// are in their windows anyway.
func (l *lines[T]) merged(t *worker, tile rect, m, r int, p *cancelCheck, row, into func(y int) []T,
	emit func(y int)) {
	at := func(y int) []T { return row(max(0, min(y, l.h-1))) }
	// Windows of four rows are stored under their first row.
	fours := max(0, 2*r-2)
	const line = 64
	pitch := (m+line-1)/line*line + line
	ring := scratch[T](t, fours*pitch)
	four := func(y int) []T { return ring[(y+r)%fours*pitch:][:m] }
	merge := func(y int) { l.order.Best4(four(y), at(y), at(y+1), at(y+2), at(y+3)) }
	if r > 1 {
		for y := tile.y0 - r; y < tile.y0+r-3; y++ {
			merge(y)
		}
	}
	for y := tile.y0; y < tile.y1 && !p.stop(); y++ {
		if r == 1 {
			below := at(y + 1)
			l.order.Best4(into(y), at(y-1), at(y), below, below)
		} else {
			last := y + r - 3
			merge(last)
			l.order.Best4(into(y), four(y-r), four(min(y-r+4, last)), four(min(y-r+8, last)), four(last))
		}
		emit(y)
	}
}

// down takes the best over 2r+1 rows of m samples by van Herk's recursion. A ring holds that many rows: first as read,
// then each as the best from itself to the end of the ring; run is the best of the rows read since. Row i of a block
// needs slot i and run; slot i−1, no longer needed, takes the row that was merged into run. So every row is read once,
// before the row r above it is written.
func (l *lines[T]) down(t *worker, tile rect, m, r int, p *cancelCheck, row, into func(y int) []T,
	emit func(y int)) {
	k, o := 2*r+1, l.order
	const line = 64
	pitch := (m+line-1)/line*line + line
	ring := scratch[T](t, k*pitch)
	run, none := scratch[T](t, m), scratch[T](t, m)
	kernel.Fill(none, o.Worst)
	slot := func(i int) []T { return ring[i*pitch:][:m] }
	read := func(y int) []T {
		if y < 0 || y >= l.h {
			return none
		}
		return row(y)
	}
	for i := range k {
		copy(slot(i), read(tile.y0-r+i))
	}
	for top := tile.y0; top < tile.y1; top += k {
		for i := k - 2; i >= 0; i-- {
			if p.stop() {
				return
			}
			o.Fold(slot(i), slot(i+1))
		}
		copy(into(top), slot(0))
		emit(top)
		copy(run, none)
		for i := 1; i < k && top+i < tile.y1; i++ {
			if p.stop() {
				return
			}
			o.Advance(into(top+i), run, slot(i-1), read(top+i+r), slot(i))
			emit(top + i)
		}
		if top+k < tile.y1 {
			copy(slot(k-1), read(top+k+r))
		}
	}
}
