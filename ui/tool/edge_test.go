package tool

import (
	"math"
	"testing"

	"blik/app/document"
	"blik/internal/test/testpic"
	"blik/processing"
)

// canvas is a Painter on a document.
type canvas struct{ *document.Document }

func (c canvas) BeginStroke(b document.Brush, at processing.Point) {
	c.Document.BeginStroke(b, at.X, at.Y)
}
func (c canvas) StrokeTo(at processing.Point) { c.Document.StrokeTo(at.X, at.Y) }
func (c canvas) CancelStroke()                { c.Document.CancelStroke() }

// Strokes that leave the picture, even by far, come back elsewhere, or never touch it, mark exactly the pixels near
// their line. A cancel outside undoes everything, and a release outside completes one step.
func TestStrokesLeaveThePicture(t *testing.T) {
	t.Parallel()
	const w, h, radius = 37, 23, 4.5
	for name, path := range map[string][]processing.Point{
		"out":      {{X: 20, Y: 10}, {X: 60, Y: 12}},
		"and back": {{X: 5, Y: 5}, {X: -30, Y: -10}, {X: -8, Y: 40}, {X: 30, Y: 20}},
		"across":   {{X: -50, Y: -30}, {X: 90, Y: 60}},
		"far":      {{X: 18, Y: 11}, {X: 1e6, Y: -1e6}, {X: 18, Y: 22}},
		"beside":   {{X: -20, Y: 5}, {X: -9, Y: 20}},
		"corner":   {{X: 36.5, Y: 22.5}, {X: 45, Y: 31}},
	} {
		doc, err := document.New("a.png", testpic.Flat(w, h, 3, 100))
		if err != nil {
			t.Fatal(err)
		}
		for _, cancel := range []bool{true, false} {
			b := NewBrush(canvas{doc}, false, func() document.Brush { return document.Brush{Radius: radius} })
			b.Press(Event{At: path[0]})
			for _, p := range path[1:] {
				b.Move(Event{At: p})
			}
			if cancel {
				b.Cancel()
			} else {
				b.Release()
			}
			for i, v := range doc.Mask().Pix {
				d := distance(processing.Point{X: float64(i%w) + 0.5, Y: float64(i/w) + 0.5}, path)
				// Coordinates of a million pixels have no finer resolution than this.
				if math.Abs(d-radius) > 0.01 && (v != 0) != (d < radius && !cancel) {
					t.Fatalf("%s, cancelled %v: (%d, %d), %.2f from the line, holds %d", name, cancel, i%w, i/w, d, v)
				}
			}
		}
	}
}

// distance returns the distance of a point from a polyline.
func distance(p processing.Point, path []processing.Point) float64 {
	least := math.Inf(1)
	for i := range path[1:] {
		a, b := path[i], path[i+1]
		dx, dy := b.X-a.X, b.Y-a.Y
		s := ((p.X-a.X)*dx + (p.Y-a.Y)*dy) / (dx*dx + dy*dy)
		s = min(max(s, 0), 1)
		least = min(least, math.Hypot(p.X-a.X-s*dx, p.Y-a.Y-s*dy))
	}
	return least
}
