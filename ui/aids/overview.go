package aids

import (
	"image"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"blik/app/view"
	"blik/processing"
	"blik/ui/xwidget"
)

// navigatorWidth and navigatorHeight are the sides of the overview, in Fyne units.
const navigatorWidth, navigatorHeight = 200, 150

// Overview is the small picture with the frame.
type Overview struct {
	widget.BaseWidget
	// centred is called with the point of the picture that is to be centred.
	centred func(p processing.Point)

	raster   *xwidget.Raster
	frame    [2]*canvas.Rectangle
	renderer *view.Renderer
	look     view.Options
	picture  *view.Pyramid
	buf      *image.RGBA
	dirty    bool
	// seen is the viewport's transform, device its size in device pixels.
	seen   view.Transform
	device image.Point
}

var (
	_ fyne.Draggable    = (*Overview)(nil)
	_ desktop.Mouseable = (*Overview)(nil)
)

// NewOverview returns an empty overview. centred is called with the point of the picture that the user wants to see in
// the middle.
func NewOverview(centred func(p processing.Point)) *Overview {
	o := &Overview{centred: centred, renderer: view.NewRenderer(), look: view.DefaultOptions()}
	o.raster = xwidget.NewRaster(navigatorWidth, navigatorHeight, o.draw)
	for i, c := range []color.Color{color.NRGBA{A: 170}, color.NRGBA{255, 210, 0, 255}} {
		o.frame[i] = canvas.NewRectangle(color.Transparent)
		o.frame[i].StrokeColor, o.frame[i].StrokeWidth = c, float32(3-2*i)
	}
	o.ExtendBaseWidget(o)
	return o
}

// Has reports whether a picture is shown.
func (o *Overview) Has() bool { return o.picture != nil }

// Clear shows nothing.
func (o *Overview) Clear() { o.SetPicture(nil, nil, o.look) }

// Frame returns the frame around the visible part.
func (o *Overview) Frame() fyne.CanvasObject { return o.frame[1] }

// SetPicture shows a picture with its mask.
func (o *Overview) SetPicture(p *view.Pyramid, m *view.MaskPyramid, look view.Options) {
	o.look = look
	if p == nil && o.picture == nil {
		return
	}
	o.picture, o.dirty = p, true
	o.renderer.SetPicture(p, m)
	o.raster.Redraw()
}

// Follow puts the frame around the part that a viewport of the given size shows.
func (o *Overview) Follow(t view.Transform, device image.Point) {
	if t == o.seen && device == o.device {
		return
	}
	o.seen, o.device = t, device
	o.layoutFrame()
}

// fit returns the transform of the overview, in device pixels, and their number per Fyne unit.
func (o *Overview) fit() (t view.Transform, scale float64) {
	size, scale := o.raster.Device()
	return o.fitIn(size), scale
}

func (o *Overview) fitIn(size image.Point) view.Transform {
	pic := o.picture.Picture()
	return view.Transform{Turn: o.picture.Turn()}.Fit(image.Pt(pic.Width, pic.Height), size)
}

// frameIn returns the rectangle of the visible part in an overview of the given size, in Fyne units and clipped to the
// Overview. scale is the number of device pixels per Fyne unit.
func frameIn(fit, seen view.Transform, device image.Point, size fyne.Size, scale float64) (at fyne.Position,
	extent fyne.Size) {
	corner := func(x, y int) processing.Point {
		return fit.ImageToScreen(seen.ScreenToImage(processing.Point{X: float64(x), Y: float64(y)}))
	}
	a, b := corner(0, 0), corner(device.X, device.Y)
	limit := func(v float64, most float32) float32 { return max(0, min(float32(v/scale), most)) }
	x0, y0 := limit(min(a.X, b.X), size.Width), limit(min(a.Y, b.Y), size.Height)
	x1, y1 := limit(max(a.X, b.X), size.Width), limit(max(a.Y, b.Y), size.Height)
	return fyne.NewPos(x0, y0), fyne.NewSize(max(x1-x0, 3), max(y1-y0, 3))
}

func (o *Overview) layoutFrame() {
	shown := o.picture != nil && o.seen.Zoom > 0
	for i, f := range o.frame {
		f.Hidden = !shown
		if shown {
			fit, scale := o.fit()
			at, extent := frameIn(fit, o.seen, o.device, o.Size(), scale)
			// The dark frame is one unit wider on either side of the light one.
			around := float32(1 - i)
			f.Resize(extent.AddWidthHeight(2*around, 2*around))
			f.Move(at.SubtractXY(around, around))
		}
	}
}

// Draw is the raster's generator.
func (o *Overview) draw(w, h int) image.Image {
	if o.buf == nil || o.buf.Rect.Dx() != w || o.buf.Rect.Dy() != h {
		o.buf, o.dirty = image.NewRGBA(image.Rect(0, 0, w, h)), true
		// The scale may have changed.
		o.layoutFrame()
	}
	if o.dirty && o.picture != nil {
		o.renderer.Render(o.buf, o.fitIn(image.Pt(w, h)), o.look)
	}
	o.dirty = false
	return o.buf
}

// MouseDown moves the view.
func (o *Overview) MouseDown(e *desktop.MouseEvent) { o.centre(e.Position) }

func (o *Overview) MouseUp(*desktop.MouseEvent) {}

// Dragged moves the view.
func (o *Overview) Dragged(e *fyne.DragEvent) { o.centre(e.Position) }

func (o *Overview) DragEnd() {}

func (o *Overview) centre(at fyne.Position) {
	if o.picture != nil {
		fit, scale := o.fit()
		o.centred(fit.ScreenToImage(processing.Point{X: float64(at.X) * scale, Y: float64(at.Y) * scale}))
	}
}

func (o *Overview) MinSize() fyne.Size                  { return fyne.NewSize(navigatorWidth, navigatorHeight) }
func (o *Overview) CreateRenderer() fyne.WidgetRenderer { return &overviewRenderer{o} }

type overviewRenderer struct{ o *Overview }

func (r *overviewRenderer) Destroy() {}

func (r *overviewRenderer) Layout(size fyne.Size) {
	r.o.raster.Resize(size)
	r.o.layoutFrame()
}

func (r *overviewRenderer) MinSize() fyne.Size { return r.o.MinSize() }

func (r *overviewRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.o.raster, r.o.frame[0], r.o.frame[1]}
}

// Refresh keeps the pixels, because they do not depend on the theme.
func (r *overviewRenderer) Refresh() {}
