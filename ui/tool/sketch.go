package tool

import (
	"math"

	"blik/processing"
)

// sketch is an outline being drawn. A polygon is drawn corner by corner with clicks.
type sketch struct {
	draft *processing.Region
	// open is set while the corners of a polygon are being clicked; the last point follows the pointer.
	open bool
	// done receives a finished polygon; changed is called when the outline to show changes.
	done    func(*processing.Region)
	changed func()
}

// Open reports whether a polygon is unfinished.
func (s *sketch) Open() bool { return s.open }

// Hover moves the last point of an unfinished polygon.
func (s *sketch) Hover(e Event) {
	if s.open {
		s.draft.Points[len(s.draft.Points)-1] = e.At
		s.changed()
	}
}

// Finish closes an unfinished polygon; one with fewer than three corners is dropped.
func (s *sketch) Finish() {
	if !s.open {
		return
	}
	r := s.draft
	s.open, s.draft = false, nil
	r.Points = r.Points[:len(r.Points)-1]
	if len(r.Points) >= 3 {
		s.done(r)
	}
	s.changed()
}

// Back removes the last corner of an unfinished polygon, and with the first corner the polygon.
func (s *sketch) Back() {
	if !s.open {
		return
	}
	p := s.draft.Points
	if len(p) <= 2 {
		s.Abandon()
		return
	}
	p[len(p)-2] = p[len(p)-1]
	s.draft.Points = p[:len(p)-1]
	s.changed()
}

// Abandon drops what is being drawn.
func (s *sketch) Abandon() {
	s.open, s.draft = false, nil
	s.changed()
}

// begin starts a polygon.
func (s *sketch) begin(e Event) {
	s.open = true
	s.draft = &processing.Region{Shape: processing.PolygonShape, Points: []processing.Point{e.At, e.At}}
	s.changed()
}

// addCorner sets the point under the pointer. On the first corner, or with the right button, it closes the polygon.
func (s *sketch) addCorner(e Event) {
	p := s.draft.Points
	if e.Secondary || len(p) > 3 && math.Hypot(e.At.X-p[0].X, e.At.Y-p[0].Y) <= e.Slack {
		s.Finish()
		return
	}
	p[len(p)-1] = e.At
	s.draft.Points = append(p, e.At)
	s.changed()
}
