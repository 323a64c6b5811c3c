package xwidget

import (
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
)

// PairLayout puts two objects side by side, or gives all the room to the second while the first is hidden. Two captions
// may follow, for their upper left corners, which are shown only with both.
type PairLayout struct{}

// pairGap is the space between the two objects, CaptionGap that between a caption and the corner, in Fyne units.
const pairGap, CaptionGap = 2, 8

// Layout makes both equally large, in whole units, so that two views of this size show the same part of a picture.
func (PairLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	left, right := objects[0], objects[1]
	for i, caption := range objects[2:] {
		SetVisible(caption, left.Visible())
		caption.Resize(caption.MinSize())
		caption.Move(fyne.NewPos(CaptionGap+float32(i)*(size.Width+pairGap)/2, CaptionGap))
	}
	if !left.Visible() {
		right.Resize(size)
		right.Move(fyne.NewPos(0, 0))
		return
	}
	width := float32(math.Floor(float64(size.Width-pairGap) / 2))
	for _, o := range objects[:2] {
		o.Resize(fyne.NewSize(width, size.Height))
	}
	left.Move(fyne.NewPos(0, 0))
	right.Move(fyne.NewPos(size.Width-width, 0))
}

// MinSize is that of the visible objects.
func (PairLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := objects[1].MinSize()
	if objects[0].Visible() {
		size.Width += objects[0].MinSize().Width + pairGap
	}
	return size
}

// NewCaption returns a short text that is readable on any picture.
func NewCaption(text string) fyne.CanvasObject {
	words := canvas.NewText(text, color.White)
	words.TextSize = theme.CaptionTextSize()
	ground := canvas.NewRectangle(color.NRGBA{A: 150})
	ground.CornerRadius = 3
	return container.NewStack(ground, container.New(layout.NewCustomPaddedLayout(1, 1, 6, 6), words))
}
