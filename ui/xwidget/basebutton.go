package xwidget

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// baseButton is what the buttons of this package share. They never take the keyboard focus, so that the keys of the
// tools keep working after a click.
type baseButton struct {
	widget.BaseWidget
	Tip string

	// self is the button itself, beside which its tooltip shows.
	self                        fyne.Widget
	tips                        *Tooltips
	selected, disabled, hovered bool
}

// extend makes self the widget of the button.
func (b *baseButton) extend(self fyne.Widget) {
	b.self = self
	b.ExtendBaseWidget(self)
}

// SetSelected shows the button as pressed or not.
func (b *baseButton) SetSelected(on bool) {
	if b.selected != on {
		b.selected = on
		b.Refresh()
	}
}

// Selected reports whether the button shows as pressed.
func (b *baseButton) Selected() bool { return b.selected }

// SetEnabled enables or disables the button.
func (b *baseButton) SetEnabled(on bool) {
	if b.disabled == on {
		b.disabled = !on
		b.Refresh()
	}
}

// Enable enables the button.
func (b *baseButton) Enable() { b.SetEnabled(true) }

// Disable greys the button, which then does nothing.
func (b *baseButton) Disable() { b.SetEnabled(false) }

// Disabled reports whether the button is disabled.
func (b *baseButton) Disabled() bool { return b.disabled }

// MouseIn starts the tooltip.
func (b *baseButton) MouseIn(*desktop.MouseEvent) {
	b.hovered = true
	b.tips.ShowLater(b.self, b.Tip)
	b.Refresh()
}

// MouseMoved is part of desktop.Hoverable.
func (b *baseButton) MouseMoved(*desktop.MouseEvent) {}

// MouseOut ends the tooltip.
func (b *baseButton) MouseOut() {
	b.hovered = false
	b.tips.Hide()
	b.Refresh()
}
