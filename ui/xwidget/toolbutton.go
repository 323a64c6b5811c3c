package xwidget

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
)

// toolButtonSize is the side of a tool button, in Fyne units.
const toolButtonSize = 34

// ToolButton is an icon button with a tooltip, which can stay pressed. All its actions are also in the menus.
type ToolButton struct {
	tapButton
	Icon fyne.Resource
}

var (
	_ fyne.Tappable     = (*ToolButton)(nil)
	_ fyne.Disableable  = (*ToolButton)(nil)
	_ desktop.Hoverable = (*ToolButton)(nil)
	_ fyne.Focusable    = (*ToolButton)(nil)
	_ desktop.Keyable   = (*ToolButton)(nil)
)

// NewToolButton returns a button that shows its tip in the given layer.
func NewToolButton(icon fyne.Resource, tip string, tips *Tooltips, tapped func()) *ToolButton {
	b := &ToolButton{newTapButton(tip, tips, tapped), icon}
	b.extend(b)
	return b
}

func (b *ToolButton) CreateRenderer() fyne.WidgetRenderer {
	back := canvas.NewRectangle(color.Transparent)
	back.CornerRadius = 4
	r := &toolButtonRenderer{button: b, back: back, icon: canvas.NewImageFromResource(b.Icon)}
	r.drawn = drawn{r.back, r.icon}
	r.icon.FillMode = canvas.ImageFillContain
	r.Refresh()
	return r
}

type toolButtonRenderer struct {
	drawn
	button *ToolButton
	back   *canvas.Rectangle
	icon   *canvas.Image
}

func (r *toolButtonRenderer) Layout(size fyne.Size) {
	r.back.Resize(size)
	side := theme.IconInlineSize()
	r.icon.Resize(fyne.NewSquareSize(side))
	r.icon.Move(fyne.NewPos((size.Width-side)/2, (size.Height-side)/2))
}

func (r *toolButtonRenderer) MinSize() fyne.Size { return fyne.NewSquareSize(toolButtonSize) }

func (r *toolButtonRenderer) Refresh() {
	b := r.button
	b.shade(r.back)
	icon := b.Icon
	if b.disabled {
		icon = theme.NewDisabledResource(icon)
	}
	if r.icon.Resource != icon {
		r.icon.Resource = icon
		r.icon.Refresh()
	}
}
