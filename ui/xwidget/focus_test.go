package xwidget

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// strokes returns the width of the ring of a widget.
func strokes(w fyne.Widget) float32 {
	return test.WidgetRenderer(w).Objects()[0].(*canvas.Rectangle).StrokeWidth
}

// The Tab key reaches enabled buttons, and the focused one shows a ring.
func TestFocusOfButtons(t *testing.T) {
	test.NewTempApp(t)
	taps, held := 0, false
	keys := &keyLog{}
	tips := NewTooltips()
	tool := NewToolButton(theme.HomeIcon(), "", tips, func() { taps++ })
	grey := NewToolButton(theme.HomeIcon(), "", tips, func() { t.Error("a grey button is pressed") })
	hold := NewHoldButton("Hold", "", tips, func(on bool) { held = on })
	tool.Keys, hold.Keys = keys, keys
	grey.Disable()
	w := test.NewTempWindow(t, container.NewHBox(tool, grey, hold, widget.NewEntry()))
	c := w.Canvas()
	c.FocusNext()
	if c.Focused() != fyne.Focusable(tool) || strokes(tool) == 0 || strokes(hold) != 0 {
		t.Fatalf("%T has the focus", c.Focused())
	}
	tool.TypedRune(' ')
	tool.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	tool.TypedKey(&fyne.KeyEvent{Name: fyne.KeyF5})
	tool.TypedRune('n')
	if taps != 2 || keys.got != "F5n" {
		t.Errorf("pressed %d times, passed on %q", taps, keys.got)
	}
	c.FocusNext()
	if c.Focused() != fyne.Focusable(hold) || strokes(tool) != 0 || strokes(hold) == 0 {
		t.Fatalf("%T has the focus", c.Focused())
	}
	hold.KeyDown(&fyne.KeyEvent{Name: fyne.KeySpace})
	if !held {
		t.Error("the space bar does not press the button")
	}
	c.FocusNext()
	if held || strokes(hold) != 0 {
		t.Error("the button is still held without the focus")
	}
	c.FocusPrevious()
	hold.KeyDown(&fyne.KeyEvent{Name: fyne.KeySpace})
	hold.KeyUp(&fyne.KeyEvent{Name: fyne.KeySpace})
	if held {
		t.Error("the button is still held after the space bar was released")
	}
	// A click does not set the focus.
	c.Focus(tool)
	test.Tap(tool)
	if c.Focused() != nil {
		t.Errorf("%T has the focus after a click", c.Focused())
	}
}

// keyLog records the keys passed on.
type keyLog struct{ got string }

func (k *keyLog) Rune(r rune)          { k.got += string(r) }
func (k *keyLog) Key(e *fyne.KeyEvent) { k.got += string(e.Name) }
func (k *keyLog) Down(*fyne.KeyEvent)  {}
func (k *keyLog) Up(*fyne.KeyEvent)    {}
