package ui

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

	"blik/app/session"
	"blik/app/session/film"
	"blik/internal/message"
	"blik/ui/xwidget"
)

// frameWidth and frameHeight are the sides of a thumbnail in the filmstrip, in Fyne units.
const frameWidth, frameHeight = 96, 64

// filmstrip shows thumbnails of the pictures to be processed one after the other, with the state of each; it is hidden
// if there are none.
type filmstrip struct {
	k       *kit
	session *session.Session
	frames  *film.Film
	object  fyne.CanvasObject
	open    func(path string)
	row     *fyne.Container
	scroll  *container.Scroll
	items   []*frameItem
	cursor  *frameCursor
}

func newFilmstrip(c *common, open func(path string)) *filmstrip {
	s := &filmstrip{k: c.k, session: c.session, frames: c.frames, open: open,
		row: container.New(layout.NewCustomPaddedHBoxLayout(4))}
	s.scroll = container.NewHScroll(container.New(layout.NewCustomPaddedLayout(4, 6, 6, 6), s.row))
	s.cursor = newFrameCursor(s)
	s.object = container.NewVBox(widget.NewSeparator(), s.cursor)
	s.object.Hide()
	return s
}

func (s *filmstrip) update(c change) {
	if !c.Film && !c.Document {
		return
	}
	frames := s.frames.Frames()
	xwidget.SetVisible(s.object, len(frames) > 0)
	for len(s.items) < len(frames) {
		item := newFrameItem(s)
		s.items = append(s.items, item)
		s.row.Add(item)
	}
	for i, item := range s.items {
		xwidget.SetVisible(item, i < len(frames))
		if i < len(frames) {
			item.show(frames[i])
		}
	}
	if c.Document {
		s.reveal()
	}
}

// reveal scrolls to the open picture.
func (s *filmstrip) reveal() {
	for _, item := range s.items {
		if item.Visible() && item.current {
			s.scrollTo(item)
		}
	}
}

// scrollTo brings a picture into view.
func (s *filmstrip) scrollTo(item *frameItem) {
	left, width := item.Position().X, s.scroll.Size().Width
	if at := s.scroll.Offset.X; left < at || left+frameWidth > at+width {
		s.scroll.ScrollToOffset(fyne.NewPos(max(0, left-width/2), 0))
	}
}

// frameCursor makes the filmstrip usable by keyboard: a ring around one picture, which the arrow keys, Home and End
// move; Enter or the space bar opens it.
type frameCursor struct {
	widget.BaseWidget
	strip *filmstrip
	// at is the index of the picture with the ring; −1 while the strip does not have the focus.
	at int
}

var _ desktop.Keyable = (*frameCursor)(nil)

func newFrameCursor(s *filmstrip) *frameCursor {
	c := &frameCursor{strip: s, at: -1}
	c.ExtendBaseWidget(c)
	return c
}

// move puts the ring around another picture.
func (c *frameCursor) move(to int) {
	items := c.strip.items
	if c.at >= 0 && c.at < len(items) {
		items[c.at].mark(false)
	}
	c.at = min(to, len(c.strip.frames.Frames())-1)
	if c.at >= 0 {
		items[c.at].mark(true)
		c.strip.scrollTo(items[c.at])
	}
}

// FocusGained shows the ring around the open picture.
func (c *frameCursor) FocusGained() {
	c.move(max(0, slices.IndexFunc(c.strip.items, func(i *frameItem) bool { return i.Visible() && i.current })))
}

// FocusLost removes it.
func (c *frameCursor) FocusLost() { c.move(-1) }

// TypedKey moves the ring, opens the picture on Enter, and passes on other keys.
func (c *frameCursor) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft:
		c.move(max(0, c.at-1))
	case fyne.KeyRight:
		c.move(c.at + 1)
	case fyne.KeyHome:
		c.move(0)
	case fyne.KeyEnd:
		c.move(len(c.strip.items) - 1)
	case fyne.KeyReturn, fyne.KeyEnter:
		c.open()
	case fyne.KeySpace:
	default:
		c.strip.k.keys.Key(e)
	}
}

// TypedRune opens the picture on the space bar and passes on other characters.
func (c *frameCursor) TypedRune(r rune) {
	if r == ' ' {
		c.open()
		return
	}
	c.strip.k.keys.Rune(r)
}

func (c *frameCursor) open() {
	if c.at >= 0 {
		c.strip.items[c.at].Tapped(nil)
	}
}

// KeyDown passes the key on.
func (c *frameCursor) KeyDown(e *fyne.KeyEvent) {
	if e.Name != fyne.KeySpace {
		c.strip.k.keys.Down(e)
	}
}

// KeyUp passes the key on.
func (c *frameCursor) KeyUp(e *fyne.KeyEvent) { c.strip.k.keys.Up(e) }

// CreateRenderer is part of fyne.Widget.
func (c *frameCursor) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(c.strip.scroll)
}

// frameItem is one picture of the filmstrip. A click opens it.
type frameItem struct {
	widget.BaseWidget
	strip   *filmstrip
	frame   film.Frame
	current bool

	back        *canvas.Rectangle
	small       *canvas.Image
	name, state *xwidget.FixedText
	content     fyne.CanvasObject
}

var (
	_ fyne.Tappable      = (*frameItem)(nil)
	_ desktop.Hoverable  = (*frameItem)(nil)
	_ desktop.Cursorable = (*frameItem)(nil)
)

