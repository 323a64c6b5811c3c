package xwidget

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// List is a list that passes on the keys that it does not use. The arrow keys move its cursor, the space bar selects.
type List struct {
	widget.List
	spaced
	// OnKey, which may be nil, receives a key before the list does, and reports whether it used the key.
	OnKey func(name fyne.KeyName) bool
}

var (
	_ desktop.Keyable = (*List)(nil)
	_ desktop.Keyable = (*Grid)(nil)
)

// NewList returns a list; see widget.NewList.
func NewList(length func() int, create func() fyne.CanvasObject, show func(int, fyne.CanvasObject), keys Keys) *List {
	l := &List{List: widget.List{Length: length, CreateItem: create, UpdateItem: show},
		spaced: spaced{ringed{keys: keys}}}
	l.ExtendBaseWidget(l)
	return l
}

func (l *List) FocusGained() { l.show(l, true, l.List.FocusGained) }
func (l *List) FocusLost()   { l.show(l, false, l.List.FocusLost) }

// TypedKey keeps the space bar and the arrow keys.
func (l *List) TypedKey(e *fyne.KeyEvent) {
	if l.OnKey != nil && l.OnKey(e.Name) {
		return
	}
	switch e.Name {
	case fyne.KeySpace, fyne.KeyUp, fyne.KeyDown:
		l.List.TypedKey(e)
	default:
		l.keys.Key(e)
	}
}

func (l *List) TypedRune(r rune) {
	if r != ' ' {
		l.keys.Rune(r)
	}
}

func (l *List) CreateRenderer() fyne.WidgetRenderer { return l.around(l.List.CreateRenderer()) }

// Grid is a grid of small pictures, one of which is selected by the program; it passes on the keys that it does not
// use.
type Grid struct {
	widget.GridWrap
	ringed
	// OnStep is called with the number of places by which an arrow key moves the selection.
	OnStep func(by int)
}

// NewGrid returns a grid; see widget.NewGridWrap.
func NewGrid(length func() int, create func() fyne.CanvasObject, show func(int, fyne.CanvasObject), keys Keys) *Grid {
	g := &Grid{GridWrap: widget.GridWrap{Length: length, CreateItem: create, UpdateItem: show},
		OnStep: func(int) {}, ringed: ringed{keys: keys}}
	g.ExtendBaseWidget(g)
	return g
}

// FocusGained shows the ring, but not the toolkit's cursor.
func (g *Grid) FocusGained() { g.show(g, true) }

func (g *Grid) FocusLost() { g.show(g, false) }

// TypedKey steps by the arrow keys and passes on the others.
func (g *Grid) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft:
		g.OnStep(-1)
	case fyne.KeyRight:
		g.OnStep(1)
	case fyne.KeyUp:
		g.OnStep(-g.ColumnCount())
	case fyne.KeyDown:
		g.OnStep(g.ColumnCount())
	default:
		g.keys.Key(e)
	}
}

func (g *Grid) TypedRune(r rune)                    { g.keys.Rune(r) }
func (g *Grid) CreateRenderer() fyne.WidgetRenderer { return g.around(g.GridWrap.CreateRenderer()) }
