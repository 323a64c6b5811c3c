package arrange

import (
	"fyne.io/fyne/v2"

	"blik/ui/xwidget"
)

// Findings puts the summary and the filters above the list and the reasons below it. The height of the reasons
// does not depend on their text, so that nothing jumps from finding to finding. If there is too little room, the list
// keeps its own and the bounds, the summary and the reasons are hidden, in this order.
type Findings struct{}

// LeastList is the least height of the list, in Fyne units.
const LeastList = 60

// whyHeight is the height of the scrolled box of reasons, in Fyne units: five lines. leastWhy is its least height,
// findingsGap is the space between the rows above the list.
const whyHeight, leastWhy, findingsGap = 95, 20, 2

func (Findings) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	rows, list, why := objects[:3], objects[3], objects[4]
	// The height of the summary depends on its width.
	rows[0].Resize(fyne.NewSize(size.Width, rows[0].Size().Height))
	below := float32(0)
	if why.Visible() {
		below = min(whyHeight, max(leastWhy, (size.Height-rows[1].MinSize().Height)/4))
	}
	above := float32(0)
	for _, row := range rows {
		above += row.MinSize().Height + findingsGap
	}
	room := size.Height - above - below
	give := func(height float32) (gone bool) {
		gone = room < LeastList
		if gone {
			room += height
		}
		return gone
	}
	bounds := !give(rows[2].MinSize().Height + findingsGap)
	sum := !give(rows[0].MinSize().Height + findingsGap)
	if give(below) {
		below = 0
	}
	y := float32(0)
	for i, row := range rows {
		shown := i == 1 || i == 0 && sum || i == 2 && bounds
		xwidget.SetVisible(row, shown)
		if !shown {
			continue
		}
		row.Move(fyne.NewPos(0, y))
		row.Resize(fyne.NewSize(size.Width, row.MinSize().Height))
		y += row.MinSize().Height + findingsGap
	}
	list.Move(fyne.NewPos(0, y))
	list.Resize(fyne.NewSize(size.Width, max(0, size.Height-y-below)))
	why.Move(fyne.NewPos(0, size.Height-below))
	why.Resize(fyne.NewSize(size.Width, below))
}

func (Findings) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := fyne.Size{}
	for _, row := range objects[:3] {
		size.Width = max(size.Width, row.MinSize().Width)
	}
	size.Height = objects[1].MinSize().Height + findingsGap + LeastList
	return size
}
