package xwidget

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// HoldButton does something as long as it is pressed. Like ToolButton it never takes the keyboard focus.
type HoldButton struct {
	widget.BaseWidget
	// OnHeld is told when the button is pressed, and when it is released or the pointer leaves it.
	OnHeld func(held bool)

	text, help string
	tips       *Tooltips
	selected   bool
	disabled   bool
	hovered    bool
	held       bool
}

var (
	_ desktop.Mouseable = (*HoldButton)(nil)
	_ desktop.Hoverable = (*HoldButton)(nil)
)

// NewHoldButton returns a button whose help shows in the given layer.
func NewHoldButton(text, help string, tips *Tooltips, held func(bool)) *HoldButton {
	b := &HoldButton{OnHeld: held, text: text, help: help, tips: tips}
	b.ExtendBaseWidget(b)
	return b
}

// SetSelected shows the button as pressed or not.
func (b *HoldButton) SetSelected(on bool) {
	if b.selected != on {
		b.selected = on
		b.Refresh()
	}
}

// Selected says whether the button shows as pressed.
func (b *HoldButton) Selected() bool { return b.selected }

// SetEnabled enables or disables the button.
func (b *HoldButton) SetEnabled(on bool) {
	if b.disabled == on {
		b.disabled = !on
		b.Refresh()
	}
}

// MouseDown begins what the button does.
func (b *HoldButton) MouseDown(*desktop.MouseEvent) {
	b.tips.Hide()
	if !b.disabled {
		b.hold(true)
	}
}

// MouseUp ends it.
func (b *HoldButton) MouseUp(*desktop.MouseEvent) { b.hold(false) }

// hold tells of a change.
func (b *HoldButton) hold(on bool) {
	if b.held != on {
		b.held = on
		b.OnHeld(on)
	}
}

// MouseIn starts the tooltip.
func (b *HoldButton) MouseIn(*desktop.MouseEvent) {
	b.hovered = true
	b.tips.ShowLater(b, b.help)
	b.Refresh()
}

// MouseMoved is part of desktop.Hoverable.
func (b *HoldButton) MouseMoved(*desktop.MouseEvent) {}

// MouseOut ends what the button does: a release elsewhere may never arrive.
func (b *HoldButton) MouseOut() {
	b.hovered = false
	b.tips.Hide()
	b.hold(false)
	b.Refresh()
}

// CreateRenderer is part of fyne.Widget.
func (b *HoldButton) CreateRenderer() fyne.WidgetRenderer {
	r := &holdButtonRenderer{
		b: b, back: canvas.NewRectangle(color.Transparent), text: canvas.NewText(b.text, color.Transparent),
	}
	r.text.Alignment = fyne.TextAlignCenter
	r.Refresh()
	return r
}

type holdButtonRenderer struct {
	b    *HoldButton
	back *canvas.Rectangle
	text *canvas.Text
}

func (r *holdButtonRenderer) Destroy() {}

func (r *holdButtonRenderer) Layout(size fyne.Size) {
	r.back.Resize(size)
	r.text.Resize(size)
}

func (r *holdButtonRenderer) MinSize() fyne.Size {
	return r.text.MinSize().Add(fyne.NewSquareSize(2 * theme.InnerPadding()))
}

func (r *holdButtonRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.back, r.text}
}

func (r *holdButtonRenderer) Refresh() {
	back, text := theme.ColorNameButton, theme.ColorNameForeground
	switch {
	case r.b.disabled:
		back, text = theme.ColorNameDisabledButton, theme.ColorNameDisabled
	case r.b.selected:
		back, text = theme.ColorNamePrimary, theme.ColorNameForegroundOnPrimary
	case r.b.hovered:
		back = theme.ColorNameHover
	}
	r.back.FillColor = theme.Color(back)
	r.back.CornerRadius = theme.InputRadiusSize()
	r.text.Color = theme.Color(text)
	r.text.TextSize = theme.TextSize()
	r.back.Refresh()
	r.text.Refresh()
}
