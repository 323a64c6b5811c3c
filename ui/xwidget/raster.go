package xwidget

import (
	"image"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"
)

// Raster shows pixels that draw makes for its size in device pixels, one for one, also at a fractional interface size.
// draw must return packed pixels.
type Raster struct {
	widget.BaseWidget
	raster *canvas.Raster
	draw   func(w, h int) image.Image
	least  fyne.Size
	scale  float64
}

// NewRaster returns a raster of at least the given size in Fyne units.
func NewRaster(width, height float32, draw func(w, h int) image.Image) *Raster {
	r := &Raster{draw: draw, least: fyne.NewSize(width, height), scale: 1}
	r.raster = canvas.NewRaster(r.generate)
	r.raster.ScaleMode = canvas.ImageScalePixels
	r.ExtendBaseWidget(r)
	return r
}

// generate is the raster's generator. A raster that was laid out before it belonged to a canvas takes its scale here.
func (r *Raster) generate(w, h int) image.Image {
	if ScaleOf(r) != r.scale {
		r.fit(r.Size())
	}
	return r.draw(w, h)
}

func (r *Raster) fit(size fyne.Size) { _, r.scale = FitRaster(r.raster, r, size) }

// Device returns the size in device pixels and the number of device pixels per Fyne unit.
func (r *Raster) Device() (size image.Point, scale float64) {
	return wholePixels(r.Size(), r.scale), r.scale
}

// Redraw requests new pixels.
func (r *Raster) Redraw() { r.raster.Refresh() }

func (r *Raster) MinSize() fyne.Size                  { return r.least }
func (r *Raster) CreateRenderer() fyne.WidgetRenderer { return rasterRenderer{r} }

type rasterRenderer struct{ *Raster }

func (rasterRenderer) Destroy()                       {}
func (r rasterRenderer) Layout(size fyne.Size)        { r.fit(size) }
func (r rasterRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.raster} }
func (r rasterRenderer) Refresh()                     { r.Redraw() }

// FitRaster gives a raster the largest size of whole device pixels within a size in Fyne units, and returns it with the
// scale of the canvas that shows on, 1 if none does yet.
//
// The toolkit rounds both ends of a raster to device pixels. If its length were not whole, they could be one more or
// less apart than the pixels drawn, and a row of them would be repeated or dropped.
func FitRaster(r *canvas.Raster, on fyne.CanvasObject, size fyne.Size) (device image.Point, scale float64) {
	scale = ScaleOf(on)
	device = wholePixels(size, scale)
	r.Resize(fyne.NewSize(float32(float64(device.X)/scale), float32(float64(device.Y)/scale)))
	return device, scale
}

// ScaleOf returns the number of device pixels per Fyne unit on the canvas of an object, 1 if it is on none.
func ScaleOf(o fyne.CanvasObject) float64 {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil {
		return scaleOf(c)
	}
	return 1
}

// scaleOf returns the number of device pixels per Fyne unit. On macOS and Wayland a unit of Canvas.Scale may be several
// pixels, of which only the positions of pixels tell.
func scaleOf(c fyne.Canvas) float64 {
	const far, rounding = 1 << 20, 1e-5
	scale := float64(c.Scale())
	x, _ := c.PixelCoordinateForPosition(fyne.NewPos(far, 0))
	if exact := float64(x) / far; math.Abs(exact-scale) > rounding {
		return exact
	}
	return scale
}

// wholePixels returns the number of complete device pixels in a size in Fyne units.
func wholePixels(size fyne.Size, scale float64) image.Point {
	const rounding = 0.01
	return image.Pt(int(float64(size.Width)*scale+rounding), int(float64(size.Height)*scale+rounding))
}
