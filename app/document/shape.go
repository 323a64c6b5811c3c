package document

import (
	"errors"
	"image"
	"slices"

	"blik/internal/message"
	"blik/internal/span"
	"blik/processing"
	"blik/processing/detect"
)

// Combine says how a shape changes the mask.
type Combine uint8

// Add marks everything inside the shape, Subtract clears everything inside, Intersect clears everything outside.
const (
	Add Combine = iota
	Subtract
	Intersect
)

// FillShape combines the mask with a shape, which may extend beyond the picture. What remains of a corrected finding
// stays corrected. It can be undone. The error is that of processing.Region.Validate.
func (d *Document) FillShape(r *processing.Region, how Combine) (image.Rectangle, error) {
	if err := r.Validate(d.pic.Width, d.pic.Height); err != nil {
		return image.Rectangle{}, err
	}
	name := map[Combine]message.Message{
		Add: message.Of("Add area"), Subtract: message.Of("Take out area"), Intersect: message.Of("Keep only area"),
	}[how]
	d.begin(name)
	d.edit.byHand = true
	if how == Intersect {
		inside := newRows(r, d.tiles)
		d.rewrite(func(row []uint8, y, x0 int) {
			x := x0
			inside.each(y, x0, x0+len(row), func(a, b int) {
				clear(row[x-x0 : a-x0])
				x = b
			})
			clear(row[x-x0:])
		})
		return d.commit(), nil
	}
	x0, y0, x1, y1 := r.Bounds(d.pic.Width, d.pic.Height)
	box := image.Rect(x0, y0, x1, y1)
	d.prepareWrite(box)
	value := uint8(255)
	if how == Subtract {
		value = 0
	}
	for y := y0; y < y1; y++ {
		for _, s := range r.Spans(y, d.pic.Width) {
			set(d.mask.Pix[y*d.mask.Width+s.X0:y*d.mask.Width+s.X1], value)
		}
	}
	return d.commit(), nil
}

// MarkGlint adds a glint to the mask, with its soft edge. It can be undone. The error says that it lies outside the
// picture.
func (d *Document) MarkGlint(t *detect.Touched) (image.Rectangle, error) {
	r := image.Rect(t.Left, t.Top, t.Left+t.Mask.Width, t.Top+t.Mask.Height)
	if !r.In(d.tiles.bounds()) || len(t.Mask.Pix) != t.Mask.Width*t.Mask.Height {
		return image.Rectangle{}, errors.New("the glint lies outside the picture")
	}
	d.begin(message.Of("Mark glint"))
	d.edit.byHand = true
	d.overwrite(t.Mask, r, func(now, next uint8) uint8 { return max(now, next) })
	return d.commit(), nil
}

// GrowMask dilates the mask by one pixel in all eight directions, only inside the search region if one is set. It can
// be undone.
func (d *Document) GrowMask() image.Rectangle {
	return d.neighbours(message.Of("Grow mask"), func(a, b uint8) uint8 { return max(a, b) })
}

// ShrinkMask erodes the mask in the same way. The edge of the picture does not erode it.
func (d *Document) ShrinkMask() image.Rectangle {
	return d.neighbours(message.Of("Shrink mask"), func(a, b uint8) uint8 { return min(a, b) })
}

// neighbours replaces each pixel by pick of itself and its eight neighbours.
func (d *Document) neighbours(name message.Message, pick func(a, b uint8) uint8) image.Rectangle {
	d.begin(name)
	d.edit.byHand = true
	w, h := d.mask.Width, d.mask.Height
	before := slices.Clone(d.mask.Pix)
	inside := newRows(d.region, d.tiles)
	d.rewrite(func(row []uint8, y, x0 int) {
		// The row with one more column on either side, clipped to the picture.
		left, right := max(x0-1, 0), min(x0+len(row)+1, w)
		var column [tileSide + 2]uint8
		all := column[:right-left]
		copy(all, before[y*w+left:])
		for _, j := range [2]int{y - 1, y + 1} {
			if j < 0 || j >= h {
				continue
			}
			for i, v := range before[j*w+left : j*w+right] {
				all[i] = pick(all[i], v)
			}
		}
		inside.each(y, x0, x0+len(row), func(a, b int) {
			for x := a; x < b; x++ {
				v := all[x-left]
				if x > left {
					v = pick(v, all[x-left-1])
				}
				if x+1 < right {
					v = pick(v, all[x-left+1])
				}
				row[x-x0] = v
			}
		})
	})
	return d.commit()
}

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
