package cpu

import (
	"context"
	"slices"

	"blik/processing"
	"blik/processing/internal/span"
)

// target is where the rows of a tile go: into the plane, or where only some of its pixels are wanted, these, by way of
// line.
type target struct {
	dst   []uint16
	w     int
	tile  rect
	line  []uint16
	spans []processing.Span
}

// row returns where row y of the tile is to be written before put is called.
func (o *target) row(y int) []uint16 {
	if o.line != nil {
		return o.line
	}
	return o.dst[y*o.w+o.tile.x0 : y*o.w+o.tile.x1]
}

// put takes over row y; rows come in order.
func (o *target) put(y int) {
	for ; len(o.spans) > 0 && int(o.spans[0].Y) <= y; o.spans = o.spans[1:] {
		if s := o.spans[0]; int(s.Y) == y {
			copy(o.dst[y*o.w+int(s.X0):y*o.w+int(s.X1)], o.line[int(s.X0)-o.tile.x0:])
		}
	}
}

// wanted calls f on tiles of d that hold all pixels of where, or all there are where that is nil or no less work. halo
// is how far a pixel's surroundings reach.
func (b *Backend) wanted(ctx context.Context, d *plane, halo int, where []processing.Span, f func(t *worker, tile rect,
	out *target)) error {
	whole := func() error {
		return b.tiles(ctx, d.w, d.h, halo, halo, func(t *worker, tile rect) {
			f(t, tile, &target{dst: d.data.U16, w: d.w, tile: tile})
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
	// Rows as short as those of most boxes take several times as long a pixel.
	const dearer = 3
	if dearer*work > d.w*d.h {
		return whole()
	}
	const share = 16
	return b.each(ctx, (len(parts)+share-1)/share, func(t *worker, k int) {
		for i := k * share; i < min(len(parts), (k+1)*share) && !t.stopped(); i++ {
			t.used = 0
			r := boxes[i]
			f(t, r, &target{d.data.U16, d.w, r, take[uint16](t, r.x1-r.x0), parts[i]})
		}
	})
}
