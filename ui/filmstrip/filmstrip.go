// Package filmstrip shows the pictures that are processed one after the other, with their states.
package filmstrip

import (
	"image/color"
	"path/filepath"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/i18n"
	"blik/app/session"
	"blik/app/session/film"
	"blik/ui/xwidget"
)

// frameWidth and frameHeight are the sides of a thumbnail in the filmstrip, in Fyne units.
const frameWidth, frameHeight = 96, 64

// Strip shows thumbnails of the pictures to be processed one after the other, with the state of each; it is hidden
// if there are none.
type Strip struct {
	Options
	// Object is what the window shows.
	Object fyne.CanvasObject
	// Items are the pictures; those beyond the number of frames are hidden.
	Items []*Item
	// Cursor gets the focus.
	Cursor *Cursor
	row    *fyne.Container
	scroll *container.Scroll
}

// Options of a Strip.
type Options struct {
	Texts   *i18n.Printer
	Tips    *xwidget.Tooltips
	Keys    xwidget.Keys
	Session *session.Session
	Frames  *film.Film
	// Open opens a picture. ErrorText returns an error as a sentence.
	Open      func(path string)
	ErrorText func(err error) string
}

// New returns a strip, hidden until it has pictures.
func New(o Options) *Strip {
	s := &Strip{Options: o, row: container.New(layout.NewCustomPaddedHBoxLayout(4))}
	s.scroll = container.NewHScroll(container.New(layout.NewCustomPaddedLayout(4, 6, 6, 6), s.row))
	s.Cursor = newCursor(s)
	s.Object = container.NewVBox(widget.NewSeparator(), s.Cursor)
	s.Object.Hide()
	return s
}

// Update shows the pictures anew. opened says that another one is open; it is scrolled into view.
func (s *Strip) Update(opened bool) {
	frames := s.Frames.Frames()
	xwidget.SetVisible(s.Object, len(frames) > 0)
	for len(s.Items) < len(frames) {
		item := newItem(s)
		s.Items = append(s.Items, item)
		s.row.Add(item)
	}
	for i, item := range s.Items {
		xwidget.SetVisible(item, i < len(frames))
		if i < len(frames) {
			item.show(frames[i])
		}
	}
	if opened {
		s.reveal()
	}
}

// reveal scrolls to the open picture.
func (s *Strip) reveal() {
	for _, item := range s.Items {
		if item.Visible() && item.Current {
			s.scrollTo(item)
		}
	}
}

// scrollTo brings a picture into view.
func (s *Strip) scrollTo(item *Item) {
	left, width := item.Position().X, s.scroll.Size().Width
	if at := s.scroll.Offset.X; left < at || left+frameWidth > at+width {
		s.scroll.ScrollToOffset(fyne.NewPos(max(0, left-width/2), 0))
	}
}

// Cursor makes the filmstrip usable by keyboard: a ring around one picture, which the arrow keys, Home and End
// move; Enter or the space bar opens it.
type Cursor struct {
	widget.BaseWidget
	strip *Strip
	// at is the index of the picture with the ring; −1 while the strip does not have the focus.
	at int
}

var _ desktop.Keyable = (*Cursor)(nil)

func newCursor(s *Strip) *Cursor {
	c := &Cursor{strip: s, at: -1}
	c.ExtendBaseWidget(c)
	return c
}

// move puts the ring around another picture.
func (c *Cursor) move(to int) {
	items := c.strip.Items
	if c.at >= 0 && c.at < len(items) {
		items[c.at].mark(false)
	}
	c.at = min(to, len(c.strip.Frames.Frames())-1)
	if c.at >= 0 {
		items[c.at].mark(true)
		c.strip.scrollTo(items[c.at])
	}
}

// FocusGained shows the ring around the open picture.
func (c *Cursor) FocusGained() {
	c.move(max(0, slices.IndexFunc(c.strip.Items, func(i *Item) bool { return i.Visible() && i.Current })))
}

// FocusLost removes it.
func (c *Cursor) FocusLost() { c.move(-1) }

// TypedKey moves the ring, opens the picture on Enter, and passes on other keys.
func (c *Cursor) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft:
		c.move(max(0, c.at-1))
	case fyne.KeyRight:
		c.move(c.at + 1)
	case fyne.KeyHome:
		c.move(0)
	case fyne.KeyEnd:
		c.move(len(c.strip.Items) - 1)
	case fyne.KeyReturn, fyne.KeyEnter:
		c.open()
	case fyne.KeySpace:
	default:
		c.strip.Keys.Key(e)
	}
}

// TypedRune opens the picture on the space bar and passes on other characters.
func (c *Cursor) TypedRune(r rune) {
	if r == ' ' {
		c.open()
		return
	}
	c.strip.Keys.Rune(r)
}

