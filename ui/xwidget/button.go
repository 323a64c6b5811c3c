package xwidget

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// Button is a button with a text that the space bar and Enter press; it passes on the other keys.
type Button struct {
	widget.Button
	spaced
}

var _ desktop.Keyable = (*Button)(nil)

// NewButton returns a button with a text.
func NewButton(text string, keys Keys, tapped func()) *Button {
	return NewButtonWithIcon(text, nil, keys, tapped)
}

// NewButtonWithIcon returns a button with an icon and a text.
func NewButtonWithIcon(text string, icon fyne.Resource, keys Keys, tapped func()) *Button {
	b := &Button{Button: widget.Button{Text: text, Icon: icon, OnTapped: tapped}, spaced: spaced{ringed{keys: keys}}}
	b.ExtendBaseWidget(b)
	return b
}

func (b *Button) FocusGained() {
	b.filled = b.Importance == widget.HighImportance
	b.show(b, true, b.Button.FocusGained)
}

func (b *Button) FocusLost() { b.show(b, false, b.Button.FocusLost) }

// TypedKey presses the button by Enter and passes on the other keys. The focus stays unless the action of the button
// moves it.
func (b *Button) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeySpace:
	case fyne.KeyReturn, fyne.KeyEnter:
		b.press()
	default:
		b.keys.Key(e)
	}
}

// TypedRune presses the button by the space bar and passes on the other characters.
func (b *Button) TypedRune(r rune) {
	if r == ' ' {
		b.press()
		return
	}
	b.keys.Rune(r)
}

func (b *Button) press() {
	if !b.Disabled() {
		b.OnTapped()
	}
}

func (b *Button) KeyUp(e *fyne.KeyEvent) {
	if e.Name != fyne.KeySpace {
		b.keys.Up(e)
	}
}

func (b *Button) CreateRenderer() fyne.WidgetRenderer { return b.around(b.Button.CreateRenderer()) }
