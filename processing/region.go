package processing

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"blik/internal/message"
)

// Shape is the shape of a search region.
type Shape uint8

// The shapes.
const (
	RectangleShape Shape = iota
	EllipseShape
	PolygonShape
)

// shapeNames returns the names of the shapes in the text form of a region.
func shapeNames() []string {
	return []string{RectangleShape: "rect", EllipseShape: "ellipse", PolygonShape: "polygon"}
}

// Point is a position in image coordinates: pixel (x, y) covers [x, x+1) × [y, y+1).
type Point struct{ X, Y float64 }

// Region is the part of a picture that is searched for glare.
//
// A rectangle has two points, opposite corners; an ellipse the two opposite corners of its bounding box; a polygon at
// least three vertices, closed automatically, filled by the even-odd rule. A pixel belongs to the region if its centre
// does.
type Region struct {
	Shape  Shape
	Points []Point
}

// ParseRegion reads the text form of a region, in pixels:
//
//	rect:x,y,width,height    ellipse:x,y,width,height (of the bounding box)    polygon:x,y,x,y,x,y…
//
// A bare "x,y,width,height" is a rectangle.
func ParseRegion(text string) (*Region, error) {
	shape, rest, found := strings.Cut(strings.TrimSpace(text), ":")
	if !found {
		shape, rest = "rect", shape
	}
	fields := strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r == ' ' || r == ';' })
	v := make([]float64, len(fields))
	for i, f := range fields {
		x, err := strconv.ParseFloat(f, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, message.Errorf("%q is not a number", f)
		}
		v[i] = x
	}
	switch shape {
	case "rect", "ellipse":
		if len(v) != 4 {
			return nil, message.Errorf("%s takes 4 numbers, not %d", shape, len(v))
		}
		if v[2] <= 0 || v[3] <= 0 {
			return nil, message.Errorf("width and height must be positive")
		}
		corners := []Point{{v[0], v[1]}, {v[0] + v[2], v[1] + v[3]}}
		return &Region{Shape: Shape(slices.Index(shapeNames(), shape)), Points: corners}, nil
	case "polygon":
		if len(v) < 6 || len(v)%2 != 0 {
			return nil, message.Errorf("a polygon needs at least three pairs x,y")
		}
		r := &Region{Shape: PolygonShape}
		for i := 0; i < len(v); i += 2 {
			r.Points = append(r.Points, Point{v[i], v[i+1]})
		}
		return r, nil
	}
	return nil, message.Errorf("the shape must be rect, ellipse or polygon")
}

// String returns the text form that ParseRegion reads.
func (r *Region) String() string {
	num := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	var v []string
	if r.Shape == PolygonShape {
		for _, p := range r.Points {
			v = append(v, num(p.X), num(p.Y))
		}
	} else {
		x0, y0, x1, y1 := r.Box()
		v = []string{num(x0), num(y0), num(x1 - x0), num(y1 - y0)}
	}
	return shapeNames()[r.Shape] + ":" + strings.Join(v, ",")
}

// Box returns the corners of the smallest rectangle around the region's points.
func (r *Region) Box() (x0, y0, x1, y1 float64) {
	x0, y0, x1, y1 = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range r.Points {
		x0, x1 = math.Min(x0, p.X), math.Max(x1, p.X)
		y0, y1 = math.Min(y0, p.Y), math.Max(y1, p.Y)
	}
	return x0, y0, x1, y1
}

// Bounds returns the pixels that the region may touch in a picture of w × h, x1 and y1 excluded.
func (r *Region) Bounds(w, h int) (x0, y0, x1, y1 int) {
	a, b, c, d := r.Box()
	clamp := func(v float64, hi int) int { return int(math.Max(0, math.Min(v, float64(hi)))) }
	return clamp(math.Floor(a), w), clamp(math.Floor(b), h), clamp(math.Ceil(c), w), clamp(math.Ceil(d), h)
}

// ErrRegionOutside is wrapped by the error of Validate for a region that touches no pixel of the picture.
var ErrRegionOutside = errors.New("the region lies outside the picture")

// Validate returns an error unless the region has enough points and at least one pixel in a picture of w × h.
func (r *Region) Validate(w, h int) error {
	if need := map[Shape]int{RectangleShape: 2, EllipseShape: 2, PolygonShape: 3}[r.Shape]; len(r.Points) < need {
		return fmt.Errorf("region: %d points, at least %d needed", len(r.Points), need)
	}
	_, y0, _, y1 := r.Bounds(w, h)
	for y := y0; y < y1; y++ {
		if len(r.Spans(y, w)) > 0 {
			return nil
		}
	}
	return fmt.Errorf("region %s in a picture of %d × %d pixels: %w", r, w, h, ErrRegionOutside)
}

// Spans returns the pixels of row y that belong to the region, left to right, clipped to a picture of width w.
func (r *Region) Spans(y, w int) []Run {
	cy := float64(y) + 0.5
	switch r.Shape {
	case PolygonShape:
		var xs []float64
		for i, p := range r.Points {
			q := r.Points[(i+1)%len(r.Points)]
			if (p.Y <= cy) != (q.Y <= cy) {
				xs = append(xs, p.X+float64((cy-p.Y)/(q.Y-p.Y)*(q.X-p.X)))
			}
		}
		sort.Float64s(xs)
		var runs []Run
		for i := 0; i+1 < len(xs); i += 2 {
			runs = appendSpan(runs, y, xs[i], xs[i+1], w)
		}
		return runs
	default:
		x0, y0, x1, y1 := r.Box()
		if cy < y0 || cy >= y1 {
			return nil
		}
		if r.Shape == EllipseShape {
			t := (cy - float64((y0+y1)/2)) / ((y1 - y0) / 2)
			if t*t >= 1 {
				return nil
			}
			half := float64((x1 - x0) / 2 * math.Sqrt(1-float64(t*t)))
			x0, x1 = float64((x0+x1)/2)-half, float64((x0+x1)/2)+half
		}
		return appendSpan(nil, y, x0, x1, w)
	}
}

// appendSpan adds the pixels whose centres lie in [x0, x1).
func appendSpan(runs []Run, y int, x0, x1 float64, w int) []Run {
	a := int(math.Max(0, math.Min(math.Ceil(x0-0.5), float64(w))))
	b := int(math.Max(0, math.Min(math.Ceil(x1-0.5), float64(w))))
	if a >= b {
		return runs
	}
	return append(runs, Run{y, a, b})
}