func (c *Cursor) open() {
	if c.at >= 0 {
		c.strip.Items[c.at].Tapped(nil)
	}
}

func (c *Cursor) KeyDown(e *fyne.KeyEvent) {
	if e.Name != fyne.KeySpace {
		c.strip.Keys.Down(e)
	}
}

func (c *Cursor) KeyUp(e *fyne.KeyEvent) { c.strip.Keys.Up(e) }

func (c *Cursor) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(c.strip.scroll)
}

// Item is one picture of the filmstrip. A click opens it.
type Item struct {
	widget.BaseWidget
	// Name and State are its texts, Current says whether it is open.
	Name, State *xwidget.FixedText
	Current     bool

	strip   *Strip
	frame   film.Frame
	back    *canvas.Rectangle
	small   *canvas.Image
	content fyne.CanvasObject
}

var (
	_ fyne.Tappable      = (*Item)(nil)
	_ desktop.Hoverable  = (*Item)(nil)
	_ desktop.Cursorable = (*Item)(nil)
)

func newItem(s *Strip) *Item {
	i := &Item{strip: s, back: canvas.NewRectangle(color.Transparent), small: &canvas.Image{}}
	i.back.CornerRadius = 4
	i.small.FillMode = canvas.ImageFillContain
	i.small.SetMinSize(fyne.NewSize(frameWidth, frameHeight))
	i.Name, i.State = xwidget.NewFixedText(""), xwidget.NewFixedText("")
	i.Name.Stretch, i.State.Stretch, i.State.Muted = true, true, true
	i.content = container.NewStack(i.back, container.New(layout.NewCustomPaddedLayout(3, 3, 4, 4),
		container.New(layout.NewCustomPaddedVBoxLayout(1), i.small, i.Name, i.State)))
	i.ExtendBaseWidget(i)
	return i
}

// show updates the item.
func (i *Item) show(f film.Frame) {
	doc := i.strip.Session.Document()
	current := doc != nil && doc.Path() == f.Path
	i.back.FillColor = color.Transparent
	xwidget.ShowRing(i.back, i.strip.Cursor.at >= 0 && i.strip.Items[i.strip.Cursor.at] == i)
	if current {
		i.back.FillColor = theme.Color(theme.ColorNameSelection)
	}
	i.back.Refresh()
	if f.Small != i.frame.Small {
		i.small.Image = f.Small
		i.small.Refresh()
	}
	i.frame, i.Current = f, current
	i.Name.SetText(xwidget.ShortName(filepath.Base(f.Path)))
	i.State.SetText(i.strip.stateText(f))
}

// mark shows or hides the ring of the keyboard.
func (i *Item) mark(on bool) {
	xwidget.ShowRing(i.back, on)
	i.back.Refresh()
	if on {
		i.strip.Tips.ShowLater(i, i.tip())
	} else {
		i.strip.Tips.Hide()
	}
}

// tip returns the full path, or the error.
func (i *Item) tip() string {
	if i.frame.Err != nil {
		return i.strip.ErrorText(i.frame.Err)
	}
	return i.frame.Path
}

// stateText describes the state of a picture.
func (s *Strip) stateText(f film.Frame) string {
	switch {
	case f.Err != nil:
		return s.Texts.Sprintf("failed")
	case f.State == film.FrameClear:
		return s.Texts.Sprintf("no findings")
	case f.State == film.FrameFound && f.Left < f.Findings:
		return s.Texts.Sprintf("%s left", s.Texts.Int(f.Left))
	case f.State == film.FrameFound:
		return s.Texts.Plural(f.Findings, "%s finding", "%s findings", s.Texts.Int(f.Findings))
	case f.State == film.FrameCorrected:
		return s.Texts.Sprintf("corrected")
	case f.State == film.FrameSaved:
		return s.Texts.Sprintf("saved")
	}
	return s.Texts.Sprintf("to do")
}

// Ringed reports whether the ring of the keyboard is around the picture.
func (i *Item) Ringed() bool { return i.back.StrokeWidth > 0 }

// Tapped opens the picture.
func (i *Item) Tapped(*fyne.PointEvent) {
	i.strip.Tips.Hide()
	i.strip.Open(i.frame.Path)
}

// Cursor shows that the picture can be clicked.
func (i *Item) Cursor() desktop.Cursor { return desktop.PointerCursor }

// MouseIn shows the full path, or the error.
func (i *Item) MouseIn(*desktop.MouseEvent) {
	i.strip.Tips.ShowLater(i, i.tip())
}

func (i *Item) MouseMoved(*desktop.MouseEvent) {}

// MouseOut hides the tooltip.
func (i *Item) MouseOut() { i.strip.Tips.Hide() }

func (i *Item) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(i.content) }
