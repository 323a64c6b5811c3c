package xwidget

import "fyne.io/fyne/v2"

// SmallLayout makes a tool button smaller than in toolbars.
type SmallLayout struct{}

// smallSide is the side of such a button, in Fyne units.
const smallSide = 22

func (SmallLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Resize(fyne.NewSquareSize(smallSide))
	objects[0].Move(fyne.NewPos(size.Width-smallSide, 0))
}

func (SmallLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSquareSize(smallSide) }
