package xwidget

import (
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// KeyCatcher is a line of text that captures the keys pressed while it has the focus. The program sets the focus; a
// click does not.
type KeyCatcher struct {
	widget.Label
	// OnRune receives a character, OnKey a key without one, OnShortcut a combination; OnEnd is called when the focus is
	// lost.
	OnRune     func(r rune)
	OnKey      func(name fyne.KeyName)
	OnShortcut func(s fyne.Shortcut)
	OnEnd      func()
}

var (
	_ fyne.Focusable    = (*KeyCatcher)(nil)
	_ fyne.Shortcutable = (*KeyCatcher)(nil)
)

// NewKeyCatcher returns an empty catcher with word wrapping.
func NewKeyCatcher() *KeyCatcher {
	c := &KeyCatcher{OnRune: func(rune) {}, OnKey: func(fyne.KeyName) {}, OnShortcut: func(fyne.Shortcut) {},
		OnEnd: func() {}}
	c.Wrapping = fyne.TextWrapWord
	c.ExtendBaseWidget(c)
	return c
}

func (c *KeyCatcher) FocusGained() {}

// FocusLost ends the capture.
func (c *KeyCatcher) FocusLost() { c.OnEnd() }

// TypedRune captures a character.
func (c *KeyCatcher) TypedRune(r rune) { c.OnRune(r) }

// TypedKey captures a key without a character. Keys named by one character and the space bar are left to TypedRune,
// which receives what they type. Keys that the driver does not know and modifiers are ignored.
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

// TypedShortcut captures a combination.
func (c *KeyCatcher) TypedShortcut(s fyne.Shortcut) { c.OnShortcut(s) }
