package tool

import (
	"math"

	"blik/app/document"
	"blik/processing"
)

// Painter takes strokes. BeginStroke and CancelStroke may be called at any time; StrokeTo and EndStroke do nothing
// without an open stroke.
type Painter interface {
	BeginStroke(b document.Brush, at processing.Point)
	StrokeTo(at processing.Point)
	EndStroke()
	CancelStroke()
}

// Brush paints the mask, or erases it; the right button does the opposite. With Shift a stroke starts with a straight
// line from the end of the last one.
type Brush struct {
	idle
	// Erase makes the left button erase.
	Erase bool
	// Size returns radius and softness at the start of each stroke.
	Size func() document.Brush

	painter Painter
	last    processing.Point
	begun   bool
}

// NewBrush returns a brush on the given painter.
func NewBrush(p Painter, erase bool, size func() document.Brush) *Brush {
	return &Brush{Erase: erase, Size: size, painter: p}
}

// Press begins a stroke.
func (b *Brush) Press(e Event) {
	size := b.Size()
	size.Erase = b.Erase != e.Secondary
	from := e.At
	if e.Shift && b.begun {
		from = b.last
	}
	b.painter.BeginStroke(size, from)
	if from != e.At {
		b.painter.StrokeTo(e.At)
	}
	b.last, b.begun = e.At, true
}

// Move continues the stroke to the event's position.
func (b *Brush) Move(e Event) {
	b.painter.StrokeTo(e.At)
	b.last = e.At
}

func (b *Brush) Release() { b.painter.EndStroke() }

// Cancel undoes the stroke.
func (b *Brush) Cancel() { b.painter.CancelStroke() }

// Pointer is the brush's ring.
func (b *Brush) Pointer(Event) Pointer { return Ring }

// Forget drops the end of the last stroke when another picture is shown.
func (b *Brush) Forget() { b.begun = false }

// BrushSteps is the number of positions of the brush slider, which is logarithmic from MinRadius to sliderRadius.
const (
	BrushSteps   = 100
	MinRadius    = 0.5
	sliderRadius = 300
)

// BrushRadius returns the radius in pixels of a position of the brush slider, in halves.
func BrushRadius(step float64) float64 {
	return math.Round(MinRadius*math.Pow(sliderRadius/MinRadius, step/BrushSteps)*2) / 2
}

// BrushStep returns the position of the brush slider for a radius.
func BrushStep(radius float64) float64 {
	return math.Round(BrushSteps * math.Log(min(radius, sliderRadius)/MinRadius) / math.Log(sliderRadius/MinRadius))
}
