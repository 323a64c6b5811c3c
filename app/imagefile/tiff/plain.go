package tiff

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"blik/processing"
)

// Locate implements container.RowDecoder.
func (f *File) Locate() func(at int64) (x, y int, ok bool) {
	l := f.lay
	if l.compression != compNone || f.converts() || f.promise != "" {
		return nil
	}
	// All bytes of a segment belong to it alone if nothing else claims any of them.
	own := f.claims()
	type part struct {
		at, end int64
		unit    unit
	}
	var parts []part
	for i := range l.coloured() {
		if !own.shared[i] {
			u := l.unit(i)
			parts = append(parts, part{l.offsets[i], l.offsets[i] + l.rowBytes()*int64(u.h), u})
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.at, b.at) })
	sample := int64(l.depth / 8)
	lanes, colours := int64(l.lanes()), int64(l.colours)
	return func(at int64) (x, y int, ok bool) {
		i := sort.Search(len(parts), func(i int) bool { return parts[i].end > at })
		if i == len(parts) || parts[i].at > at {
			return 0, 0, false
		}
		u, in := parts[i].unit, at-parts[i].at
		row, column := in/l.rowBytes(), in%l.rowBytes()/sample
		x, y = u.x+int(column/lanes), u.y+int(row)
		return x, y, x < u.x+u.w && (l.planar || column%lanes < colours)
	}
}

// DecodeRows implements container.RowDecoder.
func (f *File) DecodeRows(ctx context.Context, y0, y1 int) (*processing.Picture, error) {
	l := f.lay
	if err := l.check(f.src.Size); err != nil {
		return nil, err
	}
	pic := l.newPicture(l.width, y1-y0)
	s := &scratch{}
	for i := range l.coloured() {
		u := l.unit(i)
		from, to := max(y0-u.y, 0), min(y1-u.y, u.h)
		u.y -= y0
		if err := f.decodeRows(ctx, s, pic, u, from, to); err != nil {
			return nil, err
		}
	}
	return pic, nil
}
