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

// ringed adds this package's focus ring to one of the toolkit's controls, and passes on its keys. What the toolkit
// itself shows of the focus differs from control to control, and some of it is barely visible.
type ringed struct {
	keys    Keys
	ring    *canvas.Rectangle
	focused bool
	// filled is set if the control has the colour of the ring, which then has that of text.
	filled bool
	help   *HelpLabel
}

// explainBy is part of explained.
func (r *ringed) explainBy(l *HelpLabel) { r.help = l }

// show shows or hides the ring of a control, scrolls a focused control into view, and then does what the toolkit does.
func (r *ringed) show(self fyne.CanvasObject, on bool, toolkit ...func()) {
	r.focused = on
	if on {
		reveal(self)
	}
	r.help.focused(on)
	if r.ring != nil {
		r.paint()
	}
	for _, do := range toolkit {
		do()
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

func (r *ringed) KeyDown(e *fyne.KeyEvent) { r.keys.Down(e) }
func (r *ringed) KeyUp(e *fyne.KeyEvent)   { r.keys.Up(e) }

// spaced is ringed for controls that the space bar operates.
type spaced struct{ ringed }

func (s *spaced) KeyDown(e *fyne.KeyEvent) {
	if e.Name != fyne.KeySpace {
		s.keys.Down(e)
	}
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

func (r *ringRenderer) Refresh() {
	r.ringed.paint()
	r.WidgetRenderer.Refresh()
}
