package viewport

import (
	"image"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"blik/app/view"
	"blik/processing"
)

// SetLayer shows a layer of detection over the result, under the mask; nil shows none.
func (v *Viewport) SetLayer(layer *view.Pyramid) {
	if v.layer == layer {
		return
	}
	v.layer = layer
	v.renderer.SetLayer(layer)
	v.Redraw()
}

// SetFollower makes the viewport follow another one: it takes its view by Follow, does not fit or move the picture by
// itself, and only reports to OnView what the pointer asks for.
func (v *Viewport) SetFollower() { v.follower = true }

// Follow shows the view of another viewport of the same size, without calling OnView.
func (v *Viewport) Follow(t view.Transform) {
	v.fitted = false
	if t != v.transform {
		v.place(t)
	}
}

// Take shows a view, limited to the picture, as if the pointer had asked for it.
func (v *Viewport) Take(t view.Transform) {
	if v.picture != nil {
		v.fitted = false
		v.show(t)
	}
}

// CentreOn centres a point of the picture.
func (v *Viewport) CentreOn(p processing.Point) { v.Take(v.transform.CentreOn(p, v.device)) }

// Hovering reports whether the pointer is over the viewport.
func (v *Viewport) Hovering() bool { return v.hovering }

// Shown returns the pixels of the picture that are at least partly visible.
func (v *Viewport) Shown() image.Rectangle {
	if v.picture == nil {
		return image.Rectangle{}
	}
	return v.transform.Visible(v.size(), v.device)
}

// Place returns the position and size of a picture rectangle in the viewport, in Fyne units.
func (v *Viewport) Place(r image.Rectangle) (at fyne.Position, size fyne.Size) {
	a := v.toWidget(processing.Point{X: float64(r.Min.X), Y: float64(r.Min.Y)})
	b := v.toWidget(processing.Point{X: float64(r.Max.X), Y: float64(r.Max.Y)})
	at = fyne.NewPos(min(a.X, b.X), min(a.Y, b.Y))
	return at, fyne.NewSize(max(a.X, b.X)-at.X, max(a.Y, b.Y)-at.Y)
}

// Repaint asks for a new frame, also on behalf of objects that have not been shown yet and cannot ask for one.
func (v *Viewport) Repaint() { v.still.Refresh() }

// Idle reports whether no gesture is in progress.
func (v *Viewport) Idle() bool { return v.gesture.kind == gestureNone }

// ghostRadius is the radius of the mark that shows the pointer of another viewport, in Fyne units.
const ghostRadius = 6

func newGhost() (g [2]*canvas.Circle) {
	g[0], g[1] = newRing(color.NRGBA{A: 170}, 3), newRing(color.NRGBA{255, 210, 0, 255}, 1)
	return g
}

// SetGhost marks a point of the picture, under the pointer in another viewport.
func (v *Viewport) SetGhost(p processing.Point, shown bool) {
	at := v.toWidget(p)
	for _, g := range v.ghost {
		half := ghostRadius + g.StrokeWidth/2
		g.Hidden = !shown
		g.Position1, g.Position2 = at.SubtractXY(half, half), at.AddXY(half, half)
	}
	v.still.Refresh()
}

// SetLabel shows a line of text beside a point of the picture; an empty text removes it.
func (v *Viewport) SetLabel(p processing.Point, text string) {
	v.labelAt = p
	v.label[1].(*canvas.Text).Text = text
	v.layoutLabel()
	v.still.Refresh()
}

func newLabel() (l [2]fyne.CanvasObject) {
	back, text := canvas.NewRectangle(color.NRGBA{A: 190}), canvas.NewText("", color.White)
	back.CornerRadius = 3
	text.TextSize = 12
	back.Hidden, text.Hidden = true, true
	return [2]fyne.CanvasObject{back, text}
}

// layoutLabel keeps the text beside its point and inside the viewport.
func (v *Viewport) layoutLabel() {
	back, text := v.label[0], v.label[1].(*canvas.Text)
	shown := text.Text != ""
	back.(*canvas.Rectangle).Hidden, text.Hidden = !shown, !shown
	if !shown {
		return
	}
	const gap, margin = 10, 3
	size := text.MinSize()
	most := v.Size().Subtract(size).SubtractWidthHeight(2*margin, 2*margin)
	at := v.toWidget(v.labelAt).AddXY(gap, gap)
	at = fyne.NewPos(max(margin, min(at.X, most.Width)), max(margin, min(at.Y, most.Height)))
	text.Resize(size)
	text.Move(at)
	back.Resize(size.AddWidthHeight(2*margin, 2*margin))
	back.Move(at.SubtractXY(margin, margin))
}
