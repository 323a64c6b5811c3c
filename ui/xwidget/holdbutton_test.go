package xwidget

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2/test"
)

func TestHoldButton(t *testing.T) {
	test.NewTempApp(t)
	var told []bool
	b := NewHoldButton("hold", "help", NewTooltips(), func(held bool) { told = append(told, held) })
	test.NewTempWindow(t, b)
	b.SetEnabled(false)
	b.MouseDown(nil)
	b.MouseUp(nil)
	b.MouseOut()
	if len(told) != 0 {
		t.Errorf("a disabled button told %v", told)
	}
	b.SetEnabled(true)
	b.MouseDown(nil)
	b.MouseDown(nil)
	b.MouseOut()
	b.MouseUp(nil)
	b.MouseDown(nil)
	b.MouseUp(nil)
	if want := []bool{true, false, true, false}; !slices.Equal(told, want) {
		t.Errorf("told %v, expected %v", told, want)
	}
}
