package tool

import (
	"math"

	"blik/app/document"
	"blik/processing"
)

// Lasso draws around an area by hand: all inside is marked, or with the right button taken out of the mask, or with
// Shift all outside is.
type Lasso struct {
	idle
	host  LassoHost
	draft *processing.Region
	how   document.Combine
}

// LassoHost holds the mask that the lasso changes.
type LassoHost interface {
	// FillShape changes the mask by an area.
	FillShape(r *processing.Region, how document.Combine)
	// DraftChanged is called when the outline to show changed.
	DraftChanged()
}

// NewLasso returns a lasso.
func NewLasso(host LassoHost) *Lasso { return &Lasso{host: host} }

// Draft returns the area as far as it is drawn, nil for none.
func (t *Lasso) Draft() *processing.Region { return t.draft }

// Press begins an area.
func (t *Lasso) Press(e Event) {
	t.how = document.Add
	switch {
	case e.Secondary:
		t.how = document.Subtract
	case e.Shift:
		t.how = document.Intersect
	}
	t.draft = &processing.Region{Shape: processing.PolygonShape, Points: []processing.Point{e.At}}
	t.host.DraftChanged()
}

// leastStep is how far the pointer has to move, in image pixels, for another corner.
const leastStep = 0.5

// Move draws on.
func (t *Lasso) Move(e Event) {
	if t.draft == nil {
		return
	}
	last := t.draft.Points[len(t.draft.Points)-1]
	if math.Hypot(e.At.X-last.X, e.At.Y-last.Y) >= leastStep {
		t.draft.Points = append(t.draft.Points, e.At)
		t.host.DraftChanged()
	}
}

// Release closes the area. One of fewer than three corners is dropped.
func (t *Lasso) Release() {
	r := t.draft
	if r == nil {
		return
	}
	t.draft = nil
	if len(r.Points) >= 3 {
		t.host.FillShape(r, t.how)
	}
	t.host.DraftChanged()
}

// Cancel drops the area.
func (t *Lasso) Cancel() {
	t.draft = nil
	t.host.DraftChanged()
}

// Pointer is a cross.
func (*Lasso) Pointer(Event) Pointer { return Cross }
