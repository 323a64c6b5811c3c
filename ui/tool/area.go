package tool

import (
	"math"

	"blik/app/document"
	"blik/processing"
)

// Area draws around a part of the picture: all inside is marked, or taken out of the mask if the area was begun with
// the right button; begun with Shift, all outside is emptied. A polygon takes one corner a click and ends as that of
// Region does; the other shapes are dragged.
type Area struct {
	host  AreaHost
	shape AreaShape
	draft *processing.Region
	how   document.Combine
	// open is a polygon whose corners are still being clicked; its last point follows the pointer.
	open bool
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
func NewArea(shape AreaShape, host AreaHost) *Area { return &Area{host: host, shape: shape} }

// Draft returns the area as far as it is drawn, nil for none.
func (t *Area) Draft() *processing.Region { return t.draft }

// Open reports whether a polygon is still being clicked.
func (t *Area) Open() bool { return t.open }

// Closed reports whether the outline of the draft ends where it began.
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
	shape, points := processing.PolygonShape, []processing.Point{e.At}
	switch t.shape {
	case Polygon:
		points, t.open = append(points, e.At), true
	case Rectangle:
		shape, points = processing.RectangleShape, append(points, e.At)
	case Ellipse:
		shape, points = processing.EllipseShape, append(points, e.At)
	}
	t.draft = &processing.Region{Shape: shape, Points: points}
	t.host.DraftChanged()
}

// addCorner sets the point under the pointer; on the first corner, or with the right button, it closes the polygon.
func (t *Area) addCorner(e Event) {
	p := t.draft.Points
	if e.Secondary || len(p) > 3 && math.Hypot(e.At.X-p[0].X, e.At.Y-p[0].Y) <= e.Slack {
		t.Finish()
		return
	}
	p[len(p)-1] = e.At
	t.draft.Points = append(p, e.At)
	t.host.DraftChanged()
}

// leastStep is how far the pointer has to move, in image pixels, for another corner of a freehand area.
const leastStep = 0.5

// Move draws on.
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

// Hover moves the open end of a polygon.
func (t *Area) Hover(e Event) {
	if t.open {
		t.Move(e)
	}
}

// Release closes an area that was dragged. One without an inside is dropped.
func (t *Area) Release() {
	if t.open || t.draft == nil {
		return
	}
	r := t.draft
	t.draft = nil
	inside := len(r.Points) >= 3
	if t.Closed() {
		x0, y0, x1, y1 := box(r)
		r.Points = []processing.Point{{X: math.Round(x0), Y: math.Round(y0)}, {X: math.Round(x1), Y: math.Round(y1)}}
		inside = r.Points[0].X < r.Points[1].X && r.Points[0].Y < r.Points[1].Y
	}
	if inside {
		t.host.FillShape(r, t.how)
	}
	t.host.DraftChanged()
}

// Finish closes the polygon being clicked; one of fewer than three corners is dropped.
func (t *Area) Finish() {
	if !t.open {
		return
	}
	r := t.draft
	t.open, t.draft = false, nil
	if r.Points = r.Points[:len(r.Points)-1]; len(r.Points) >= 3 {
		t.host.FillShape(r, t.how)
	}
	t.host.DraftChanged()
}

// Back takes the last corner of the polygon being clicked away, and with the first one the polygon.
func (t *Area) Back() {
	if !t.open {
		return
	}
	p := t.draft.Points
	if len(p) <= 2 {
		t.Abandon()
		return
	}
	p[len(p)-2] = p[len(p)-1]
	t.draft.Points = p[:len(p)-1]
	t.host.DraftChanged()
}

// Abandon drops what is being drawn.
func (t *Area) Abandon() {
	t.open, t.draft = false, nil
	t.host.DraftChanged()
}

// Cancel drops an area that is being dragged; a polygon being clicked stays.
func (t *Area) Cancel() {
	if !t.open {
		t.Abandon()
	}
}

// Pointer is a cross.
func (*Area) Pointer(Event) Pointer { return Cross }
