package ui

import (
	"image"
	"math"

	"blik/app/session"
	"blik/app/view"
	"blik/processing"
	"blik/ui/xwidget"
)

// loupeWidth and loupeHeight are the sides of the loupe's content, in Fyne units.
const loupeWidth, loupeHeight = 200, 150

// loupe magnifies the surroundings of the pointer.
type loupe struct {
	k       *kit
	session *session.Session
	card    *card
	title   *xwidget.FixedText
	glass   *glass
}

func newLoupe(c *common) *loupe {
	l := &loupe{k: c.k, session: c.session, title: xwidget.NewFixedText(""), glass: newGlass()}
	l.title.Stretch, l.title.Muted = true, true
	l.card = newCard(l.title, l.glass.raster, c.k.button(viewLoupe, closeIcon()))
	return l
}

func (l *loupe) update(c change) {
	if c.Document {
		l.glass.at = processing.Point{}
	}
	l.card.wanted = l.session.Settings().Loupe && l.session.Document() != nil
	if !l.card.wanted {
		l.glass.setPictures(nil, nil, nil, nil)
		return
	}
	if c.Zoom || c.Document || c.View {
		l.glass.zoom = loupeZoom(l.k.display.port.Transform().Zoom)
		l.title.SetText(l.k.t("Loupe, %s", l.k.percent(l.glass.zoom)))
	}
	if !(c.Zoom || c.Document || c.View || c.Mask || c.Corrections) && c.Pixels.Empty() {
		return
	}
	before, after := l.session.Pictures()
	l.glass.look = l.k.display.port.Options()
	l.glass.look.Compare = l.k.display.mode()
	if l.glass.look.Compare == view.CompareSplit {
		l.glass.look.Compare = view.CompareAfter
	}
	l.glass.setPictures(before, after, l.session.Shown().Mask, l.k.display.layer)
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
	raster   *xwidget.Raster
	renderer *view.Renderer
	look     view.Options
	picture  *view.Pyramid
	zoom     float64
	// at is the centre of the pixel to show; zero until the pointer was over the picture, whose middle is shown until
	// then.
	at  processing.Point
	buf *image.RGBA
}

func newGlass() *glass {
	g := &glass{renderer: view.NewRenderer(), zoom: 4}
	g.raster = xwidget.NewRaster(loupeWidth, loupeHeight, g.draw)
	return g
}

func (g *glass) setPictures(before, after *view.Pyramid, m *view.MaskPyramid, layer *view.Pyramid) {
	if after == nil && g.picture == nil {
		return
	}
	g.picture = after
	if after != nil && g.at == (processing.Point{}) {
		pic := after.Picture()
		g.at = processing.Point{X: float64(pic.Width/2) + 0.5, Y: float64(pic.Height/2) + 0.5}
	}
	g.renderer.SetPictures(before, after, m)
	g.renderer.SetLayer(layer)
	g.raster.Redraw()
}

// show shows the surroundings of a pixel of the picture.
func (g *glass) show(pixel image.Point) {
	at := processing.Point{X: float64(pixel.X) + 0.5, Y: float64(pixel.Y) + 0.5}
	if at == g.at {
		return
	}
	g.at = at
	if g.picture != nil {
		g.raster.Redraw()
	}
}

// draw is the raster's generator.
func (g *glass) draw(w, h int) image.Image {
	if g.buf == nil || g.buf.Rect.Dx() != w || g.buf.Rect.Dy() != h {
		g.buf = image.NewRGBA(image.Rect(0, 0, w, h))
	}
	if g.picture != nil {
		t := view.Transform{Zoom: g.zoom, Turn: g.picture.Turn()}.CentreOn(g.at, image.Pt(w, h))
		// Whole device pixels of each pixel of the picture, also where the middle of the loupe lies between two.
		t.X, t.Y = math.Round(t.X*t.Zoom)/t.Zoom, math.Round(t.Y*t.Zoom)/t.Zoom
		g.renderer.Render(g.buf, t, g.look)
		framePixel(g.buf, t, g.at)
	}
	return g.buf
}

// leastFrame is the least side of the area in the loupe's frame, in device pixels.
const leastFrame = 6

// framePixel draws a dark frame in a light one around the pixel of the picture whose centre is at, or around a larger
// area where the pixel is shown too small.
func framePixel(dst *image.RGBA, t view.Transform, at processing.Point) {
	middle := t.ImageToScreen(at)
	side := max(t.Zoom, leastFrame)
	x, y := int(math.Round(middle.X-side/2)), int(math.Round(middle.Y-side/2))
	inside := image.Rect(x, y, x+int(side), y+int(side))
	for i, v := range [2]uint8{0, 255} {
		inner := inside.Inset(-i)
		outer := inner.Inset(-1)
		for y := outer.Min.Y; y < outer.Max.Y; y++ {
			for x := outer.Min.X; x < outer.Max.X; x++ {
				if p := image.Pt(x, y); !p.In(inner) && p.In(dst.Rect) {
					copy(dst.Pix[dst.PixOffset(x, y):], []uint8{v, v, v, 255})
				}
			}
		}
	}
}
