// Package tool holds the pointer tools: painting, picking findings, drawing a search region.
//
// A tool uses only image coordinates, so that it can be tested without a window. The viewport guarantees each tool the
// same order of calls, even if the window system loses events: Press, any number of Move, then exactly one of Release
// and Cancel; Hover only in between.
package tool

import "blik/processing"

// Event is a pointer event.
type Event struct {
	// At is the position in image coordinates; it may be outside the picture.
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
	// Cancel undoes what Press began.
	Cancel()
	Hover(e Event)
	// Pointer returns the shape of the pointer at an event's position.
	Pointer(e Event) Pointer
}

// Pointer is the shape of the pointer over the picture.
type Pointer uint8

// The shapes of the pointer.
const (
	Arrow Pointer = iota
	Hand
	Cross
	// Ring is a circle of the size of the brush; the viewport draws it.
	Ring
	ResizeX
	ResizeY
)

// idle ignores all events; tools embed it for events that they do not use.
type idle struct{}

func (idle) Press(Event) {}
func (idle) Move(Event)  {}
func (idle) Release()    {}
func (idle) Cancel()     {}
func (idle) Hover(Event) {}

// Pan moves the picture. The viewport does that itself, as for other tools while the space bar is held.
type Pan struct{ idle }

func (Pan) Pointer(Event) Pointer { return Hand }
