package xwidget

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// baseButton is the common part of the buttons of this package. The Tab key gives them the focus, shown as a ring; a
// click does not. Keys that a button does not use are passed on to Keys, so that the shortcuts of the tools keep
// working.
type baseButton struct {
	widget.BaseWidget
	Tip string
	// Keys may be nil.
	Keys Keys

	// self is the button itself, beside which its tooltip shows.
	self                        fyne.Widget
	tips                        *Tooltips
	selected, disabled, hovered bool
	focused                     bool
	// press is called by the space bar and Enter while the button has the focus.
	press func()
}

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

func (b *baseButton) Enable() { b.SetEnabled(true) }

// Disable greys the button, which then does nothing.
func (b *baseButton) Disable() { b.SetEnabled(false) }

func (b *baseButton) Disabled() bool { return b.disabled }

func (b *baseButton) MouseIn(*desktop.MouseEvent) {
	b.hovered = true
	b.tips.ShowLater(b.self, b.Tip)
	b.Refresh()
}

func (b *baseButton) MouseMoved(*desktop.MouseEvent) {}

func (b *baseButton) MouseOut() {
	b.hovered = false
	b.tips.Hide()
	b.Refresh()
}

// FocusGained shows the ring, and after a moment the tooltip.
func (b *baseButton) FocusGained() {
	b.focused = true
	reveal(b.self)
	if !b.hovered {
		b.tips.ShowLater(b.self, b.Tip)
	}
	b.Refresh()
}

func (b *baseButton) FocusLost() {
	b.focused = false
	b.tips.Hide()
	b.Refresh()
}

// TypedKey presses the button by Enter and passes on the other keys.
func (b *baseButton) TypedKey(e *fyne.KeyEvent) {
	switch {
	case e.Name == fyne.KeySpace:
	case b.press != nil && (e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter):
		b.press()
	case b.Keys != nil:
		b.Keys.Key(e)
	}
}

// TypedRune presses the button by the space bar and passes on the other characters.
func (b *baseButton) TypedRune(r rune) {
	switch {
	case r == ' ' && b.press != nil:
		b.press()
	case r != ' ' && b.Keys != nil:
		b.Keys.Rune(r)
	}
}

func (b *baseButton) KeyDown(e *fyne.KeyEvent) {
	if e.Name != fyne.KeySpace && b.Keys != nil {
		b.Keys.Down(e)
	}
}

func (b *baseButton) KeyUp(e *fyne.KeyEvent) {
	if e.Name != fyne.KeySpace && b.Keys != nil {
		b.Keys.Up(e)
	}
}

// shade shows the state of the button behind what is on it.
func (b *baseButton) shade(back *canvas.Rectangle) {
	back.FillColor = color.Transparent
	switch {
	case b.selected:
		back.FillColor = theme.Color(theme.ColorNameFocus)
	case b.hovered && !b.disabled:
		back.FillColor = theme.Color(theme.ColorNameHover)
	}
	ShowRing(back, b.focused)
	back.Refresh()
}

// unfocus releases the focus gained by a click.
func (b *baseButton) unfocus() {
	if b.focused {
		unfocus(b.self)
	}
}

// tapButton is a button that does something when it is tapped.
type tapButton struct {
	baseButton
	// OnTapped may be nil.
	OnTapped func()
}

// newTapButton returns a button whose tip shows in the given layer.
func newTapButton(tip string, tips *Tooltips, tapped func()) tapButton {
	return tapButton{baseButton{Tip: tip, tips: tips}, tapped}
}

func (b *tapButton) extend(self fyne.Widget) {
	b.press = b.run
	b.baseButton.extend(self)
}

func (b *tapButton) Tapped(*fyne.PointEvent) {
	b.unfocus()
	b.run()
}

func (b *tapButton) run() {
	b.tips.Hide()
	if !b.disabled && b.OnTapped != nil {
		b.OnTapped()
	}
}
