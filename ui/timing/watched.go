package timing

import "fyne.io/fyne/v2"

// watched reports where controls are, for tests that click on them.
type watched struct {
	inner fyne.Layout
	v     *View
}

// Layout arranges the content and reports the places that came of it.
func (w *watched) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	w.inner.Layout(objects, size)
	w.v.Dispatch(w.v.notePlaces)
}

// MinSize is that of the content.
func (w *watched) MinSize(objects []fyne.CanvasObject) fyne.Size { return w.inner.MinSize(objects) }

// notePlaces reports the middle of controls in device pixels of the view's window, with its size.
func (v *View) notePlaces() {
	driver, scale := fyne.CurrentApp().Driver(), v.win.Canvas().Scale()
	window := v.win.Canvas().Size()
	for name, o := range map[string]fyne.CanvasObject{
		"picture": v.detection.picture.box, "repeat": v.detection.repeat, "csv": v.detection.save.tables[0],
		"experiment": v.experiments.choice,
	} {
		at, size := driver.AbsolutePositionForObject(o), o.Size()
		v.Note("at %s %.0f %.0f %.0f %.0f", name, (at.X+size.Width/2)*scale, (at.Y+size.Height/2)*scale,
			window.Width*scale, window.Height*scale)
	}
}

// notePage reports the page in front, after the places of its controls, which it has only now.
func (v *View) notePage() {
	v.notePlaces()
	v.note("page %d", v.tabs.SelectedIndex())
}
