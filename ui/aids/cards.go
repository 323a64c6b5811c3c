package aids

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/ui/xwidget"
)

// Card is a small panel over the picture, with a title and a close button. Pointer events do not reach what lies under
// it.
type Card struct {
	xwidget.Shield
	back    *canvas.Rectangle
	content fyne.CanvasObject
	// wanted is set if the user has opened the card, fits if there is room for it.
	wanted, fits bool
}

// NewCard returns a card that is not wanted yet.
func NewCard(title, content fyne.CanvasObject, closes *xwidget.ToolButton) *Card {
	c := &Card{back: canvas.NewRectangle(color.Transparent)}
	c.back.CornerRadius, c.back.StrokeWidth = 4, 1
	head := container.NewBorder(nil, nil, nil, container.New(xwidget.SmallLayout{}, closes), xwidget.Inset(0, 0, title))
	c.content = container.NewStack(c.back, container.New(layout.NewCustomPaddedLayout(2, 6, 0, 0),
		container.New(layout.NewCustomPaddedVBoxLayout(2), head, xwidget.Inset(0, 8, content))))
	c.ExtendBaseWidget(c)
	c.Hide()
	return c
}

func (c *Card) CreateRenderer() fyne.WidgetRenderer {
	c.paint()
	return widget.NewSimpleRenderer(c.content)
}

func (c *Card) Refresh() {
	c.paint()
	c.BaseWidget.Refresh()
}

// Want says whether the user has opened the card, for the next layout.
func (c *Card) Want(open bool) { c.wanted = open }

// Wanted reports whether the user has opened the card.
func (c *Card) Wanted() bool { return c.wanted }

// Fits reports whether there is room for it.
func (c *Card) Fits() bool { return c.fits }

func (c *Card) paint() {
	c.back.FillColor = theme.Color(theme.ColorNameOverlayBackground)
	c.back.StrokeColor = theme.Color(theme.ColorNameInputBorder)
}

// corner is the corner of the picture in which a card lies.
type corner uint8

const (
	bottomLeft corner = iota
	bottomRight
	topRight
	topLeft
)

// cardMargin is the space around cards, in Fyne units.
const cardMargin = 8

// placeCards returns the positions of cards of the given sizes in an area, and which of them fit beside those before
// them. Cards come in the order of the corners, the most important first. A zero size stands for a card that is not
// wanted.
func placeCards(area fyne.Size, sizes []fyne.Size) (at []fyne.Position, fits []bool) {
	at, fits = make([]fyne.Position, len(sizes)), make([]bool, len(sizes))
	for i, size := range sizes {
		x, y := float32(cardMargin), float32(cardMargin)
		if c := corner(i); c == bottomRight || c == topRight {
			x = area.Width - cardMargin - size.Width
		}
		if c := corner(i); c == bottomLeft || c == bottomRight {
			y = area.Height - cardMargin - size.Height
		}
		at[i] = fyne.NewPos(x, y)
		fits[i] = !size.IsZero() && x >= cardMargin && y >= cardMargin && x+size.Width <= area.Width-cardMargin &&
			y+size.Height <= area.Height-cardMargin
		for j := range i {
			fits[i] = fits[i] && !(fits[j] && overlap(at[i], sizes[i], at[j], sizes[j]))
		}
	}
	return at, fits
}

// overlap reports whether two rectangles are closer to each other than a margin.
func overlap(p fyne.Position, a fyne.Size, q fyne.Position, b fyne.Size) bool {
	return p.X < q.X+b.Width+cardMargin && q.X < p.X+a.Width+cardMargin &&
		p.Y < q.Y+b.Height+cardMargin && q.Y < p.Y+a.Height+cardMargin
}

// CardLayout puts cards into the corners, below a space that stays free at the top, and hides those that do not fit.
type CardLayout struct{ Top float32 }

func (l CardLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	sizes := make([]fyne.Size, len(objects))
	for i, o := range objects {
		if o.(*Card).wanted {
			sizes[i] = o.MinSize()
		}
	}
	at, fits := placeCards(size.SubtractWidthHeight(0, l.Top), sizes)
	for i, o := range objects {
		c := o.(*Card)
		c.fits = fits[i]
		c.Hidden = !(c.wanted && c.fits)
		if !c.Hidden {
			c.Resize(sizes[i])
			c.Move(at[i].AddXY(0, l.Top))
		}
	}
}

// MinSize is zero, so that cards do not limit the size of the picture.
func (CardLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }
