package aids

import (
	"image"
	"math"

	"fyne.io/fyne/v2"

	"blik/app/view"
	"blik/processing"
	"blik/ui/xwidget"
)

// loupeWidth and loupeHeight are the sides of the loupe's content, in Fyne units.
const loupeWidth, loupeHeight = 200, 150

// Glass is the content of the loupe, with a frame around the pixel under the pointer.
type Glass struct {
	raster   *xwidget.Raster
	renderer *view.Renderer
	look     view.Options
	picture  *view.Pyramid
	zoom     float64
	// at is the centre of the pixel to show.
	at  processing.Point
	buf *image.RGBA
}

// NewGlass returns a loupe of an empty picture.
func NewGlass() *Glass {
	g := &Glass{renderer: view.NewRenderer(), zoom: 4}
	g.raster = xwidget.NewRaster(loupeWidth, loupeHeight, g.draw)
	return g
}

// Object returns what shows the content.
func (g *Glass) Object() fyne.CanvasObject { return g.raster }

// Magnify sets the zoom, which is shown with the next pictures.
func (g *Glass) Magnify(zoom float64) { g.zoom = zoom }

// At returns the centre of the pixel to show.
func (g *Glass) At() processing.Point { return g.at }

// Clear shows nothing.
func (g *Glass) Clear() { g.SetPictures(nil, nil, nil, nil, g.look) }

// SetPictures shows pictures, which are nil if there are none.
func (g *Glass) SetPictures(before, after *view.Pyramid, m *view.MaskPyramid, layer *view.Pyramid, look view.Options) {
	g.look = look
	if after == nil && g.picture == nil {
		return
	}
	g.picture = after
	g.renderer.SetPictures(before, after, m)
	g.renderer.SetLayer(layer)
	g.raster.Redraw()
}

// Show shows the surroundings of a pixel of the picture.
func (g *Glass) Show(pixel image.Point) {
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
func (g *Glass) draw(w, h int) image.Image {
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
