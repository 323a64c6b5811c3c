package viewport_test

import (
	"image"
	"math"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"blik/app/view"
)

// passedKeys records the keys that a control does not use.
type passedKeys struct{ got []string }

func (p *passedKeys) Rune(r rune)          { p.got = append(p.got, string(r)) }
func (p *passedKeys) Key(e *fyne.KeyEvent) { p.got = append(p.got, string(e.Name)) }
func (*passedKeys) Down(*fyne.KeyEvent)    {}
func (*passedKeys) Up(*fyne.KeyEvent)      {}

// The keyboard moves the pointer, presses the tool and drags it beyond the edge of the viewport.
func TestKeyPointer(t *testing.T) {
	v, spy := newViewport(t)
	keys, on := &passedKeys{}, false
	v.SetKeys(keys, func(now bool) { on = now })
	c := fyne.CurrentApp().Driver().CanvasForObject(v)
	c.FocusNext()
	k, ok := c.Focused().(desktop.Keyable)
	if !ok || !on || !v.Hovering() {
		t.Fatalf("the Tab key leads to %T, on %v, pointer shown %v", c.Focused(), on, v.Hovering())
	}
	press := func(name fyne.KeyName) { k.TypedKey(&fyne.KeyEvent{Name: name}) }
	space := &fyne.KeyEvent{Name: fyne.KeySpace}
	at := func(x, y float64) {
		t.Helper()
		if math.Hypot(spy.last.At.X-x, spy.last.At.Y-y) > 1e-6 {
			t.Errorf("the tool is at %v, want %v, %v", spy.last.At, x, y)
		}
	}

	// A finding in the middle is under the pointer.
	v.Centre(image.Rect(990, 490, 1010, 510), 1)
	spy.calls = nil
	k.KeyDown(space)
	press(fyne.KeySpace)
	k.TypedRune(' ')
	at(1000, 500)
	press(fyne.KeyRight)
	press(fyne.KeyRight)
	press(fyne.KeyUp)
	at(1020, 490)
	k.KeyUp(space)
	if want := []string{"press", "move", "move", "move", "release"}; !slices.Equal(spy.calls, want) {
		t.Errorf("the tool got %v, want %v", spy.calls, want)
	}
	// At the edge of 400 × 300 the picture moves.
	k.KeyDown(space)
	for range 20 {
		press(fyne.KeyRight)
	}
	at(1220, 490)
	k.KeyUp(space)
	if got, want := v.Transform().X, 1220.-370; math.Abs(got-want) > 1e-6 {
		t.Errorf("the view begins at %v, want %v", got, want)
	}

	k.TypedRune('k')
	press(fyne.KeyF5)
	if want := []string{"k", "F5"}; !slices.Equal(keys.got, want) {
		t.Errorf("passed on are %v, want %v", keys.got, want)
	}
	k.KeyDown(space)
	v.ToggleKeys()
	if c.Focused() != nil || on || v.Hovering() || !v.Idle() {
		t.Errorf("afterwards %v has the focus, pointer shown %v, idle %v", c.Focused(), v.Hovering(), v.Idle())
	}
	v.ToggleKeys()
	if c.Focused() == nil {
		t.Error("the keyboard does not get the pointer again")
	}
	v.SetPicture((*view.Pyramid)(nil), nil)
	c.Unfocus()
	if v.ToggleKeys(); c.Focused() != nil {
		t.Error("there is nothing to point at")
	}
}

// A click on the picture takes the focus from a text field, as the toolkit does it where nothing can have the focus.
func TestKeyPointerHasNoSize(t *testing.T) {
	v, _ := newViewport(t)
	v.SetKeys(&passedKeys{}, func(bool) {})
	c := fyne.CurrentApp().Driver().CanvasForObject(v)
	c.FocusNext()
	if size := c.Focused().(fyne.CanvasObject).Size(); !size.IsZero() {
		t.Errorf("the widget covers %v", size)
	}
}
