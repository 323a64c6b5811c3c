package tool

import (
	"math"

	"blik/processing"
)

// Region draws and edits the search region: dragging outside draws a new one, handles move corners and sides, and
// dragging inside moves the whole. A polygon takes one corner a click and is finished by a click on its first corner,
// by Enter (Finish) or by a right click.
type Region struct {
	sketch
	shape processing.Shape
	host  RegionHost
	grip  grip
	from  processing.Point
	was   *processing.Region
}

// RegionHost holds the region that the tool changes.
type RegionHost interface {
	// Region returns the current region, nil for the whole picture.
	Region() *processing.Region
	// SetRegion makes r the region.
	SetRegion(r *processing.Region)
	// DraftChanged is called when the outline to show changed.
	DraftChanged()
}

// grip is the part of the region being dragged: a corner or side of the bounding box, a corner of a polygon, or the
// inside.
type grip struct {
	kind gripKind
	// corner is the index of a polygon's corner. left, right, top, bottom are the sides that move.
	corner                   int
	left, right, top, bottom bool
}

type gripKind uint8

const (
	gripNone gripKind = iota
	gripBox
	gripCorner
	gripInside
	gripNew
)

// NewRegion returns a tool that draws regions of the given shape.
func NewRegion(shape processing.Shape, host RegionHost) *Region {
	return &Region{sketch: sketch{changed: host.DraftChanged, done: host.SetRegion}, shape: shape, host: host}
}

// Shape returns the shape that the tool draws.
func (t *Region) Shape() processing.Shape { return t.shape }

// Current returns the region to show: the one being drawn, or else the current one.
func (t *Region) Current() *processing.Region {
	if t.draft != nil {
		return t.draft
	}
	return t.host.Region()
}

// Press grabs a part of the region or begins a new one.
func (t *Region) Press(e Event) {
	if t.open {
		t.addCorner(e)
		return
	}
	if e.Secondary {
		return
	}
	t.from = e.At
	t.was = t.host.Region()
	t.grip = gripAt(t.was, e)
	switch {
	case t.grip.kind != gripNone:
		t.draft = clone(t.was)
	case t.shape == processing.PolygonShape:
		t.begin(e)
		return
	default:
		t.grip = grip{kind: gripNew}
		t.draft = &processing.Region{Shape: t.shape, Points: []processing.Point{e.At, e.At}}
	}
	t.host.DraftChanged()
}

// Move drags the part grabbed by Press. With Shift a new region is square.
func (t *Region) Move(e Event) {
	if t.open {
		t.Hover(e)
		return
	}
	if t.draft == nil {
		return
	}
	dx, dy := e.At.X-t.from.X, e.At.Y-t.from.Y
	switch t.grip.kind {
	case gripNew:
		to := e.At
		if e.Shift {
			side := math.Max(math.Abs(dx), math.Abs(dy))
			to = processing.Point{X: t.from.X + math.Copysign(side, dx), Y: t.from.Y + math.Copysign(side, dy)}
		}
		t.draft.Points = []processing.Point{t.from, to}
	case gripInside:
		for i, p := range t.was.Points {
			t.draft.Points[i] = processing.Point{X: p.X + dx, Y: p.Y + dy}
		}
	case gripCorner:
		t.draft.Points[t.grip.corner] = e.At
	case gripBox:
		x0, y0, x1, y1 := t.was.Box()
		if t.grip.left {
			x0 += dx
		}
		if t.grip.right {
			x1 += dx
		}
		if t.grip.top {
			y0 += dy
		}
		if t.grip.bottom {
			y1 += dy
		}
		t.draft.Points = []processing.Point{{X: x0, Y: y0}, {X: x1, Y: y1}}
	}
	t.host.DraftChanged()
}

