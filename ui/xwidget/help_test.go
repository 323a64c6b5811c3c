package xwidget

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/test"
)

// The Tab key shows the help of the control that gets the focus, beside it; a click shows none.
func TestHelpOfFocused(t *testing.T) {
	test.NewTempApp(t)
	tips := NewTooltips()
	settle := stopClock(tips)
	label := NewHelpLabel("Radius", "How far it reaches", tips)
	entry := NewNumberEntry(60, func(string) {})
	keys := &keyLog{}
	slider := NewSlider(0, 1, 0.1, keys)
	controls := []interface {
		explained
		fyne.Focusable
		fyne.CanvasObject
	}{entry, slider, NewCheck("", keys, func(bool) {}), NewSelect([]string{"a", "b"}, keys, func(string) {}),
		NewRadio([]string{"a", "b"}, keys, nil), NewButton("Go", keys, func() {})}
	column := container.NewVBox(label)
	for _, c := range controls {
		label.Explain(c)
		column.Add(c)
	}
	// The controls are on the right, like the panel.
	w := test.NewTempWindow(t, container.NewStack(container.NewHBox(layout.NewSpacer(), column), tips.Layer))
	w.Resize(fyne.NewSize(600, 400))
	tab := &fyne.KeyEvent{Name: fyne.KeyTab}
	for i, c := range controls {
		w.Canvas().Focus(c)
		settle()
		if tips.box.Visible() {
			t.Errorf("control %d: a click shows the help", i)
		}
		w.Canvas().Unfocus()
		tips.Pressed(tab)
		w.Canvas().Focus(c)
		tips.Released(tab)
		settle()
		if !tips.box.Visible() || tips.label.Text != "How far it reaches" {
			t.Errorf("control %d: the Tab key shows %q, visible %v", i, tips.label.Text, tips.box.Visible())
		}
		if right := tips.box.Position().X + tips.box.Size().Width; right > column.Position().X {
			t.Errorf("control %d: the help reaches to %v, over the controls that begin at %v", i, right, column.Position().X)
		}
		w.Canvas().Unfocus()
		if tips.box.Visible() {
			t.Errorf("control %d: the help is still shown without the focus", i)
		}
	}
	// A focused field gets all keys, so it handles the Tab key itself.
	entry.KeyDown(tab)
	w.Canvas().Focus(slider)
	slider.keys.Up(tab)
	settle()
	if !tips.box.Visible() {
		t.Fatal("the Tab key in a field shows no help of the next control")
	}
	slider.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	if tips.box.Visible() {
		t.Error("the help covers the picture that a slider changes")
	}
	w.Canvas().Focus(entry)
	entry.KeyUp(tab)
	w.Canvas().Focus(slider)
	settle()
	if tips.box.Visible() {
		t.Error("a click after the Tab key shows the help")
	}
}
