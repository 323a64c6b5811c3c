package xwidget

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// The Tab key scrolls to controls out of view, but does not scroll to visible ones.
func TestFocusScrolls(t *testing.T) {
	test.NewTempApp(t)
	box := container.NewVBox()
	var controls []fyne.Focusable
	for i := range 30 {
		var o fyne.CanvasObject
		switch i % 4 {
		case 0:
			o = NewSlider(0, 1, 0.1, &keyLog{})
		case 1:
			o = NewNumberEntry(80, func(string) {})
		case 2:
			o = NewButton("a", &keyLog{}, func() {})
		default:
			b := NewToolButton(theme.HomeIcon(), "", NewTooltips(), nil)
			o = b
		}
		controls = append(controls, o.(fyne.Focusable))
		box.Add(container.NewBorder(nil, nil, widget.NewLabel("name"), nil, o))
	}
	scroll := container.NewVScroll(box)
	w := test.NewTempWindow(t, container.NewAppTabs(container.NewTabItem("tab", scroll)))
	w.Resize(fyne.NewSize(300, 200))
	c := w.Canvas()
	for range 2 {
		for i, o := range controls {
			c.FocusNext()
			if c.Focused() != o {
				t.Fatalf("%T has the focus instead of control %d", c.Focused(), i)
			}
			driver := fyne.CurrentApp().Driver()
			at := driver.AbsolutePositionForObject(o.(fyne.CanvasObject)).Y - driver.AbsolutePositionForObject(scroll).Y
			if middle := at + o.(fyne.CanvasObject).Size().Height/2; middle < 0 || middle > scroll.Size().Height {
				t.Errorf("control %d with the focus lies at %g of %g", i, at, scroll.Size().Height)
			}
		}
	}
	before := scroll.Offset
	c.Unfocus()
	c.Focus(controls[len(controls)-1])
	if scroll.Offset != before {
		t.Errorf("scrolled from %v to %v for a visible control", before, scroll.Offset)
	}
}

// It does so in a dialog.
func TestFocusScrollsInDialog(t *testing.T) {
	test.NewTempApp(t)
	box := container.NewVBox()
	for range 30 {
		box.Add(NewButton("a", &keyLog{}, func() {}))
	}
	scroll := container.NewVScroll(box)
	w := test.NewTempWindow(t, widget.NewLabel("window"))
	w.Resize(fyne.NewSize(300, 200))
	dialog.ShowCustom("dialog", "Close", scroll, w)
	w.Canvas().Focus(box.Objects[29].(fyne.Focusable))
	if scroll.Offset.Y == 0 {
		t.Error("the control with the focus is not visible")
	}
}

func TestShift(t *testing.T) {
	for _, c := range []struct{ at, size, view, want float32 }{
		{0, 10, 100, 0}, {-4, 10, 100, 0}, {-6, 10, 100, -14}, {94, 10, 100, 0}, {96, 10, 100, 14},
		{-50, 10, 100, -58}, {300, 10, 100, 218}, {5, 0, 100, 0}, {-5, 300, 100, -13},
	} {
		if got := shift(c.at, c.size, c.view); got != c.want {
			t.Errorf("shift(%g, %g, %g) = %g, want %g", c.at, c.size, c.view, got, c.want)
		}
	}
}