// Release makes the drawn region the current one. A click without a drag outside the region changes nothing.
func (t *Region) Release() {
	if t.open || t.draft == nil {
		return
	}
	r, kind := t.draft, t.grip.kind
	t.draft, t.grip = nil, grip{}
	if r.Shape != processing.PolygonShape {
		x0, y0, x1, y1 := r.Box()
		r.Points = []processing.Point{{X: math.Round(x0), Y: math.Round(y0)}, {X: math.Round(x1), Y: math.Round(y1)}}
		if r.Points[0].X == r.Points[1].X || r.Points[0].Y == r.Points[1].Y {
			r = nil
		}
	}
	if r != nil && (kind == gripNew || !same(r, t.was)) {
		t.host.SetRegion(r)
	}
	t.host.DraftChanged()
}

// Cancel drops what is being dragged; an unfinished polygon stays.
func (t *Region) Cancel() {
	if !t.open && t.draft != nil {
		t.Abandon()
	}
}

// Pointer shows which part a press would grab.
func (t *Region) Pointer(e Event) Pointer {
	if t.open {
		return Cross
	}
	switch g := gripAt(t.host.Region(), e); g.kind {
	case gripCorner, gripInside:
		return Hand
	case gripBox:
		switch {
		case g.left == g.right:
			return ResizeY
		case g.top == g.bottom:
			return ResizeX
		}
		return Hand
	}
	return Cross
}

// gripAt returns the part that a press would grab.
func gripAt(r *processing.Region, e Event) grip {
	if r == nil {
		return grip{}
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= e.Slack }
	if r.Shape == processing.PolygonShape {
		for i, p := range r.Points {
			if math.Hypot(p.X-e.At.X, p.Y-e.At.Y) <= e.Slack {
				return grip{kind: gripCorner, corner: i}
			}
		}
	}
	x0, y0, x1, y1 := r.Box()
	inX := e.At.X >= x0-e.Slack && e.At.X <= x1+e.Slack
	inY := e.At.Y >= y0-e.Slack && e.At.Y <= y1+e.Slack
	if !inX || !inY {
		return grip{}
	}
	if r.Shape != processing.PolygonShape {
		g := grip{kind: gripBox, left: near(e.At.X, x0), right: near(e.At.X, x1), top: near(e.At.Y, y0),
			bottom: near(e.At.Y, y1)}
		// In a region smaller than the slack, both sides are near; the lower right one moves, so that the region can
		// grow.
		g.left = g.left && !g.right
		g.top = g.top && !g.bottom
		if g.left || g.right || g.top || g.bottom {
			return g
		}
	}
	for _, s := range r.Spans(int(math.Floor(e.At.Y)), int(math.Ceil(x1))+1) {
		if x := int(math.Floor(e.At.X)); x >= s.X0 && x < s.X1 {
			return grip{kind: gripInside}
		}
	}
	return grip{}
}

// Outline returns the corners of a region's closed outline; an ellipse is approximated by a polygon with enough sides
// to look round.
func Outline(r *processing.Region) []processing.Point {
	if r == nil {
		return nil
	}
	if r.Shape == processing.PolygonShape {
		return r.Points
	}
	x0, y0, x1, y1 := r.Box()
	if r.Shape == processing.RectangleShape {
		return []processing.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
	}
	const sides = 72
	points := make([]processing.Point, sides)
	for i := range points {
		s, c := math.Sincos(2 * math.Pi * float64(i) / sides)
		points[i] = processing.Point{X: (x0+x1)/2 + c*(x1-x0)/2, Y: (y0+y1)/2 + s*(y1-y0)/2}
	}
	return points
}

// Handles returns the points by which a region is dragged.
func Handles(r *processing.Region) []processing.Point {
	if r == nil {
		return nil
	}
	if r.Shape == processing.PolygonShape {
		return r.Points
	}
	x0, y0, x1, y1 := r.Box()
	mx, my := (x0+x1)/2, (y0+y1)/2
	return []processing.Point{
		{X: x0, Y: y0}, {X: mx, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: my},
		{X: x1, Y: y1}, {X: mx, Y: y1}, {X: x0, Y: y1}, {X: x0, Y: my},
	}
}

func clone(r *processing.Region) *processing.Region {
	return &processing.Region{Shape: r.Shape, Points: append([]processing.Point(nil), r.Points...)}
}

func same(a, b *processing.Region) bool { return a != nil && b != nil && a.String() == b.String() }
