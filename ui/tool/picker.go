package tool

import (
	"image"
	"math"

	"blik/processing"
)

// Picker takes a finding out of the mask at a click, and puts it back at the next one.
type Picker struct {
	// Toggle gets the place of the click and the distance within which a finding counts as hit.
	Toggle func(at processing.Point, slack float64)
	// Hit says whether a click there would do something; it may be nil.
	Hit func(at processing.Point, slack float64) bool
}

// Press toggles the finding under the pointer.
func (p *Picker) Press(e Event) {
	if !e.Secondary {
		p.Toggle(e.At, e.Slack)
	}
}

// Move does nothing.
func (p *Picker) Move(Event) {}

// Release does nothing.
func (p *Picker) Release() {}

// Cancel does nothing.
func (p *Picker) Cancel() {}

// Hover does nothing.
func (p *Picker) Hover(Event) {}

// Pointer is a hand over a finding.
func (p *Picker) Pointer(e Event) Pointer {
	if p.Hit != nil && p.Hit(e.At, e.Slack) {
		return Hand
	}
	return Arrow
}

// Nearest returns the index of the box that is nearest to a point and no further than slack, or −1.
// Among boxes that hold the point, the smallest wins, so that a small finding is not hidden by a large one's box.
func Nearest(boxes []image.Rectangle, at processing.Point, slack float64) int {
	best, bestDistance, bestArea := -1, slack, math.MaxInt
	for i, b := range boxes {
		dx := math.Max(0, math.Max(float64(b.Min.X)-at.X, at.X-float64(b.Max.X)))
		dy := math.Max(0, math.Max(float64(b.Min.Y)-at.Y, at.Y-float64(b.Max.Y)))
		d, area := math.Hypot(dx, dy), b.Dx()*b.Dy()
		if d < bestDistance || d == bestDistance && area < bestArea {
			best, bestDistance, bestArea = i, d, area
		}
	}
	return best
}
