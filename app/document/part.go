package document

import (
	"errors"
	"image"

	"blik/processing"
)

// shownPart holds the tiles of the mask under a part of another detection that is shown in their place. Showing it is
// not a step of the history, and whatever changes or saves the mask uses these tiles.
type shownPart struct{ tiles []savedTile }

// ShowPart shows m, a part of the mask of another detection, with its first pixel at the given place, until DropPart is
// called or something else changes the mask. Only pixels inside the search region are shown, and what the user marked
// and erased stays so. Findings, counts and snapshots remain those of the mask below. It returns the rectangle to
// redraw.
func (d *Document) ShowPart(m *processing.Mask, at image.Point) (image.Rectangle, error) {
	area := image.Rect(0, 0, m.Width, m.Height).Add(at)
	if area.Empty() || !area.In(d.tiles.bounds()) || len(m.Pix) != m.Width*m.Height {
		return image.Rectangle{}, errors.New("the part lies outside the picture")
	}
	d.EndStroke()
	d.DropPart()
	// Label now: later the tiles would contain what is only shown.
	d.spots.refresh()
	d.part = &shownPart{}
	d.tiles.each(area, func(i int) {
		d.part.tiles = append(d.part.tiles, savedTile{i, d.pack(i, &d.scratch)})
	})
	if d.hand != nil {
		m = cloneMask(m)
		d.hand.over(d.tiles, m, at)
	}
	inside := newRows(d.region, d.tiles)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		inside.each(y, area.Min.X, area.Max.X, func(a, b int) {
			copy(d.mask.Pix[y*d.mask.Width+a:y*d.mask.Width+b], m.Pix[(y-at.Y)*m.Width+a-at.X:])
		})
	}
	return area.Union(d.Dropped()), nil
}

// DropPart restores the mask under the part that is shown, if any. Dropped returns the rectangle to redraw.
func (d *Document) DropPart() {
	if d.part == nil {
		return
	}
	for _, t := range d.part.tiles {
		r := d.tiles.rect(t.index)
		t.data.unpack(d.mask.Pix, d.mask.Width, r)
		d.dropped = d.dropped.Union(r)
	}
	d.part = nil
}

// Dropped returns the bounding box of the parts dropped since its last call.
func (d *Document) Dropped() image.Rectangle {
	r := d.dropped
	d.dropped = image.Rectangle{}
	return r
}
