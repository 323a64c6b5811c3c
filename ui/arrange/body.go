// Package arrange holds the layouts of the window: what keeps its place, and what is left out where room is short.
package arrange

import "fyne.io/fyne/v2"

// PanelWidth is the width of the panel on the right, in Fyne units.
const PanelWidth = 400

// Body arranges the parts of the window: toolbar at the top, tools on the left, picture, panel on the right,
// status bar at the bottom. The Tab key visits them in this order. In a narrow window the panel shrinks to the width
// that its controls need.
type Body struct{}

// panelShare is the panel's share of a narrow window.
const panelShare = 0.45

// panelRoom returns the width of the panel for the width of the window.
func panelRoom(window, least float32) float32 { return max(least, min(PanelWidth, panelShare*window)) }

func (Body) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	bar, strip, middle, side, status := objects[0], objects[1], objects[2], objects[3], objects[4]
	top, left, bottom := bar.MinSize().Height, strip.MinSize().Width, status.MinSize().Height
	right := float32(0)
	if side.Visible() {
		right = panelRoom(size.Width, side.MinSize().Width)
	}
	put := func(o fyne.CanvasObject, x, y, width, height float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(max(0, width), max(0, height)))
	}
	height := size.Height - top - bottom
	put(bar, 0, 0, size.Width, top)
	put(strip, 0, top, left, height)
	put(middle, left, top, size.Width-left-right, height)
	put(side, size.Width-right, top, right, height)
	put(status, 0, size.Height-bottom, size.Width, bottom)
}

func (Body) MinSize(objects []fyne.CanvasObject) fyne.Size {
	bar, strip, middle, side, status := objects[0].MinSize(), objects[1].MinSize(), objects[2].MinSize(),
		fyne.Size{}, objects[4].MinSize()
	if objects[3].Visible() {
		side = objects[3].MinSize()
	}
	return fyne.NewSize(max(bar.Width, strip.Width+middle.Width+side.Width, status.Width),
		bar.Height+max(strip.Height, middle.Height, side.Height)+status.Height)
}
