package xwidget

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// NewWrapped returns text with word wrapping.
func NewWrapped(text string) *widget.Label {
	l := widget.NewLabel(text)
	l.Wrapping = fyne.TextWrapWord
	return l
}

// NewHeading returns a line above a group.
func NewHeading(text string) *widget.Label {
	return widget.NewLabelWithStyle(text, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
}

// SetEnabled enables or disables a control.
func SetEnabled(o fyne.Disableable, on bool) {
	switch {
	case on && o.Disabled():
		o.Enable()
	case !on && !o.Disabled():
		o.Disable()
	}
}

// SetVisible shows or hides an object.
func SetVisible(o fyne.CanvasObject, on bool) {
	if on {
		o.Show()
	} else {
		o.Hide()
	}
}

// drawn holds what a renderer shows, from back to front.
type drawn []fyne.CanvasObject

func (drawn) Destroy()                       {}
func (d drawn) Objects() []fyne.CanvasObject { return d }

// unfocus releases the focus on the canvas of an object.
func unfocus(o fyne.CanvasObject) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil {
		c.Unfocus()
	}
}

// passOn gives up the focus and passes a function key on to the window; ok is false for another key.
func passOn(o fyne.CanvasObject, k *fyne.KeyEvent) (ok bool) {
	c := fyne.CurrentApp().Driver().CanvasForObject(o)
	if c == nil || len(k.Name) < 2 || !strings.HasPrefix(string(k.Name), "F") {
		return false
	}
	c.Unfocus()
	if pressed := c.OnTypedKey(); pressed != nil {
		pressed(k)
	}
	return true
}

// ShortName shortens a long file name to some fourteen characters, keeping its end, in which scans differ.
func ShortName(name string) string {
	const most = 14
	if r := []rune(name); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return name
}

// QuestionHeight returns the height of a question dialog with a text, at some 60 characters a line.
func QuestionHeight(text string) float32 {
	lines := 0
	for line := range strings.Lines(text) {
		lines += 1 + utf8.RuneCountInString(line)/60
	}
	return max(180, 120+22*float32(lines))
}

// Quiet is set while controls are being set to values that the user did not change.
type Quiet bool

// Show lets f set controls without calling their handlers.
func (q *Quiet) Show(f func()) {
	*q = true
	f()
	*q = false
}

// ByUser returns a handler that ignores changes not made by the user.
func ByUser[T any](q *Quiet, f func(T)) func(T) {
	return func(v T) {
		if !*q {
			f(v)
		}
	}
}
