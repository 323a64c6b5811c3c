package ui

import (
	"blik/app/view"
	"blik/processing"
	"blik/ui/shader"
	"blik/ui/viewport"
	"blik/ui/xwidget"
)

// newTwin returns the viewport that shows the original. It follows the other one's view, and moving it moves the other.
func (d *display) newTwin(card *shader.Card) *viewport.Viewport {
	twin := viewport.New(viewport.Shaded("original", card))
	twin.SetFollower()
	look := view.DefaultOptions()
	look.Mode = view.PictureOnly
	twin.SetOptions(look)
	twin.OnView = d.port.Take
	twin.Hide()
	return twin
}

// caption names the two viewports while both are shown.
func (d *display) caption(original, corrected string) {
	d.pair.Objects = append(d.pair.Objects[:2:2], xwidget.NewCaption(original), xwidget.NewCaption(corrected))
	d.pair.Refresh()
}

// captionRoom returns the height that captions take at the top of the picture; 0 if there are none.
func (d *display) captionRoom() float32 {
	if !d.beside {
		return 0
	}
	return xwidget.CaptionGap + d.pair.Objects[2].MinSize().Height
}

// under returns the viewport under the pointer, or else the main one.
func (d *display) under() *viewport.Viewport {
	if d.beside && d.twin.Hovering() {
		return d.twin
	}
	return d.port
}

// each calls do with both viewports, even if one is hidden.
func (d *display) each(do func(v *viewport.Viewport)) {
	do(d.port)
	do(d.twin)
}

// end ends the tool's gesture in either viewport.
func (d *display) end() { d.each((*viewport.Viewport).End) }

// setBeside shows or hides the original beside the result.
func (d *display) setBeside(on bool) {
	d.beside = on
	d.end()
	if on {
		d.showTwin()
		d.twin.Show()
	} else {
		d.twin.Hide()
		d.twin.SetPicture(nil, nil)
		d.port.SetGhost(processing.Point{}, false)
	}
	d.pair.Refresh()
	d.twin.Follow(d.port.Transform())
	d.viewChanged()
}

// toggleBeside toggles between both side by side and only the result; the choice is remembered.
func (d *display) toggleBeside() {
	d.split = false
	d.s.Settings().SideBySide = !d.beside
	d.setBeside(!d.beside)
}

// showTwin updates the viewport of the original.
func (d *display) showTwin() {
	original, _ := d.s.Pictures()
	if original != nil && !d.twin.Shows(original) {
		d.twin.SetPicture(original, nil)
		if f, ok := d.selected(); ok {
			d.twin.SetMarker(f.Bounds())
		}
	}
}

// hovered returns a handler that passes on the position of the pointer and marks it in the other viewport.
func (d *display) hovered(other *viewport.Viewport) func(at processing.Point, inside bool) {
	return func(at processing.Point, inside bool) {
		if d.beside {
			other.SetGhost(at, inside)
		}
		if d.onHover != nil {
			d.onHover(at, inside)
		}
	}
}
