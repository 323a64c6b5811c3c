package document

import (
	"errors"
	"image"
	"slices"

	"blik/internal/message"
	"blik/processing"
)

// Combine says how a shape changes the mask.
type Combine uint8

// The ways: Add marks all inside as glare, Subtract takes it out of the mask, Intersect empties all outside.
const (
	Add Combine = iota
	Subtract
	Intersect
)

// FillShape changes the mask by a shape, which may reach out of the picture: the error is that of
// processing.Region.Validate. What it leaves of a corrected finding stays corrected. It can be undone.
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
	d.touch(box)
	d.tiles.each(box, d.changedTile)
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

// MarkGlint adds a glint to the mask that was grown from a place, with its soft edge. It can be undone.
func (d *Document) MarkGlint(t *processing.Touched) (image.Rectangle, error) {
	r := image.Rect(t.Left, t.Top, t.Left+t.Mask.Width, t.Top+t.Mask.Height)
	if !r.In(d.tiles.bounds()) || len(t.Mask.Pix) != t.Mask.Width*t.Mask.Height {
		return image.Rectangle{}, errors.New("the glint lies outside the picture")
	}
	d.begin(message.Of("Mark glint"))
	d.edit.byHand = true
	d.overwrite(t.Mask, r, func(now, next uint8) uint8 { return max(now, next) })
	return d.commit(), nil
}

// GrowMask widens what is marked by a pixel in all eight directions, within the search region if there is one. It can
// be undone.
func (d *Document) GrowMask() image.Rectangle {
	return d.neighbours(message.Of("Grow mask"), func(a, b uint8) uint8 { return max(a, b) })
}

// ShrinkMask is the reverse for what is not marked. What lies beyond the picture does not shrink the mask.
func (d *Document) ShrinkMask() image.Rectangle {
	return d.neighbours(message.Of("Shrink mask"), func(a, b uint8) uint8 { return min(a, b) })
}

// neighbours gives each pixel what pick makes of it and its eight neighbours.
func (d *Document) neighbours(name message.Message, pick func(a, b uint8) uint8) image.Rectangle {
	d.begin(name)
	d.edit.byHand = true
	w, h := d.mask.Width, d.mask.Height
	before := slices.Clone(d.mask.Pix)
	inside := newRows(d.region, d.tiles)
	d.rewrite(func(row []uint8, y, x0 int) {
		// A column more on either side, as far as the picture reaches.
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
