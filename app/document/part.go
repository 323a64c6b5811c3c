package document

import (
	"errors"
	"image"

	"blik/processing"
)

// shownPart is a part of the mask that shows another detection for the time being. It is no step of the history, and
// whatever changes or keeps the mask sees what lies under it.
type shownPart struct{ tiles []savedTile }

// ShowPart shows a part of the mask that another detection would make, whose first pixel is at the given place, until
// DropPart, or until anything else changes the mask. Findings, counts and snapshots stay those of the mask under it,
// and so do the pixels outside the search region. It returns the pixels that may differ.
func (d *Document) ShowPart(m *processing.Mask, at image.Point) (image.Rectangle, error) {
	area := image.Rect(0, 0, m.Width, m.Height).Add(at)
	if area.Empty() || !area.In(d.tiles.bounds()) || len(m.Pix) != m.Width*m.Height {
		return image.Rectangle{}, errors.New("the part lies outside the picture")
	}
	d.EndStroke()
	d.DropPart()
	// Tiles that are not labelled yet would be with what is only shown.
	d.spots.refresh()
	d.part = &shownPart{}
	d.tiles.each(area, func(i int) {
		d.part.tiles = append(d.part.tiles, savedTile{i, d.pack(i, &d.scratch)})
	})
	inside := newRows(d.region, d.tiles)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		inside.each(y, area.Min.X, area.Max.X, func(a, b int) {
			copy(d.mask.Pix[y*d.mask.Width+a:y*d.mask.Width+b], m.Pix[(y-at.Y)*m.Width+a-at.X:])
		})
	}
	return area.Union(d.Dropped()), nil
}

// DropPart brings back what lies under the part that is shown, if one is. Dropped names its pixels.
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

// Dropped returns the pixels of the parts that are no longer shown since it was last called.
func (d *Document) Dropped() image.Rectangle {
	r := d.dropped
	d.dropped = image.Rectangle{}
	return r
}
