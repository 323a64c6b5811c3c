package ui

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"blik/app/view"
	"blik/processing"
	"blik/ui/xwidget"
)

// loupeWidth and loupeHeight are the sides of the loupe's content, in Fyne units.
const loupeWidth, loupeHeight = 200, 150

// loupe magnifies the surroundings of the pointer.
type loupe struct {
	*common
	card  *card
	title *xwidget.FixedText
	glass *glass
}

func newLoupe(c *common) *loupe {
	l := &loupe{common: c, title: xwidget.NewFixedText(""), glass: newGlass()}
	l.title.Stretch, l.title.Muted = true, true
	l.card = newCard(l.title, l.glass, c.button("view.loupe", closeIcon()))
	return l
}

func (l *loupe) update(c change) {
	l.card.wanted = l.Settings().Loupe && l.Document() != nil
	if !l.card.wanted {
		l.glass.setPictures(nil, nil, nil, nil)
		return
	}
	if c.Zoom || c.Document || c.View {
		l.glass.zoom = loupeZoom(l.display.port.Transform().Zoom)
		l.title.SetText(l.t("Loupe, %s", l.percent(l.glass.zoom)))
	}
	if !(c.Zoom || c.Document || c.View || c.Mask || c.Corrections) && c.Pixels.Empty() {
		return
	}
	before, after := l.Pictures()
	l.glass.look = l.display.port.Options()
	l.glass.look.Compare = l.display.mode()
	if l.glass.look.Compare == view.CompareSplit {
		l.glass.look.Compare = view.CompareAfter
	}
	l.glass.setPictures(before, after, l.MaskView(), l.display.layer)
}

// loupeZoom returns the loupe's zoom for the viewport's zoom: four times as large, at least 200 %, at most the largest
// zoom.
func loupeZoom(zoom float64) float64 {
	z := 2.0
	for z < view.MaxZoom && z < 4*zoom {
		z *= 2
	}
	return min(z, view.MaxZoom)
}

// glass is the content of the loupe, with a frame around the pixel under the pointer.
type glass struct {
	widget.BaseWidget
	raster   *canvas.Raster
	renderer *view.Renderer
	look     view.Options
	picture  *view.Pyramid
	zoom     float64
	at       processing.Point
	buf      *image.RGBA
}

func newGlass() *glass {
	g := &glass{renderer: view.NewRenderer(), zoom: 4}
	g.raster = canvas.NewRaster(g.draw)
	g.raster.ScaleMode = canvas.ImageScalePixels
	g.ExtendBaseWidget(g)
	return g
}

func (g *glass) setPictures(before, after *view.Pyramid, m *view.MaskPyramid, layer *view.Pyramid) {
	if after == nil && g.picture == nil {
		return
	}
	g.picture = after
	g.renderer.SetPictures(before, after, m)
	g.renderer.SetLayer(layer)
	g.raster.Refresh()
}

// show shows the surroundings of a pixel of the picture.
func (g *glass) show(pixel image.Point) {
	at := processing.Point{X: float64(pixel.X) + 0.5, Y: float64(pixel.Y) + 0.5}
	if g.picture != nil && at != g.at {
		g.at = at
		g.raster.Refresh()
	}
}

// draw is the raster's generator.
func (g *glass) draw(w, h int) image.Image {
	if g.buf == nil || g.buf.Rect.Dx() != w || g.buf.Rect.Dy() != h {
		g.buf = image.NewRGBA(image.Rect(0, 0, w, h))
	}
	if g.picture != nil {
		t := view.Transform{Zoom: g.zoom, Turn: g.picture.Turn()}.CentreOn(g.at, image.Pt(w, h))
		g.renderer.Render(g.buf, t, g.look)
		frameMiddle(g.buf, int(g.zoom))
	}
	return g.buf
}

// frameMiddle draws a dark frame in a light one around the pixel in the middle.
func frameMiddle(dst *image.RGBA, zoom int) {
	middle := image.Pt(dst.Rect.Dx()/2, dst.Rect.Dy()/2)
	half := max(zoom/2+1, 3)
	for i, v := range [2]uint8{0, 255} {
		r := image.Rect(middle.X-half-i, middle.Y-half-i, middle.X+half+i, middle.Y+half+i)
		for x := r.Min.X; x <= r.Max.X; x++ {
			for y := r.Min.Y; y <= r.Max.Y; y++ {
				if (x == r.Min.X || x == r.Max.X || y == r.Min.Y || y == r.Max.Y) && image.Pt(x, y).In(dst.Rect) {
					copy(dst.Pix[dst.PixOffset(x, y):], []uint8{v, v, v, 255})
				}
			}
		}
	}
}

// MinSize is part of fyne.Widget.
func (g *glass) MinSize() fyne.Size { return fyne.NewSize(loupeWidth, loupeHeight) }

// CreateRenderer is part of fyne.Widget.
func (g *glass) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(g.raster) }
