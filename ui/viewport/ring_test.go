package viewport

import (
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// A visible ring of any size is closed and stays near its circle; a hidden one shows nothing.
func TestRing(t *testing.T) {
	t.Parallel()
	r := newBrushRing()
	at := fyne.NewPos(300, 200)
	for _, radius := range []float64{1.5, 20, 60, 61, 500, 2000, 30, 700} {
		r.set(true, at, radius/2, 2)
		circles, lines := 0, []*canvas.Line(nil)
		for _, o := range r.objects() {
			switch o := o.(type) {
			case *canvas.Circle:
				if o.Visible() {
					circles++
					if got := float64(o.Size().Width) / 2; math.Abs(got-radius/2) > 2 {
						t.Errorf("radius %g: a circle of %g", radius/2, got)
					}
				}
			case *canvas.Line:
				if o.Visible() {
					lines = append(lines, o)
				}
			}
		}
		if wide := radius > largestCircle; wide != (len(lines) > 0) || wide == (circles == 2) {
			t.Fatalf("radius %g: %d circles and %d lines", radius, circles, len(lines))
		}
		off := func(p fyne.Position) float64 {
			return math.Abs(math.Hypot(float64(p.X-at.X), float64(p.Y-at.Y))-radius/2) * 2
		}
		for i, l := range lines {
			middle := fyne.NewPos((l.Position1.X+l.Position2.X)/2, (l.Position1.Y+l.Position2.Y)/2)
			next := lines[(i+1)%(len(lines)/2)+i/(len(lines)/2)*(len(lines)/2)]
			if off(l.Position1) > 0.01 || off(middle) > 0.5 || l.Position2 != next.Position1 {
				t.Fatalf("radius %g, line %d: %v to %v, next from %v", radius, i, l.Position1, l.Position2,
					next.Position1)
			}
		}
	}
	r.set(false, at, 500, 1)
	for _, o := range r.objects() {
		if o.Visible() {
			t.Errorf("hidden: %T is visible", o)
		}
	}
}
