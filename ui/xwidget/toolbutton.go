package xwidget

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// toolButtonSize is the side of a tool button, in Fyne units.
const toolButtonSize = 34

// ToolButton is an icon with a tooltip that can stay pressed. It never takes the keyboard focus, so that the keys of
// the tools keep working after a click; everything it does is in the menus as well.
type ToolButton struct {
	widget.BaseWidget
	Icon     fyne.Resource
	Tip      string
	OnTapped func()

	tips     *Tooltips
	selected bool
	disabled bool
	hovered  bool
}

var (
	_ fyne.Tappable     = (*ToolButton)(nil)
	_ fyne.Disableable  = (*ToolButton)(nil)
	_ desktop.Hoverable = (*ToolButton)(nil)
)

// NewToolButton returns a button that shows its tip in the given layer.
func NewToolButton(icon fyne.Resource, tip string, tips *Tooltips, tapped func()) *ToolButton {
	b := &ToolButton{Icon: icon, Tip: tip, OnTapped: tapped, tips: tips}
	b.ExtendBaseWidget(b)
	return b
}

// SetSelected shows the button as pressed or not.
func (b *ToolButton) SetSelected(on bool) {
	if b.selected != on {
		b.selected = on
		b.Refresh()
	}
}

// Selected says whether the button shows as pressed.
func (b *ToolButton) Selected() bool { return b.selected }

// SetEnabled enables or disables the button.
func (b *ToolButton) SetEnabled(on bool) {
	if b.disabled == on {
		b.disabled = !on
		b.Refresh()
	}
}

// Enable makes the button work.
func (b *ToolButton) Enable() { b.SetEnabled(true) }

// Disable makes the button grey and deaf.
func (b *ToolButton) Disable() { b.SetEnabled(false) }

// Disabled says whether the button is deaf.
func (b *ToolButton) Disabled() bool { return b.disabled }

// Tapped runs OnTapped.
func (b *ToolButton) Tapped(*fyne.PointEvent) {
	b.tips.Hide()
	if !b.disabled && b.OnTapped != nil {
		b.OnTapped()
	}
}

// MouseIn starts the tooltip.
func (b *ToolButton) MouseIn(*desktop.MouseEvent) {
	b.hovered = true
	b.tips.ShowLater(b, b.Tip)
	b.Refresh()
}

// MouseMoved is part of desktop.Hoverable.
func (b *ToolButton) MouseMoved(*desktop.MouseEvent) {}

// MouseOut ends the tooltip.
func (b *ToolButton) MouseOut() {
	b.hovered = false
	b.tips.Hide()
	b.Refresh()
}

// CreateRenderer is part of fyne.Widget.
func (b *ToolButton) CreateRenderer() fyne.WidgetRenderer {
	back := canvas.NewRectangle(color.Transparent)
	back.CornerRadius = 4
	r := &toolButtonRenderer{button: b, back: back, icon: canvas.NewImageFromResource(b.Icon)}
	r.icon.FillMode = canvas.ImageFillContain
	r.Refresh()
	return r
}

type toolButtonRenderer struct {
	button *ToolButton
	back   *canvas.Rectangle
	icon   *canvas.Image
}

func (r *toolButtonRenderer) Destroy() {}

func (r *toolButtonRenderer) Layout(size fyne.Size) {
	r.back.Resize(size)
	side := theme.IconInlineSize()
	r.icon.Resize(fyne.NewSquareSize(side))
	r.icon.Move(fyne.NewPos((size.Width-side)/2, (size.Height-side)/2))
}

func (r *toolButtonRenderer) MinSize() fyne.Size { return fyne.NewSquareSize(toolButtonSize) }

func (r *toolButtonRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.back, r.icon}
}

func (r *toolButtonRenderer) Refresh() {
	b := r.button
	r.back.FillColor = color.Transparent
	switch {
	case b.selected:
		r.back.FillColor = theme.Color(theme.ColorNameFocus)
	case b.hovered && !b.disabled:
		r.back.FillColor = theme.Color(theme.ColorNameHover)
	}
	icon := b.Icon
	if b.disabled {
		icon = theme.NewDisabledResource(icon)
	}
	if r.icon.Resource != icon {
		r.icon.Resource = icon
		r.icon.Refresh()
	}
	r.back.Refresh()
}
