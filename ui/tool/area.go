package tool

import (
	"math"

	"blik/app/document"
	"blik/processing"
)

// Area draws a shape: everything inside is marked, or removed from the mask if the shape was begun with the right
// button; if begun with Shift, everything outside is removed. A polygon takes one corner a click and is finished like
// that of Region; the other shapes are dragged.
type Area struct {
	sketch
	host  AreaHost
	shape AreaShape
	how   document.Combine
}

// AreaShape is how an area is drawn.
type AreaShape uint8

// The shapes: Freehand follows the pointer.
const (
	Freehand AreaShape = iota
	Polygon
	Rectangle
	Ellipse
)

// AreaHost holds the mask that areas change.
type AreaHost interface {
	// FillShape changes the mask by an area.
	FillShape(r *processing.Region, how document.Combine)
	// DraftChanged is called when the outline to show changed.
	DraftChanged()
}

// NewArea returns a tool that draws areas of the given shape.
func NewArea(shape AreaShape, host AreaHost) *Area {
	t := &Area{host: host, shape: shape}
	t.sketch = sketch{changed: host.DraftChanged, done: func(r *processing.Region) { host.FillShape(r, t.how) }}
	return t
}

// Draft returns the shape drawn so far; nil for none.
func (t *Area) Draft() *processing.Region { return t.draft }

// Closed reports whether the outline of the draft is closed.
func (t *Area) Closed() bool { return t.shape == Rectangle || t.shape == Ellipse }

// Press begins an area, or sets a corner of a polygon.
func (t *Area) Press(e Event) {
	if t.open {
		t.addCorner(e)
		return
	}
	t.how = document.Add
	switch {
	case e.Secondary:
		t.how = document.Subtract
	case e.Shift:
		t.how = document.Intersect
	}
	if t.shape == Polygon {
		t.begin(e)
		return
	}
	shape, points := processing.PolygonShape, []processing.Point{e.At}
	switch t.shape {
	case Rectangle:
		shape, points = processing.RectangleShape, append(points, e.At)
	case Ellipse:
		shape, points = processing.EllipseShape, append(points, e.At)
	}
	t.draft = &processing.Region{Shape: shape, Points: points}
	t.host.DraftChanged()
}

// leastStep is the distance in image pixels that the pointer has to move to add a corner to a freehand area.
const leastStep = 0.5

// Move continues the drawing.
func (t *Area) Move(e Event) {
	if t.draft == nil {
		return
	}
	p := t.draft.Points
	last := p[len(p)-1]
	switch {
	case t.shape != Freehand:
		p[len(p)-1] = e.At
	case math.Hypot(e.At.X-last.X, e.At.Y-last.Y) >= leastStep:
		t.draft.Points = append(p, e.At)
	default:
		return
	}
	t.host.DraftChanged()
}

// Release closes a dragged area. An area without an inside is dropped.
func (t *Area) Release() {
	if t.open || t.draft == nil {
		return
	}
	r := t.draft
	t.draft = nil
	inside := len(r.Points) >= 3
	if t.Closed() {
		x0, y0, x1, y1 := r.Box()
		r.Points = []processing.Point{{X: math.Round(x0), Y: math.Round(y0)}, {X: math.Round(x1), Y: math.Round(y1)}}
		inside = r.Points[0].X < r.Points[1].X && r.Points[0].Y < r.Points[1].Y
	}
	if inside {
		t.host.FillShape(r, t.how)
	}
	t.host.DraftChanged()
}

// Cancel drops an area that is being dragged; an unfinished polygon stays.
func (t *Area) Cancel() {
	if !t.open {
		t.Abandon()
	}
}

func (*Area) Pointer(Event) Pointer { return Cross }
