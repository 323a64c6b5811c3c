package document

import (
	"image"

	"blik/processing"
)

// Crop returns a copy of the part of the picture within area: of the original, or of the corrected picture. The area is
// clipped to the picture; Crop returns nil if nothing is left of it.
func (d *Document) Crop(area image.Rectangle, corrected bool) *processing.Picture {
	area = area.Intersect(d.tiles.bounds())
	if area.Empty() {
		return nil
	}
	part := d.pic.Part(area.Min.X, area.Min.Y, area.Dx(), area.Dy())
	if corrected {
		d.corrections.near(area, func(k *correction) { k.patch.ApplyWithin(part, area.Min.X, area.Min.Y) })
	}
	return part
}
