package xwidget

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// NumberEntry is a small field for a number. The input is committed when it is submitted or the field loses the focus,
// not at each key.
type NumberEntry struct {
	widget.Entry
	// Width is the field's width in Fyne units.
	Width float32
	// Tips, if not nil, is the tooltip layer of its window, which watches the Tab key.
	Tips *Tooltips

	help   *HelpLabel
	commit func(text string)
	shown  string
}

// NewNumberEntry returns a field that calls commit with the input if it has changed.
func NewNumberEntry(width float32, commit func(text string)) *NumberEntry {
	e := &NumberEntry{Width: width, commit: commit}
	e.ExtendBaseWidget(e)
	e.Scroll = fyne.ScrollNone
	e.OnSubmitted = func(string) {
		e.done()
		unfocus(e)
	}
	return e
}

// ShowText replaces the text without calling commit.
func (e *NumberEntry) ShowText(text string) {
	e.shown = text
	if e.Text != text {
		e.SetText(text)
	}
}

// FocusGained brings the field into view.
func (e *NumberEntry) FocusGained() {
	reveal(e)
	e.Entry.FocusGained()
	e.help.focused(true)
}

// FocusLost commits the input.
func (e *NumberEntry) FocusLost() {
	e.Entry.FocusLost()
	e.help.focused(false)
	e.done()
}

// KeyDown watches the Tab key.
func (e *NumberEntry) KeyDown(k *fyne.KeyEvent) {
	e.Tips.Pressed(k)
	e.Entry.KeyDown(k)
}

// KeyUp watches the Tab key.
func (e *NumberEntry) KeyUp(k *fyne.KeyEvent) {
	e.Tips.Released(k)
	e.Entry.KeyUp(k)
}

// explainBy is part of explained.
func (e *NumberEntry) explainBy(l *HelpLabel) { e.help, e.Tips = l, l.tips }

// TypedKey discards the input on Escape and passes on function keys.
func (e *NumberEntry) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		e.SetText(e.shown)
		unfocus(e)
	} else if !passOn(e, k) {
		e.Entry.TypedKey(k)
	}
}

// MinSize keeps the field narrow.
func (e *NumberEntry) MinSize() fyne.Size {
	return fyne.NewSize(e.Width, e.Entry.MinSize().Height)
}

func (e *NumberEntry) done() {
	if e.Text != e.shown {
		e.shown = e.Text
		e.commit(e.Text)
	}
}
