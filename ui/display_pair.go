package ui

import (
	"math"

	"fyne.io/fyne/v2"

	"blik/app/view"
	"blik/processing"
	"blik/ui/viewport"
)

// pairGap is the space between the viewports that are side by side, in Fyne units.
const pairGap = 2

// pairLayout puts the original's viewport left of the other one, or gives that all the room.
type pairLayout struct{}

// Layout makes both equally large, in whole units, so that they show the same part of the picture.
func (pairLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	left, right := objects[0], objects[1]
	if !left.Visible() {
		right.Resize(size)
		right.Move(fyne.NewPos(0, 0))
		return
	}
	width := float32(math.Floor(float64(size.Width-pairGap) / 2))
	for _, o := range objects {
		o.Resize(fyne.NewSize(width, size.Height))
	}
	left.Move(fyne.NewPos(0, 0))
	right.Move(fyne.NewPos(size.Width-width, 0))
}

// MinSize is that of the viewports that are seen.
func (pairLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := objects[1].MinSize()
	if objects[0].Visible() {
		size.Width += objects[0].MinSize().Width + pairGap
	}
	return size
}

// newTwin returns the viewport that shows the original beside the other one, whose view it follows and moves.
func (d *display) newTwin() *viewport.Viewport {
	twin := viewport.New()
	twin.SetFollower()
	look := view.DefaultOptions()
	look.Mode = view.PictureOnly
	twin.SetOptions(look)
	twin.OnView = d.port.Take
	twin.Hide()
	return twin
}

// ports are the viewports that are seen.
func (d *display) ports() []*viewport.Viewport {
	if d.beside {
		return []*viewport.Viewport{d.port, d.twin}
	}
	return []*viewport.Viewport{d.port}
}

// under returns the viewport that the pointer is over, else the one that is always seen.
func (d *display) under() *viewport.Viewport {
	if d.beside && d.twin.Hovering() {
		return d.twin
	}
	return d.port
}

// each does something with both viewports, also while one is hidden.
func (d *display) each(do func(v *viewport.Viewport)) {
	do(d.port)
	do(d.twin)
}

// end ends what a tool is doing in either viewport.
func (d *display) end() { d.each((*viewport.Viewport).End) }

// setBeside shows the original beside what is shown otherwise, or not.
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

// toggleBeside shows the original beside the result, or only the result; the choice is remembered.
func (d *display) toggleBeside() {
	d.split = false
	d.s.Settings().SideBySide = !d.beside
	d.setBeside(!d.beside)
}

// showTwin gives the original to the left viewport.
func (d *display) showTwin() {
	original, _ := d.s.Pictures()
	if original != nil && !d.twin.Shows(original) {
		d.twin.SetPicture(original, nil)
		if f, ok := d.s.Selected(); ok {
			d.twin.SetMarker(f.Bounds())
		}
	}
}

// hovered tells what listens where the pointer is, and marks that place in the other viewport.
func (d *display) hovered(by, other *viewport.Viewport) func(at processing.Point, inside bool) {
	return func(at processing.Point, inside bool) {
		if d.beside {
			other.SetGhost(at, inside)
		}
		if d.onHover != nil {
			d.onHover(at, inside)
		}
	}
}
