// Package uitest finds objects in trees of Fyne objects and writes large pictures, for tests.
package uitest

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// Find returns the visible objects of a type in and below o, in the order of the tree.
func Find[T fyne.CanvasObject](o fyne.CanvasObject) []T {
	if o == nil || !o.Visible() {
		return nil
	}
	var all []T
	if x, ok := o.(T); ok {
		all = append(all, x)
	}
	var children []fyne.CanvasObject
	switch x := o.(type) {
	case *fyne.Container:
		children = x.Objects
	case fyne.Widget:
		children = test.WidgetRenderer(x).Objects()
	}
	for _, c := range children {
		all = append(all, Find[T](c)...)
	}
	return all
}
