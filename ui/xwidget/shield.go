package xwidget

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// Shield takes all events of the pointer and does nothing with them.
type Shield struct{ widget.BaseWidget }

var (
	_ fyne.Tappable          = (*Shield)(nil)
	_ fyne.SecondaryTappable = (*Shield)(nil)
	_ fyne.Draggable         = (*Shield)(nil)
	_ fyne.Scrollable        = (*Shield)(nil)
	_ desktop.Mouseable      = (*Shield)(nil)
	_ desktop.Hoverable      = (*Shield)(nil)
)

func NewShield() *Shield {
	s := &Shield{}
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer shows nothing.
func (s *Shield) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(canvas.NewRectangle(color.Transparent))
}

// Tapped does nothing, like the methods after it.
func (s *Shield) Tapped(*fyne.PointEvent)          {}
func (s *Shield) TappedSecondary(*fyne.PointEvent) {}
func (s *Shield) Dragged(*fyne.DragEvent)          {}
func (s *Shield) DragEnd()                         {}
func (s *Shield) Scrolled(*fyne.ScrollEvent)       {}
func (s *Shield) MouseDown(*desktop.MouseEvent)    {}
func (s *Shield) MouseUp(*desktop.MouseEvent)      {}
func (s *Shield) MouseIn(*desktop.MouseEvent)      {}
func (s *Shield) MouseMoved(*desktop.MouseEvent)   {}
func (s *Shield) MouseOut()                        {}