func newFrameItem(s *filmstrip) *frameItem {
	i := &frameItem{strip: s, back: canvas.NewRectangle(color.Transparent), small: &canvas.Image{}}
	i.back.CornerRadius = 4
	i.small.FillMode = canvas.ImageFillContain
	i.small.SetMinSize(fyne.NewSize(frameWidth, frameHeight))
	i.name, i.state = xwidget.NewFixedText(""), xwidget.NewFixedText("")
	i.name.Stretch, i.state.Stretch, i.state.Muted = true, true, true
	i.content = container.NewStack(i.back, container.New(layout.NewCustomPaddedLayout(3, 3, 4, 4),
		container.New(layout.NewCustomPaddedVBoxLayout(1), i.small, i.name, i.state)))
	i.ExtendBaseWidget(i)
	return i
}

// show updates the item.
func (i *frameItem) show(f film.Frame) {
	doc := i.strip.session.Document()
	current := doc != nil && doc.Path() == f.Path
	i.back.FillColor = color.Transparent
	xwidget.ShowRing(i.back, i.strip.cursor.at >= 0 && i.strip.items[i.strip.cursor.at] == i)
	if current {
		i.back.FillColor = theme.Color(theme.ColorNameSelection)
	}
	i.back.Refresh()
	if f.Small != i.frame.Small {
		i.small.Image = f.Small
		i.small.Refresh()
	}
	i.frame, i.current = f, current
	i.name.SetText(baseName(f.Path))
	i.state.SetText(i.strip.k.frameText(f))
}

// mark shows or hides the ring of the keyboard.
func (i *frameItem) mark(on bool) {
	xwidget.ShowRing(i.back, on)
	i.back.Refresh()
	if on {
		i.strip.k.tips.ShowLater(i, i.tip())
	} else {
		i.strip.k.tips.Hide()
	}
}

// tip returns the full path, or the error.
func (i *frameItem) tip() string {
	if i.frame.Err != nil {
		return i.strip.k.prompts.errorText(i.frame.Err)
	}
	return i.frame.Path
}

// frameText describes the state of a picture.
func (k *kit) frameText(f film.Frame) string {
	switch {
	case f.Err != nil:
		return k.t("failed")
	case f.State == film.FrameClear:
		return k.t("no findings")
	case f.State == film.FrameFound:
		return k.texts.Plural(f.Findings, "%s finding", "%s findings", k.texts.Int(f.Findings))
	case f.State == film.FrameCorrected:
		return k.t("corrected")
	case f.State == film.FrameSaved:
		return k.t("saved")
	}
	return k.t("to do")
}

// Tapped opens the picture.
func (i *frameItem) Tapped(*fyne.PointEvent) {
	i.strip.k.tips.Hide()
	i.strip.open(i.frame.Path)
}

// Cursor shows that the picture can be clicked.
func (i *frameItem) Cursor() desktop.Cursor { return desktop.PointerCursor }

// MouseIn shows the full path, or the error.
func (i *frameItem) MouseIn(*desktop.MouseEvent) {
	i.strip.k.tips.ShowLater(i, i.tip())
}

// MouseMoved is part of desktop.Hoverable.
func (i *frameItem) MouseMoved(*desktop.MouseEvent) {}

// MouseOut hides the tooltip.
func (i *frameItem) MouseOut() { i.strip.k.tips.Hide() }

// CreateRenderer is part of fyne.Widget.
func (i *frameItem) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(i.content) }

// openFrame opens a picture of the filmstrip; the work on the previous one is stored in its project without a question.
func (f *files) openFrame(path string) {
	if doc := f.session.Document(); doc != nil && doc.Path() == path {
		return
	}
	name := message.Of("Open %s", baseName(path))
	if f.session.Queue().Add(name, func() { f.kept(func() { f.openNow(path, func() {}) }) }) {
		f.k.sayQueued(name)
	}
}

// openBeside opens the next or previous picture of the filmstrip.
func (f *files) openBeside(direction int) func() {
	return func() {
		if path, ok := f.frames.Beside(direction); ok {
			f.openFrame(path)
		}
	}
}

// kept stores the work on the open picture, if any, in its project, and then calls next.
func (f *files) kept(next func()) {
	f.k.display.end()
	mask, picture := f.store.Unsaved()
	if f.session.Document() == nil || !mask && !picture && !f.store.UnsavedDecisions() {
		next()
		return
	}
	f.saveProject(next)
}

// addFolder fills the filmstrip with the folder of the open picture.
func addFolder(f *files) { f.addFrames([]string{filepath.Dir(f.session.Document().Path())}) }

// addFrames adds pictures and folders to the filmstrip.
func (f *files) addFrames(paths []string) {
	n := f.frames.Add(paths)
	f.k.say(f.k.texts.Plural(n, "%s picture added to the filmstrip", "%s pictures added to the filmstrip",
		f.k.texts.Int(n)))
}

// batch processes all pictures of the filmstrip.
func (f *files) batch(correct bool) func() {
	return func() {
		f.kept(func() {
			f.frames.RunBatch(correct, f.k.texts.Code(), func(b film.Batch, err error) {
				if f.k.prompts.ended("Could not process the pictures", err) {
					f.k.say(f.k.t("%s done, %s skipped, %s failed", f.k.texts.Int(b.Done), f.k.texts.Int(b.Skipped),
						f.k.texts.Int(b.Failed)))
				}
			})
		})
	}
}
