package document

import (
	"image"

	"blik/internal/message"
	"blik/internal/span"
	"blik/processing"
)

// FillHoles marks the holes of the mask: unmarked pixels that no 4-connected path of unmarked pixels joins to the edge
// of the picture. Outside the search region nothing is marked. It can be undone.
func (d *Document) FillHoles() image.Rectangle {
	d.begin(message.Of("Fill holes"))
	d.edit.byHand = true
	inside := newRows(d.region, d.tiles)
	w, h := d.mask.Width, d.mask.Height
	marked := span.Append(nil, d.mask.Pix, w, 0, h, processing.MaskLevel)
	for _, hole := range span.Holes(marked, w, h) {
		y := int(hole.Y)
		inside.each(y, int(hole.X0), int(hole.X1), func(a, b int) {
			d.prepareWrite(image.Rect(a, y, b, y+1))
			set(d.mask.Pix[y*w+a:y*w+b], 255)
		})
	}
	return d.commit()
}
