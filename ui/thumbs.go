package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/document"
	"blik/ui/xwidget"
)

// thumbSide is the side of a close-up, in pixels of the picture on the screen and in Fyne units.
const thumbSide = 88

// newThumbs shows the listed findings as pairs of close-ups, before and after correction. A click selects a finding.
func newThumbs(c *common) *xwidget.Grid {
	g := xwidget.NewGrid(func() int { return len(c.found.Listed()) },
		func() fyne.CanvasObject { return newThumb() },
		func(id widget.GridWrapItemID, o fyne.CanvasObject) {
			if list := c.found.Listed(); id < len(list) {
				o.(*thumb).show(c, list[id], id == c.found.SelectedRow())
			}
		}, c.k.keys)
	choose := func(id int) {
		if list := c.found.Listed(); id >= 0 && id < len(list) {
			c.review.show(list[id])
		}
	}
	g.OnStep = func(by int) { choose(max(c.found.SelectedRow(), -1) + by) }
	g.OnSelected = func(id widget.GridWrapItemID) {
		// The thumbnail marks the selected finding itself.
		g.UnselectAll()
		c.k.win.Canvas().Unfocus()
		choose(id)
	}
	return g
}

// thumb is one finding: its close-ups and a line of text.
type thumb struct {
	widget.BaseWidget
	back          *canvas.Rectangle
	before, after *canvas.Image
	text          *xwidget.FixedText
	content       fyne.CanvasObject
}

func newThumb() *thumb {
	t := &thumb{back: canvas.NewRectangle(color.Transparent), text: xwidget.NewFixedText("")}
	t.back.CornerRadius = 4
	picture := func() *canvas.Image {
		m := &canvas.Image{FillMode: canvas.ImageFillContain, ScaleMode: canvas.ImageScalePixels}
		m.SetMinSize(fyne.NewSquareSize(thumbSide))
		return m
	}
	t.before, t.after = picture(), picture()
	t.text.Stretch, t.text.Muted = true, true
	pair := container.New(layout.NewCustomPaddedHBoxLayout(2), t.before, t.after)
	t.content = container.NewStack(t.back, container.New(layout.NewCustomPaddedLayout(2, 0, 2, 2),
		container.New(layout.NewCustomPaddedVBoxLayout(0), pair, t.text)))
	t.ExtendBaseWidget(t)
	return t
}

func (t *thumb) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(t.content) }

// show updates the thumbnail.
func (t *thumb) show(c *common, f document.Spot, selected bool) {
	t.back.FillColor = color.Transparent
	if selected {
		t.back.FillColor = theme.Color(theme.ColorNameSelection)
	}
	t.back.Refresh()
	t.before.Image, t.after.Image = c.analysis.Closeups(f, thumbSide)
	t.after.Hidden = t.after.Image == nil
	t.before.Refresh()
	t.after.Refresh()
	t.text.SetText(c.k.words.Closeup(f))
}
