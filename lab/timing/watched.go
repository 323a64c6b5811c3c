package timing

import "fyne.io/fyne/v2"

// watched reports the positions of controls, for tests that click on them.
type watched struct {
	inner fyne.Layout
	v     *View
}

// Layout lays out the content and then reports the positions.
func (w *watched) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	w.inner.Layout(objects, size)
	w.v.Later(w.v.notePlaces)
}

// MinSize is that of the content.
func (w *watched) MinSize(objects []fyne.CanvasObject) fyne.Size { return w.inner.MinSize(objects) }

// notePlaces reports the centres of controls, in device pixels of the view's window, and the window's size.
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

// notePage reports the current page, after the positions of its controls, which are known only now.
func (v *View) notePage() {
	v.notePlaces()
	v.note("page %d", v.tabs.SelectedIndex())
}
