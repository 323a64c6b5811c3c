package xwidget

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// NewTabs returns tabs of which only the selected one holds its content. The toolkit's tabs refresh all contents
// whenever another is selected, which takes longer than an event may take.
func NewTabs(items ...*container.TabItem) *container.AppTabs {
	for i, item := range items {
		page := &tabPage{content: item.Content}
		box := container.New(page)
		if i == 0 {
			page.fill(box)
		}
		item.Content = box
	}
	t := container.NewAppTabs(items...)
	t.OnUnselected = func(item *container.TabItem) {
		item.Content.(*fyne.Container).Objects = nil
	}
	t.OnSelected = func(item *container.TabItem) {
		box := item.Content.(*fyne.Container)
		box.Layout.(*tabPage).fill(box)
		box.Layout.Layout(box.Objects, box.Size())
	}
	return t
}

// tabPage is the layout of a tab that holds its content or nothing; it has the same size either way.
type tabPage struct{ content fyne.CanvasObject }

func (p *tabPage) fill(box *fyne.Container) { box.Objects = []fyne.CanvasObject{p.content} }

func (p *tabPage) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Move(fyne.Position{})
		o.Resize(size)
	}
}

func (p *tabPage) MinSize([]fyne.CanvasObject) fyne.Size { return p.content.MinSize() }
