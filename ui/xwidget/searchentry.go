package xwidget

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// SearchEntry is a search field over a list: the arrow keys step through the list, Escape closes it.
type SearchEntry struct {
	widget.Entry
	// OnStep is called on arrow keys, OnEscape on Escape.
	OnStep   func(by int)
	OnEscape func()
}

// NewSearchEntry returns an empty field with a placeholder.
func NewSearchEntry(hint string) *SearchEntry {
	e := &SearchEntry{OnStep: func(int) {}, OnEscape: func() {}}
	e.PlaceHolder = hint
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey steps through the list or closes it.
func (e *SearchEntry) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyDown:
		e.OnStep(1)
	case fyne.KeyUp:
		e.OnStep(-1)
	case fyne.KeyPageDown:
		e.OnStep(pageOfList)
	case fyne.KeyPageUp:
		e.OnStep(-pageOfList)
	case fyne.KeyEscape:
		e.OnEscape()
	default:
		e.Entry.TypedKey(k)
	}
}

// pageOfList is the number of lines that PageDown and PageUp step by.
const pageOfList = 5
