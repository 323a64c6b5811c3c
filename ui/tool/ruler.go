package tool

import (
	"math"

	"blik/processing"
)

// Ruler measures a dragged line, which stays until the next press.
type Ruler struct {
	idle
	// Changed is called with the ends of the line; measured is false if there is no line.
	Changed func(from, to processing.Point, measured bool)

	from, to processing.Point
	drawing  bool
}

// Press begins a line; the right button removes it.
func (r *Ruler) Press(e Event) {
	if e.Secondary {
		r.Changed(r.from, r.to, false)
		return
	}
	r.from, r.to, r.drawing = e.At, e.At, true
	r.Changed(r.from, r.to, false)
}

// Move draws the line; with Shift it is horizontal or vertical.
func (r *Ruler) Move(e Event) {
	if !r.drawing {
		return
	}
	r.to = e.At
	if e.Shift {
		if math.Abs(r.to.X-r.from.X) >= math.Abs(r.to.Y-r.from.Y) {
			r.to.Y = r.from.Y
		} else {
			r.to.X = r.from.X
		}
	}
	r.Changed(r.from, r.to, r.to != r.from)
}

// Release ends the line.
func (r *Ruler) Release() { r.drawing = false }

// Cancel removes the line.
func (r *Ruler) Cancel() {
	r.drawing = false
	r.Changed(r.from, r.to, false)
}

func (*Ruler) Pointer(Event) Pointer { return Cross }
