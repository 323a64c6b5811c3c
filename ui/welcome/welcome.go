// Package welcome shows what the window has while no picture is open: what the program does, and pictures to open.
package welcome

import (
	"image"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/ui/xwidget"
)

// Page explains the program and offers pictures to open.
type Page struct {
	Options
	// Object is what the window shows.
	Object fyne.CanvasObject
	hint   *widget.Label
	recent *fyne.Container
}

// Options of a Page.
type Options struct {
	Keys xwidget.Keys
	// Sentences explain the program, Buttons open something. Tour is shown to those who have not opened a picture yet,
	// Hint to all others.
	Sentences []string
	Buttons   []*xwidget.Button
	Tour      fyne.CanvasObject
	Hint      string
	// Open opens a recent picture, of which Thumbnail may know a small one.
	Open      func(path string)
	Thumbnail func(path string) (image.Image, bool)
}

// centred centres the page and limits its width to one that is good to read.
type centred struct{}

// pageWidth is that width; cellWidth and cellSide are the width of a recent picture with its name and the longer side
// of the picture, in Fyne units.
const pageWidth, cellWidth, cellSide = 620, 120, 96

func (centred) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	page := objects[0]
	width := min(pageWidth, size.Width)
	// The height of the lines depends on the width.
	page.Resize(fyne.NewSize(width, page.MinSize().Height))
	height := page.MinSize().Height
	page.Resize(fyne.NewSize(width, height))
	page.Move(fyne.NewPos((size.Width-width)/2, max(0, (size.Height-height)/2)))
}

func (centred) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

// mostRecent is the number of recent pictures shown.
const mostRecent = 5

func New(o Options) *Page {
	p := &Page{
		Options: o, hint: xwidget.NewWrapped(o.Hint),
		recent: container.NewGridWrap(fyne.NewSize(cellWidth, cellSide+40)),
	}
	words := container.New(layout.NewCustomPaddedVBoxLayout(0))
	for _, sentence := range o.Sentences {
		words.Add(xwidget.NewWrapped(sentence))
	}
	words.Add(p.hint)
	var cell fyne.Size
	buttons := container.New(nil)
	for _, b := range o.Buttons {
		cell = cell.Max(b.MinSize())
		buttons.Add(b)
	}
	buttons.Layout = layout.NewGridWrapLayout(cell)
	p.Object = container.NewStack(canvas.NewRectangle(theme.Color(theme.ColorNameBackground)),
		container.NewVScroll(container.New(centred{}, container.NewVBox(words, xwidget.NewGap(0, 6), buttons,
			xwidget.NewGap(0, 6), p.Tour, p.recent))))
	return p
}

// Enable makes the buttons usable, or grey.
func (p *Page) Enable(on bool) {
	for _, b := range p.Buttons {
		xwidget.SetEnabled(b, on)
	}
}

// Show shows small pictures of the files that were opened last.
func (p *Page) Show(paths []string) {
	xwidget.SetVisible(p.Tour, len(paths) == 0)
	xwidget.SetVisible(p.hint, len(paths) > 0)
	p.recent.RemoveAll()
	for _, path := range paths[:min(len(paths), mostRecent)] {
		small := &canvas.Image{FillMode: canvas.ImageFillContain, Resource: theme.FileImageIcon()}
		if m, ok := p.Thumbnail(path); ok {
			small.Image, small.Resource = m, nil
		}
		small.SetMinSize(fyne.NewSquareSize(cellSide))
		name := xwidget.NewButton(xwidget.ShortName(filepath.Base(path)), p.Keys, func() { p.Open(path) })
		name.Importance = widget.LowImportance
		p.recent.Add(container.NewVBox(small, name))
	}
}

// Recent returns the buttons of the recent pictures.
func (p *Page) Recent() []*xwidget.Button {
	var buttons []*xwidget.Button
	for _, o := range p.recent.Objects {
		buttons = append(buttons, o.(*fyne.Container).Objects[1].(*xwidget.Button))
	}
	return buttons
}
