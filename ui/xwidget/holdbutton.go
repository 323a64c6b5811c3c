package xwidget

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
)

// HoldButton is active as long as it is pressed.
type HoldButton struct {
	baseButton
	// OnHeld is called when the button is pressed, and when it is released or the pointer leaves it.
	OnHeld func(held bool)

	text string
	held bool
}

var (
	_ desktop.Mouseable = (*HoldButton)(nil)
	_ desktop.Hoverable = (*HoldButton)(nil)
	_ fyne.Focusable    = (*HoldButton)(nil)
	_ desktop.Keyable   = (*HoldButton)(nil)
)

// NewHoldButton returns a button whose help shows in the given layer.
func NewHoldButton(text, help string, tips *Tooltips, held func(bool)) *HoldButton {
	b := &HoldButton{baseButton: baseButton{Tip: help, tips: tips}, OnHeld: held, text: text}
	b.extend(b)
	return b
}

// MouseDown begins what the button does.
func (b *HoldButton) MouseDown(*desktop.MouseEvent) {
	b.tips.Hide()
	if !b.disabled {
		b.hold(true)
	}
}

// MouseUp ends it.
func (b *HoldButton) MouseUp(*desktop.MouseEvent) {
	b.hold(false)
	b.unfocus()
}

// KeyDown begins what the button does by the space bar, and passes on the other keys.
func (b *HoldButton) KeyDown(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace && !b.disabled {
		b.hold(true)
	}
	b.baseButton.KeyDown(e)
}

func (b *HoldButton) KeyUp(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace {
		b.hold(false)
	}
	b.baseButton.KeyUp(e)
}

// FocusLost ends what the button does.
func (b *HoldButton) FocusLost() {
	b.hold(false)
	b.baseButton.FocusLost()
}

// hold reports a change of the state.
func (b *HoldButton) hold(on bool) {
	if b.held != on {
		b.held = on
		b.OnHeld(on)
	}
}

// MouseOut ends what the button does: a release elsewhere may never arrive.
func (b *HoldButton) MouseOut() {
	b.baseButton.MouseOut()
	b.hold(false)
}

func (b *HoldButton) CreateRenderer() fyne.WidgetRenderer {
	r := &holdButtonRenderer{
		b: b, back: canvas.NewRectangle(color.Transparent), text: canvas.NewText(b.text, color.Transparent),
	}
	r.drawn = drawn{r.back, r.text}
	r.text.Alignment = fyne.TextAlignCenter
	r.Refresh()
	return r
}

type holdButtonRenderer struct {
	drawn
	b    *HoldButton
	back *canvas.Rectangle
	text *canvas.Text
}

func (r *holdButtonRenderer) Layout(size fyne.Size) {
	r.back.Resize(size)
	r.text.Resize(size)
}

func (r *holdButtonRenderer) MinSize() fyne.Size {
	return r.text.MinSize().Add(fyne.NewSquareSize(2 * theme.InnerPadding()))
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
	ShowRing(r.back, r.b.focused)
	r.text.Color = theme.Color(text)
	r.text.TextSize = theme.TextSize()
	r.back.Refresh()
	r.text.Refresh()
}
