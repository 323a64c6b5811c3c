package xwidget

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
)

// Two objects share the room evenly and have captions; one alone has all of it and none.
func TestPair(t *testing.T) {
	test.NewTempApp(t)
	left, right := canvas.NewRectangle(nil), canvas.NewRectangle(nil)
	box := container.New(PairLayout{}, left, right, NewCaption("a"), NewCaption("b"))
	box.Resize(fyne.NewSize(205, 50))
	if left.Size() != right.Size() || left.Size() != fyne.NewSize(101, 50) || right.Position() != fyne.NewPos(104, 0) {
		t.Errorf("%v and %v at %v", left.Size(), right.Size(), right.Position())
	}
	for i, o := range box.Objects[2:] {
		if at := o.Position(); !o.Visible() || at.X < box.Objects[i].Position().X || at.X > box.Objects[i].Position().X+20 {
			t.Errorf("caption %d at %v, visible %v", i, at, o.Visible())
		}
	}
	left.Hide()
	box.Refresh()
	if right.Size() != box.Size() || box.Objects[2].Visible() || box.Objects[3].Visible() {
		t.Errorf("alone it has %v, captions %v, %v", right.Size(), box.Objects[2].Visible(), box.Objects[3].Visible())
	}
}
