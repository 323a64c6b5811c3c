package xwidget

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// BarItem is a group of controls of a Bar.
type BarItem struct {
	Object fyne.CanvasObject
	// Rank is the order in which items are hidden for lack of space; items of rank 0 are hidden last.
	Rank int
	// Trailing items are at the right end.
	Trailing bool
}

// Bar is a row of groups of controls. Groups that do not fit are hidden, and a button shows them in a second row. A
// group whose object is hidden takes no space.
type Bar struct {
	// Row is the object of the bar.
	Row *fyne.Container
	// OnRows is called when the bar needs another height.
	OnRows func()

	items []BarItem
	// cells hold the objects of the items, so that the bar can hide items independently of their owners.
	cells []*fyne.Container
	more  *ToolButton
	open  bool
	rows  int
}

// barGap is the space between groups and between rows, in Fyne units.
const barGap = 6

// NewBar returns a bar; more is the button that shows the hidden groups.
func NewBar(more *ToolButton, items ...BarItem) *Bar {
	b := &Bar{items: items, more: more, rows: 1, OnRows: func() {}}
	objects := make([]fyne.CanvasObject, 0, len(items)+1)
	for _, item := range items {
		cell := container.NewStack(item.Object)
		b.cells = append(b.cells, cell)
		objects = append(objects, cell)
	}
	more.OnTapped = b.toggle
	b.Row = container.New(b, append(objects, more)...)
	return b
}

// toggle shows or hides the second row.
func (b *Bar) toggle() {
	b.open = !b.open
	b.more.SetSelected(b.open)
	b.Update()
}

// Update lays the bar out again after its owner has shown or hidden objects.
func (b *Bar) Update() { b.Layout(b.Row.Objects, b.Row.Size()) }

// divide divides items between the first row and the rest, which does not fit beside a button of the given width. The
// button is needed only if there is a rest. Items of width 0 are hidden and in neither.
func divide(items []BarItem, widths []float32, room, button float32) (first, rest []int) {
	var order []int
	total := float32(0)
	for i, w := range widths {
		if w > 0 {
			order = append(order, i)
			total += w + barGap
		}
	}
	if total-barGap <= room {
		return order, nil
	}
	byRank := slices.Clone(order)
	slices.SortStableFunc(byRank, func(i, j int) int { return items[i].Rank - items[j].Rank })
	left := room - button
	for n, i := range byRank {
		if left -= widths[i] + barGap; left < 0 {
			first, rest = byRank[:n], byRank[n:]
			break
		}
	}
	slices.Sort(first)
	slices.Sort(rest)
	return first, rest
}

func (b *Bar) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	widths := make([]float32, len(b.items))
	for i, item := range b.items {
		if item.Object.Visible() {
			widths[i] = item.Object.MinSize().Width
		}
	}
	button := b.more.MinSize().Width
	first, rest := divide(b.items, widths, size.Width, button)
	height := b.rowHeight()
	shown := make([]bool, len(b.items))
	row := func(list []int, top, right float32) {
		left := float32(0)
		for _, i := range list {
			if !b.items[i].Trailing {
				b.put(i, left, top, widths[i], height)
				left += widths[i] + barGap
			}
			shown[i] = true
		}
		for _, i := range slices.Backward(list) {
			if b.items[i].Trailing {
				right -= widths[i]
				b.put(i, right, top, widths[i], height)
				right -= barGap
			}
		}
	}
	right := size.Width
	if len(rest) > 0 {
		right -= button + barGap
	}
	row(first, 0, right)
	rows := 1
	if b.open {
		for left := rest; len(left) > 0; rows++ {
			n, room := 0, size.Width
			for n < len(left) && (n == 0 || room >= widths[left[n]]) {
				room -= widths[left[n]] + barGap
				n++
			}
			row(left[:n], float32(rows)*(height+barGap), size.Width)
			left = left[n:]
		}
	}
	for i, cell := range b.cells {
		SetVisible(cell, shown[i])
	}
	SetVisible(b.more, len(rest) > 0)
	b.more.Resize(fyne.NewSize(button, height))
	b.more.Move(fyne.NewPos(size.Width-button, 0))
	if rows != b.rows {
		b.rows = rows
		b.OnRows()
	}
}

// put places an item.
func (b *Bar) put(i int, left, top, width, height float32) {
	b.cells[i].Move(fyne.NewPos(left, top))
	b.cells[i].Resize(fyne.NewSize(width, height))
}

func (b *Bar) rowHeight() float32 {
	height := b.more.MinSize().Height
	for _, item := range b.items {
		height = max(height, item.Object.MinSize().Height)
	}
	return height
}

// MinSize leaves room for the button and the first of the items.
func (b *Bar) MinSize([]fyne.CanvasObject) fyne.Size {
	width := b.more.MinSize().Width
	for _, item := range b.items {
		if item.Rank == 0 {
			width += item.Object.MinSize().Width + barGap
		}
	}
	return fyne.NewSize(width, float32(b.rows)*(b.rowHeight()+barGap)-barGap)
}
