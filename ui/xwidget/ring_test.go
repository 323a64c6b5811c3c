package xwidget

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// ringOf returns the width of the ring in front of one of the toolkit's controls.
func ringOf(w fyne.CanvasObject) float32 {
	objects := test.WidgetRenderer(w.(fyne.Widget)).Objects()
	return objects[len(objects)-1].(*canvas.Rectangle).StrokeWidth
}

// Every focused control shows a ring and passes on letters that it does not use.
func TestRings(t *testing.T) {
	test.NewTempApp(t)
	log := &keyLog{}
	create := func() fyne.CanvasObject { return widget.NewLabel("") }
	show := func(int, fyne.CanvasObject) {}
	one := func() int { return 1 }
	table := NewSortTable([]float32{40, 40}, log)
	controls := []fyne.CanvasObject{
		NewButton("Find", log, func() {}), NewSlider(0, 1, 0.1, log), NewCheck("on", log, nil),
		NewSelect([]string{"a"}, log, nil), NewRadio([]string{"a", "b"}, log, nil), NewList(one, create, show, log),
		NewGrid(one, create, show, log), table,
	}
	c := test.NewTempWindow(t, container.NewVBox(controls...)).Canvas()
	for i, o := range controls {
		c.FocusNext()
		if c.Focused() != o.(fyne.Focusable) {
			t.Fatalf("%T has the focus instead of %T", c.Focused(), o)
		}
		for j, other := range controls {
			if on := ringOf(other) > 0; on != (i == j) {
				t.Errorf("focus on %T: ring around %T is %v", o, other, on)
			}
		}
		log.got = ""
		c.Focused().TypedRune('b')
		c.Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyF5})
		if log.got != "bF5" {
			t.Errorf("%T passed on %q", o, log.got)
		}
	}
	c.Unfocus()
	if ringOf(table) != 0 {
		t.Error("the ring is still shown")
	}
}

func TestButtonByKeys(t *testing.T) {
	test.NewTempApp(t)
	n := 0
	b := NewButton("Find", &keyLog{}, func() { n++ })
	c := test.NewTempWindow(t, b).Canvas()
	c.Focus(b)
	b.TypedRune(' ')
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if n != 2 || c.Focused() != fyne.Focusable(b) {
		t.Errorf("pressed %d times, the focus is on %T", n, c.Focused())
	}
	b.Disable()
	b.TypedRune(' ')
	test.Tap(b)
	if n != 2 || c.Focused() != nil {
		t.Errorf("pressed %d times, the focus is on %T", n, c.Focused())
	}
}

func TestRadio(t *testing.T) {
	test.NewTempApp(t)
	var chosen []string
	r := NewRadio([]string{"a", "b", "c"}, &keyLog{}, func(s string) { chosen = append(chosen, s) })
	r.Horizontal = true
	c := test.NewTempWindow(t, r).Canvas()
	c.Focus(r)
	for _, k := range []fyne.KeyName{fyne.KeyLeft, fyne.KeyRight, fyne.KeyDown, fyne.KeyRight, fyne.KeyUp} {
		r.TypedKey(&fyne.KeyEvent{Name: k})
	}
	items := test.WidgetRenderer(r).Objects()
	test.Tap(items[0].(*radioItem))
	if want := []string{"b", "c", "b", "a"}; !slices.Equal(chosen, want) || c.Focused() != nil {
		t.Errorf("chose %q, expected %q; the focus is on %T", chosen, want, c.Focused())
	}
	r.Disable()
	test.Tap(items[1].(*radioItem))
	r.SetSelected("z")
	if r.Selected != "a" {
		t.Errorf("%q is chosen", r.Selected)
	}
}

// The arrow keys move a ring through the heads of a table, and Enter and the space bar click the head with the ring.
func TestHeadsByKeys(t *testing.T) {
	test.NewTempApp(t)
	log := &keyLog{}
	table := NewSortTable([]float32{60, 60, 60}, log)
	table.Head = func(column int) string { return string(rune('a' + column)) }
	table.Rows = func() int { return 3 }
	var heads, steps []int
	table.OnHead = func(column int) { heads = append(heads, column) }
	table.OnStep = func(by int) { steps = append(steps, by) }
	w := test.NewTempWindow(t, table)
	w.Resize(fyne.NewSize(300, 200))
	w.Canvas().Focus(table)
	key := func(k fyne.KeyName) { table.TypedKey(&fyne.KeyEvent{Name: k}) }
	rings := func() (on []int) {
		for _, h := range headsOf(table) {
			if h.ring.StrokeWidth > 0 {
				on = append(on, h.column)
			}
		}
		return on
	}
	table.TypedRune(' ')
	key(fyne.KeyReturn)
	if heads != nil || rings() != nil || log.got != " Return" {
		t.Fatalf("without a ring: heads %v, rings %v, passed on %q", heads, rings(), log.got)
	}
	for range 5 {
		key(fyne.KeyRight)
	}
	if got := rings(); !slices.Equal(got, []int{2}) {
		t.Errorf("rings around %v", got)
	}
	key(fyne.KeyReturn)
	key(fyne.KeyLeft)
	table.TypedRune(' ')
	if !slices.Equal(heads, []int{2, 1}) {
		t.Errorf("clicked %v", heads)
	}
	key(fyne.KeyDown)
	if got := rings(); got != nil || !slices.Equal(steps, []int{1}) {
		t.Errorf("after a step: rings %v, steps %v", got, steps)
	}
	key(fyne.KeyRight)
	w.Canvas().Unfocus()
	if got := rings(); got != nil {
		t.Errorf("without the focus: rings %v", got)
	}
}

// headsOf returns the heads of a table that are shown.
func headsOf(o fyne.CanvasObject) (all []*tableHead) {
	if !o.Visible() {
		return nil
	}
	var inner []fyne.CanvasObject
	switch x := o.(type) {
	case *tableHead:
		return []*tableHead{x}
	case *fyne.Container:
		inner = x.Objects
	case fyne.Widget:
		inner = test.WidgetRenderer(x).Objects()
	}
	for _, i := range inner {
		all = append(all, headsOf(i)...)
	}
	return all
}
