package tool

import (
	"testing"

	"blik/processing"
)

// A drag is measured, even outside the picture; a click is not, and Shift keeps to the axes.
func TestRuler(t *testing.T) {
	t.Parallel()
	type line struct {
		from, to processing.Point
		measured bool
	}
	var got line
	r := &Ruler{Changed: func(from, to processing.Point, measured bool) { got = line{from, to, measured} }}
	at := func(x, y float64) Event { return Event{At: processing.Point{X: x, Y: y}} }
	r.Move(at(1, 1))
	if got != (line{}) {
		t.Errorf("a move without a press: %+v", got)
	}
	r.Press(at(2, 3))
	r.Release()
	if got.measured {
		t.Errorf("a click: %+v", got)
	}
	r.Press(at(2, 3))
	r.Move(at(-40, 9))
	want := line{processing.Point{X: 2, Y: 3}, processing.Point{X: -40, Y: 9}, true}
	if got != want {
		t.Errorf("a drag: %+v", got)
	}
	for _, c := range []struct{ x, y, wantX, wantY float64 }{{12, 9, 12, 3}, {7, -30, 2, -30}, {12, 13, 12, 3}} {
		e := at(c.x, c.y)
		e.Shift = true
		r.Move(e)
		if got.to != (processing.Point{X: c.wantX, Y: c.wantY}) {
			t.Errorf("to (%v, %v) with Shift: %+v", c.x, c.y, got)
		}
	}
	r.Release()
	r.Move(at(99, 99))
	if !got.measured || got.to.X == 99 {
		t.Errorf("after the release: %+v", got)
	}
	e := at(0, 0)
	e.Secondary = true
	r.Press(e)
	if got.measured {
		t.Error("the right button does not remove the line")
	}
	r.Press(at(0, 0))
	r.Move(at(5, 5))
	r.Cancel()
	if got.measured || r.Pointer(at(0, 0)) != Cross {
		t.Errorf("after a cancel: %+v", got)
	}
}
