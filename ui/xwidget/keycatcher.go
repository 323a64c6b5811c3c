package xwidget

import (
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// KeyCatcher is a line of text that captures the keys pressed while it has the focus. The program gives it the focus; a
// click does not.
type KeyCatcher struct {
	widget.Label
	// OnRune takes a character, OnKey a key without one, OnShortcut a combination; OnEnd is called when the focus goes.
	OnRune     func(r rune)
	OnKey      func(name fyne.KeyName)
	OnShortcut func(s fyne.Shortcut)
	OnEnd      func()
}

var (
	_ fyne.Focusable    = (*KeyCatcher)(nil)
	_ fyne.Shortcutable = (*KeyCatcher)(nil)
)

// NewKeyCatcher returns a catcher without a text, whose lines break.
func NewKeyCatcher() *KeyCatcher {
	c := &KeyCatcher{OnRune: func(rune) {}, OnKey: func(fyne.KeyName) {}, OnShortcut: func(fyne.Shortcut) {},
		OnEnd: func() {}}
	c.Wrapping = fyne.TextWrapWord
	c.ExtendBaseWidget(c)
	return c
}

// FocusGained is part of fyne.Focusable.
func (c *KeyCatcher) FocusGained() {}

// FocusLost ends the catching.
func (c *KeyCatcher) FocusLost() { c.OnEnd() }

// TypedRune takes a character.
func (c *KeyCatcher) TypedRune(r rune) { c.OnRune(r) }

// TypedKey takes a key. Those named by one character are left to TypedRune, which knows what they type, and so is the
// space bar; keys that the driver does not know and those that only modify others are left alone.
func (c *KeyCatcher) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyUnknown, fyne.KeySpace, "LeftShift", "RightShift", "LeftControl", "RightControl", "LeftAlt",
		"RightAlt", "LeftSuper", "RightSuper", "Menu", "CapsLock":
		return
	}
	if utf8.RuneCountInString(string(e.Name)) > 1 {
		c.OnKey(e.Name)
	}
}

// TypedShortcut takes a combination.
func (c *KeyCatcher) TypedShortcut(s fyne.Shortcut) { c.OnShortcut(s) }
