package cpu

import (
	"cmp"
	"context"
	"slices"

	"blik/processing"
	"blik/processing/internal/span"
)

// target is where the rows of a tile go: into the plane or, if only some of its pixels are wanted, into these through
// line.
type target struct {
	dst   *plane
	tile  rect
	line  []uint16
	spans []processing.Span
}

// row returns where row y of the tile is to be written before put is called.
func (o *target) row(y int) []uint16 {
	if o.line != nil {
		return o.line
	}
	return o.dst.data.U16[y*o.dst.w+o.tile.x0 : y*o.dst.w+o.tile.x1]
}

// put stores row y; rows come in order.
func (o *target) put(y int) {
	for ; len(o.spans) > 0 && int(o.spans[0].Y) <= y; o.spans = o.spans[1:] {
		if s := o.spans[0]; int(s.Y) == y {
			copy(o.dst.run(s), o.line[int(s.X0)-o.tile.x0:])
		}
	}
}

// whole returns the target for a tile that is computed as a whole.
func (d *plane) whole(t *worker, tile rect) *target {
	o := &target{dst: d, tile: tile}
	if d.selection != nil {
		o.line, o.spans = take[uint16](t, tile.x1-tile.x0), d.selection.within(tile)
	}
	return o
}

// selection holds the samples of the pixels of some spans, which are in reading order.
type selection struct {
	spans []processing.Span
	// rows[y] is the first span of row y or below; first[i] is where the samples of span i begin.
	rows, first []int32
	samples     []uint16
}

func newSelection(spans []processing.Span, h int) *selection {
	f := &selection{spans: spans, rows: make([]int32, h+1), first: make([]int32, len(spans)+1)}
	y := int32(0)
	for i, s := range spans {
		for ; y <= s.Y; y++ {
			f.rows[y] = int32(i)
		}
		f.first[i+1] = f.first[i] + s.X1 - s.X0
	}
	for ; y <= int32(h); y++ {
		f.rows[y] = int32(len(spans))
	}
	f.samples = make([]uint16, f.first[len(spans)])
	return f
}

// find returns the first span of row y that ends beyond x.
func (f *selection) find(y, x int32) int {
	from := int(f.rows[y])
	row := f.spans[from:f.rows[y+1]]
	i, _ := slices.BinarySearchFunc(row, x, func(s processing.Span, x int32) int { return cmp.Compare(s.X1, x+1) })
	return from + i
}

// run returns the samples of a span that lies in one span of f.
func (f *selection) run(s processing.Span) []uint16 {
	i := f.find(s.Y, s.X0)
	at := f.first[i] + s.X0 - f.spans[i].X0
	return f.samples[at : at+s.X1-s.X0]
}

// within returns the parts of the spans that lie in a tile.
func (f *selection) within(tile rect) []processing.Span {
	var in []processing.Span
	for y := tile.y0; y < tile.y1; y++ {
		for i := f.find(int32(y), int32(tile.x0)); i < int(f.rows[y+1]) && int(f.spans[i].X0) < tile.x1; i++ {
			s := f.spans[i]
			s.X0, s.X1 = max(s.X0, int32(tile.x0)), min(s.X1, int32(tile.x1))
			in = append(in, s)
		}
	}
	return in
}

// run returns the samples (U16) of a span, which p must have.
func (p *plane) run(s processing.Span) []uint16 {
	if p.selection != nil {
		return p.selection.run(s)
	}
	return p.data.U16[int(s.Y)*p.w+int(s.X0) : int(s.Y)*p.w+int(s.X1)]
}

// wanted calls f on tiles of d that hold all pixels of where, or on all tiles if where is nil or that takes no longer.
// halo is the reach of a pixel's surroundings.
func (b *Backend) wanted(ctx context.Context, d *plane, halo int, where []processing.Span, f func(t *worker, tile rect,
	out *target)) error {
	whole := func() error {
		return b.tiles(ctx, d.w, d.h, halo, halo, func(t *worker, tile rect) {
			f(t, tile, d.whole(t, tile))
		})
	}
	if where == nil {
		return whole()
	}
	where = slices.Clone(where)
	parts := group(where, span.Connect(where, span.Eight), func(i int) uint32 { return where[i].Label })
	boxes := make([]rect, len(parts))
	work := 0
	for i, part := range parts {
		r := rect{int(part[0].X0), int(part[0].Y), int(part[0].X1), int(part[len(part)-1].Y) + 1}
		for _, s := range part {
			r.x0, r.x1 = min(r.x0, int(s.X0)), max(r.x1, int(s.X1))
		}
		boxes[i] = r
		work += (r.x1 - r.x0 + 2*halo) * (r.y1 - r.y0 + 2*halo)
	}
	// Rows as short as those of most boxes take several times as long per pixel.
	const rowCost = 3
	if rowCost*work > d.w*d.h {
		return whole()
	}
	const share = 16
	return b.each(ctx, (len(parts)+share-1)/share, func(t *worker, k int) {
		for i := k * share; i < min(len(parts), (k+1)*share) && !t.stopped(); i++ {
			t.used = 0
			r := boxes[i]
			f(t, r, &target{d, r, take[uint16](t, r.x1-r.x0), parts[i]})
		}
	})
}
