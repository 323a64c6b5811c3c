// Package tool holds what the pointer does to the picture: painting, picking findings, drawing a search region.
//
// A tool knows only image coordinates, so that it is tested without a window. The viewport promises each tool the same
// order of calls, whatever the window system loses: Press, any number of Move, then exactly one of Release and Cancel;
// Hover only in between.
package tool

import "blik/processing"

// Event is what the pointer does.
type Event struct {
	// At is where, in image coordinates; it may lie outside the picture.
	At processing.Point
	// Slack is the distance, in image pixels, within which something still counts as hit.
	Slack float64
	// Secondary is set for the right button.
	Secondary bool
	Shift     bool
}

// Tool is one way to work on the picture.
type Tool interface {
	Press(e Event)
	Move(e Event)
	Release()
	// Cancel takes back what Press began.
	Cancel()
	Hover(e Event)
	// Pointer says what the pointer looks like at an event's place.
	Pointer(e Event) Pointer
}

// Pointer is the look of the pointer over the picture.
type Pointer uint8

// The looks.
const (
	Arrow Pointer = iota
	Hand
	Cross
	// Ring is a circle of the size of the brush; the viewport draws it.
	Ring
	ResizeX
	ResizeY
)

// idle ignores all events; tools embed it for those that mean nothing to them.
type idle struct{}

// Press is ignored.
func (idle) Press(Event) {}

// Move is ignored.
func (idle) Move(Event) {}

// Release is ignored.
func (idle) Release() {}

// Cancel is ignored.
func (idle) Cancel() {}

// Hover is ignored.
func (idle) Hover(Event) {}

// Pan moves the picture; the viewport does it itself, as it does for other tools while the space bar is held.
type Pan struct{ idle }

// Pointer is a hand.
func (Pan) Pointer(Event) Pointer { return Hand }
