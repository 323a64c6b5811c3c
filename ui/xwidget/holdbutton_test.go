package xwidget

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2/test"
)

func TestHoldButton(t *testing.T) {
	test.NewTempApp(t)
	var reported []bool
	b := NewHoldButton("hold", "help", NewTooltips(), func(held bool) { reported = append(reported, held) })
	test.NewTempWindow(t, b)
	b.SetEnabled(false)
	b.MouseDown(nil)
	b.MouseUp(nil)
	b.MouseOut()
	if len(reported) != 0 {
		t.Errorf("a disabled button reported %v", reported)
	}
	b.SetEnabled(true)
	b.MouseDown(nil)
	b.MouseDown(nil)
	b.MouseOut()
	b.MouseUp(nil)
	b.MouseDown(nil)
	b.MouseUp(nil)
	if want := []bool{true, false, true, false}; !slices.Equal(reported, want) {
		t.Errorf("reported %v, want %v", reported, want)
	}
}
