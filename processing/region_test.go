package processing

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// contains is the definition of Region, for one point.
func contains(r *Region, x, y float64) bool {
	x0, y0, x1, y1 := r.Box()
	switch r.Shape {
	case EllipseShape:
		u, v := (x-(x0+x1)/2)/((x1-x0)/2), (y-(y0+y1)/2)/((y1-y0)/2)
		return u*u+v*v < 1
	case PolygonShape:
		in := false
		for i, p := range r.Points {
			q := r.Points[(i+1)%len(r.Points)]
			if (p.Y <= y) != (q.Y <= y) && p.X+(y-p.Y)/(q.Y-p.Y)*(q.X-p.X) > x {
				in = !in
			}
		}
		return in
	default:
		return x >= x0 && x < x1 && y >= y0 && y < y1
	}
}

func TestSpansEqualDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 30).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
		// Irrational offsets keep pixel centres off the shapes' edges, where rounding would decide.
		coord := func(name string) float64 {
			return float64(rapid.IntRange(-10, 40).Draw(t, name)) + math.Sqrt2/10
		}
		r := &Region{Shape: Shape(rapid.IntRange(0, 2).Draw(t, "shape"))}
		n := 2
		if r.Shape == PolygonShape {
			n = rapid.IntRange(3, 7).Draw(t, "n")
		}
		for range n {
			r.Points = append(r.Points, Point{coord("x"), coord("y")})
		}
		x0, y0, x1, y1 := r.Bounds(w, h)
		some := false
		for y := range h {
			row := make([]bool, w)
			last := -1
			for _, s := range r.Spans(y, w) {
				if s.X0 < last || s.X1 <= s.X0 {
					t.Fatalf("row %d: span %v after column %d", y, s, last)
				}
				last = s.X1
				for x := s.X0; x < s.X1; x++ {
					row[x] = true
				}
			}
			for x := range w {
				some = some || row[x]
				if want := contains(r, float64(x)+0.5, float64(y)+0.5); row[x] != want {
					t.Fatalf("%v: pixel %d,%d is %v, want %v", r, x, y, row[x], want)
				}
				if row[x] && (x < x0 || x >= x1 || y < y0 || y >= y1) {
					t.Fatalf("%v: pixel %d,%d outside the bounds", r, x, y)
				}
			}
		}
		if err := r.Validate(w, h); (err == nil) != some || err != nil && !errors.Is(err, ErrRegionOutside) {
			t.Fatalf("%v: Validate says %v", r, err)
		}
	})
}

func TestParseRegion(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"rect:1,2,30,40", "ellipse:0.5,2,30,40", "polygon:0,0,10,0,10,10"} {
		r, err := ParseRegion(text)
		if err != nil {
			t.Fatal(err)
		}
		if r.String() != text {
			t.Errorf("%q reads as %q", text, r)
		}
	}
	if r, err := ParseRegion("1, 2, 3, 4"); err != nil || r.String() != "rect:1,2,3,4" {
		t.Errorf("bare numbers: %v, %v", r, err)
	}
	for _, text := range []string{"", "rect:1,2,3", "rect:1,2,0,4", "circle:1,2,3", "polygon:1,2,3,4",
		"polygon:1,2,3,4,5", "rect:1,2,x,4", "rect:1,2,NaN,4"} {
		if r, err := ParseRegion(text); err == nil {
			t.Errorf("%q is read as %v", text, r)
		}
	}
}
