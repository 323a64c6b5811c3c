package tool

import (
	"testing"

	"blik/processing"
)

// A click passes on its position once; the other button does nothing.
func TestWand(t *testing.T) {
	t.Parallel()
	var places []processing.Point
	w := &Wand{Touch: func(at processing.Point, slack float64) {
		if slack != 3 {
			t.Errorf("slack %g", slack)
		}
		places = append(places, at)
	}}
	e := Event{At: processing.Point{X: 5, Y: 6}, Slack: 3}
	w.Press(e)
	w.Move(Event{At: processing.Point{X: 50, Y: 6}, Slack: 3})
	w.Release()
	e.Secondary = true
	w.Press(e)
	w.Cancel()
	if len(places) != 1 || places[0] != (processing.Point{X: 5, Y: 6}) {
		t.Errorf("touched %v", places)
	}
	if w.Pointer(e) != Cross {
		t.Error("the pointer is not a cross")
	}
}
