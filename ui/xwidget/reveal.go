package xwidget

import (
	"reflect"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// reveal scrolls an object in scrolled areas into view if less than half of its height or width is visible: the Tab key
// can move the focus to objects out of view. An object focused by a click is visible and is not scrolled.
func reveal(o fyne.CanvasObject) {
	driver := fyne.CurrentApp().Driver()
	c := driver.CanvasForObject(o)
	if c == nil {
		return
	}
	root := c.Overlays().Top()
	if root == nil {
		root = c.Content()
	}
	scrolls, ok := scrollsAround(root, o)
	if !ok {
		return
	}
	for _, s := range slices.Backward(scrolls) {
		at := driver.AbsolutePositionForObject(o).Subtract(driver.AbsolutePositionForObject(s))
		to := s.Offset
		to.X += shift(at.X, o.Size().Width, s.Size().Width)
		to.Y += shift(at.Y, o.Size().Height, s.Size().Height)
		if to != s.Offset {
			s.ScrollToOffset(to)
		}
	}
}

// revealGap is the margin around an object scrolled into view, in Fyne units.
const revealGap = 8

// shift returns how far a view has to move to show what begins at at.
func shift(at, size, view float32) float32 {
	if seen := min(at+size, view) - max(at, 0); 2*seen >= size || size <= 0 {
		return 0
	}
	if at < 0 {
		return at - revealGap
	}
	return at + size - view + revealGap
}

// scrollsAround returns the scrolled areas around o below root, the outermost first; ok is false if o is not below
// root.
func scrollsAround(root, o fyne.CanvasObject) (scrolls []*container.Scroll, ok bool) {
	if root == o {
		return nil, true
	}
	if root == nil || !root.Visible() {
		return nil, false
	}
	var inner []fyne.CanvasObject
	switch r := root.(type) {
	case *fyne.Container:
		inner = r.Objects
	case *container.AppTabs:
		if t := r.Selected(); t != nil {
			inner = []fyne.CanvasObject{t.Content}
		}
	case *container.Split:
		inner = []fyne.CanvasObject{r.Leading, r.Trailing}
	default:
		if o, ok := content(root); ok {
			inner = []fyne.CanvasObject{o}
		}
	}
	for _, i := range inner {
		if scrolls, ok := scrollsAround(i, o); ok {
			if s, is := root.(*container.Scroll); is {
				scrolls = append([]*container.Scroll{s}, scrolls...)
			}
			return scrolls, true
		}
	}
	return nil, false
}

// content returns the field Content of a widget, such as a scrolled area or a dialog, whose outermost type the toolkit
// does not export.
func content(of fyne.CanvasObject) (o fyne.CanvasObject, ok bool) {
	v := reflect.Indirect(reflect.ValueOf(of))
	if v.Kind() != reflect.Struct {
		return nil, false
	}
	if f := v.FieldByName("Content"); f.IsValid() && f.CanInterface() {
		o, ok = f.Interface().(fyne.CanvasObject)
	}
	return o, ok
}
