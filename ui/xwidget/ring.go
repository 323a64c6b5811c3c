package xwidget

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
)

// ringWidth is the width of the focus ring in Fyne units.
const ringWidth = 2

// ShowRing shows or hides the focus ring on a rectangle. The caller refreshes the rectangle.
func ShowRing(r *canvas.Rectangle, on bool) {
	r.StrokeWidth, r.StrokeColor = 0, color.Transparent
	if on {
		r.StrokeWidth, r.StrokeColor = ringWidth, theme.Color(theme.ColorNamePrimary)
	}
}

// ringed adds this package's focus ring to one of the toolkit's controls. What the toolkit itself shows differs from
// control to control, and some of it is barely visible.
type ringed struct {
	ring    *canvas.Rectangle
	focused bool
	// filled is set if the control has the colour of the ring, which then has that of text.
	filled bool
	help   *HelpLabel
}

// explainBy is part of explained.
func (r *ringed) explainBy(l *HelpLabel) { r.help = l }

// show shows or hides the ring of a control, and scrolls a focused control into view.
func (r *ringed) show(self fyne.CanvasObject, on bool) {
	r.focused = on
	if on {
		reveal(self)
	}
	r.help.focused(on)
	if r.ring != nil {
		r.paint()
	}
}

// around returns the renderer of the control with the ring in front.
func (r *ringed) around(inner fyne.WidgetRenderer) fyne.WidgetRenderer {
	r.ring = canvas.NewRectangle(color.Transparent)
	r.ring.CornerRadius = 4
	r.paint()
	return &ringRenderer{inner, r}
}

func (r *ringed) paint() {
	ShowRing(r.ring, r.focused)
	if r.focused && r.filled {
		r.ring.StrokeColor = theme.Color(theme.ColorNameForeground)
	}
	r.ring.Refresh()
}

type ringRenderer struct {
	fyne.WidgetRenderer
	ringed *ringed
}

// Layout puts the ring around the control.
func (r *ringRenderer) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	r.ringed.ring.Resize(size)
}

// Objects returns those of the control and the ring.
func (r *ringRenderer) Objects() []fyne.CanvasObject {
	inner := r.WidgetRenderer.Objects()
	return append(inner[:len(inner):len(inner)], r.ringed.ring)
}

// Refresh takes the colours of the theme.
func (r *ringRenderer) Refresh() {
	r.ringed.paint()
	r.WidgetRenderer.Refresh()
}
