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
	part, n := d.pic.Part(area.Min.X, area.Min.Y, area.Dx(), area.Dy()), d.pic.Channels
	if !corrected {
		return part
	}
	d.corrections.near(area, func(k *correction) {
		from := 0
		for _, r := range k.patch.Runs {
			x0, x1 := max(r.X0, area.Min.X), min(r.X1, area.Max.X)
			if r.Y >= area.Min.Y && r.Y < area.Max.Y && x0 < x1 {
				to := ((r.Y-area.Min.Y)*part.Width + x0 - area.Min.X) * n
				part.Samples().Copy(to, k.patch.Samples(), (from+x0-r.X0)*n, (x1-x0)*n)
			}
			from += r.X1 - r.X0
		}
	})
	return part
}
