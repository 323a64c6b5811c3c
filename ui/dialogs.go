package ui

import (
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/app/session"
	"blik/ui/xwidget"
)

// pages shows texts about the program and the picture.
type pages struct {
	k       *kit
	version string
}

// showKeys lists the keys in the order of the menus.
func (p *pages) showKeys() {
	box := container.NewVBox(xwidget.NewWrapped(p.k.t("The wheel zooms at the pointer. Dragging with the space bar "+
		"or the middle button moves the picture with any tool. With the brush, the right button erases, Shift and "+
		"a click draw a straight line, Ctrl and the wheel change the size. While %s is held, the original is shown "+
		"instead of the corrected picture. Esc cancels the current action. On a Russian keyboard the same physical "+
		"keys work.", p.k.press(holdAction))))
	for _, m := range menuTable() {
		grid := container.New(layout.NewFormLayout())
		for _, id := range m.all() {
			if p.k.actions.table[id] == nil || p.k.keyText(id) == "" {
				continue
			}
			grid.Add(xwidget.NewMinWidth(130, xwidget.NewHeading(p.k.keyText(id))))
			grid.Add(widget.NewLabel(p.k.name(id)))
		}
		if len(grid.Objects) > 0 {
			box.Add(xwidget.NewHeading(p.k.t(m.title)))
			box.Add(grid)
		}
	}
	p.k.prompts.ShowCustom(p.k.t("Keys and mouse"), p.k.t("Close"), container.NewVScroll(box), 560, 620)
}

func (p *pages) showAbout() {
	p.k.prompts.ShowCustom(p.k.t("About Blik"), p.k.t("Close"), xwidget.NewWrapped(
		p.k.t("Blik %s\n\nFinds glare on digital reproductions of paintings and removes it, changing nothing else in "+
			"the file.\nMIT licence.", p.version)), 460, 220)
}

// showInformation shows the information on an open file.
func (p *pages) showInformation(of session.Open) {
	grid := container.New(layout.NewFormLayout())
	for _, f := range p.k.words.Facts(of) {
		value := xwidget.NewWrapped(f.Value)
		value.Selectable = true
		grid.Add(xwidget.NewHeading(f.Name))
		grid.Add(value)
	}
	p.k.prompts.ShowCustom(p.k.t("Picture information"), p.k.t("Close"), container.NewVScroll(grid), 600, 420)
}
