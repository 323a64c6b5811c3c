package xwidget

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// Keys receives the keys that a control does not use, so that the shortcuts of the tools work while it has the focus.
type Keys interface {
	Rune(r rune)
	Key(e *fyne.KeyEvent)
	Down(e *fyne.KeyEvent)
	Up(e *fyne.KeyEvent)
}

// Slider keeps the arrow keys and passes on the others.
type Slider struct {
	widget.Slider
	ringed
}

var (
	_ desktop.Keyable = (*Slider)(nil)
	_ desktop.Keyable = (*Check)(nil)
	_ desktop.Keyable = (*Select)(nil)
)

// NewSlider returns a horizontal slider.
func NewSlider(lo, hi, step float64, keys Keys) *Slider {
	s := &Slider{Slider: widget.Slider{Min: lo, Max: hi, Step: step, Value: lo}, ringed: ringed{keys: keys}}
	s.ExtendBaseWidget(s)
	return s
}

// TypedKey moves the slider by the arrow keys.
func (s *Slider) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyLeft || e.Name == fyne.KeyRight {
		s.help.moved()
		s.Slider.TypedKey(e)
		return
	}
	s.keys.Key(e)
}

func (s *Slider) TypedRune(r rune) { s.keys.Rune(r) }

// Check keeps the space bar and passes on the other keys.
type Check struct {
	widget.Check
	spaced
}

// NewCheck returns a check box.
func NewCheck(label string, keys Keys, changed func(bool)) *Check {
	c := &Check{Check: widget.Check{Text: label, OnChanged: changed}, spaced: spaced{ringed{keys: keys}}}
	c.ExtendBaseWidget(c)
	return c
}

func (c *Check) TypedKey(e *fyne.KeyEvent) {
	if e.Name != fyne.KeySpace {
		c.keys.Key(e)
	}
}

// TypedRune toggles by the space bar.
func (c *Check) TypedRune(r rune) {
	if r == ' ' {
		c.Check.TypedRune(r)
		return
	}
	c.keys.Rune(r)
}

// Select keeps the keys that open it or change its choice and passes on the others.
type Select struct {
	widget.Select
	spaced
}

// NewSelect returns a box of choices.
func NewSelect(options []string, keys Keys, changed func(string)) *Select {
	s := &Select{Select: widget.Select{Options: options, OnChanged: changed}, spaced: spaced{ringed{keys: keys}}}
	s.ExtendBaseWidget(s)
	return s
}

// TypedKey keeps the space bar and the arrow keys.
func (s *Select) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeySpace, fyne.KeyUp, fyne.KeyDown, fyne.KeyLeft, fyne.KeyRight:
		s.Select.TypedKey(e)
	default:
		s.keys.Key(e)
	}
}

func (s *Select) TypedRune(r rune) { s.keys.Rune(r) }

func (s *Slider) FocusGained()                        { s.show(s, true, s.Slider.FocusGained) }
func (s *Slider) FocusLost()                          { s.show(s, false, s.Slider.FocusLost) }
func (s *Slider) CreateRenderer() fyne.WidgetRenderer { return s.around(s.Slider.CreateRenderer()) }

func (c *Check) FocusGained()                        { c.show(c, true, c.Check.FocusGained) }
func (c *Check) FocusLost()                          { c.show(c, false, c.Check.FocusLost) }
func (c *Check) CreateRenderer() fyne.WidgetRenderer { return c.around(c.Check.CreateRenderer()) }

func (s *Select) FocusGained()                        { s.show(s, true, s.Select.FocusGained) }
func (s *Select) FocusLost()                          { s.show(s, false, s.Select.FocusLost) }
func (s *Select) CreateRenderer() fyne.WidgetRenderer { return s.around(s.Select.CreateRenderer()) }
