// Package viewport is the widget that shows the picture. It zooms, pans, passes pointer events to tools, and shows
// outlines over the picture.
//
// The pixels are drawn by a view.Renderer into a raster of the viewport's size, or by a shader over it. Changes mark
// the parts of the viewport to redraw; the renderer runs once a frame, when the window is painted.
package viewport

import (
	"image"
	"image/color"
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"blik/app/view"
	"blik/processing"
	"blik/ui/shader"
	"blik/ui/tool"
	"blik/ui/xwidget"
)

// wheelFactor is the zoom factor of one notch of the wheel, notch the distance that the driver reports for one.
const (
	wheelFactor = 1.2
	notch       = 25
)

// aligned is the largest distance from a device pixel that is due to rounding; view.Renderer uses the same value.
const aligned = 1e-6

// slack is the distance within which the pointer still hits something, in device pixels.
const slack = 6

// Viewport shows a picture, which a tool can change.
type Viewport struct {
	widget.BaseWidget

	// OnView is called after a change of the zoom, the position or the size of the viewport.
	OnView func(t view.Transform)
	// OnHover is called with the image point under the pointer; inside is false when the pointer has left.
	OnHover func(at processing.Point, inside bool)
	// OnBrush is called with the number of notches when the wheel is turned with Ctrl held.
	OnBrush func(notches float64)
	// OnFrame is called with the time that the raster's generator took, before the rest of the frame. It is for
	// measurements and usually nil.
	OnFrame func(drawn time.Duration)

	renderer *view.Renderer
	options  view.Options
	// picture is the result, before the original; they are the same if nothing is corrected.
	before, picture *view.Pyramid
	mask            *view.MaskPyramid
	layer           *view.Pyramid
	compare         view.Compare
	// split is the position of the split line as a share of the viewport's width.
	split float64

	transform view.Transform
	// fitted keeps the whole picture visible when the window is resized; follower leaves that to another viewport.
	fitted, follower bool
	// device is the viewport's size in whole device pixels, scale the number of device pixels per Fyne unit.
	device image.Point
	scale  float64

	// buf holds the pixels drawn last. Since then they have moved by moved, and those in dirty have changed.
	buf   *image.RGBA
	dirty image.Rectangle
	moved image.Point

	tool     tool.Tool
	panKey   bool
	gesture  gesture
	hover    fyne.Position
	hovering bool
	radius   float64

	outline, handles []processing.Point
	openOutline      bool
	marked           image.Rectangle

	raster *canvas.Raster
	// shaded draws the picture over the raster; nil leaves that to the raster.
	shaded  *shader.Layer
	ring    ring
	ghost   [2]*canvas.Circle
	label   [2]fyne.CanvasObject
	labelAt processing.Point
	marker  [2]*canvas.Rectangle
	divider divider
	overlay *overlay
	// keyPointer lets the keyboard move the pointer.
	keyPointer *keyPointer
	// still is always visible and transparent. Refreshing it requests a new frame, which hidden objects cannot do, and
	// keeps the raster's texture.
	still *canvas.Rectangle
}

// gesture is the state between a press and its release.
type gesture struct {
	kind   gestureKind
	button desktop.MouseButton
	shift  bool
	last   fyne.Position
}

type gestureKind uint8

const (
	gestureNone gestureKind = iota
	gesturePan
	gestureTool
	gestureSplit
)

var (
	_ fyne.Widget        = (*Viewport)(nil)
	_ fyne.Draggable     = (*Viewport)(nil)
	_ fyne.Scrollable    = (*Viewport)(nil)
	_ desktop.Mouseable  = (*Viewport)(nil)
	_ desktop.Hoverable  = (*Viewport)(nil)
	_ desktop.Cursorable = (*Viewport)(nil)
)

// An Option is one of New.
type Option func(*Viewport)

// Shaded lets a graphics card draw the picture, under a name of its own in the window. Without a card the raster does.
func Shaded(name string, card *shader.Card) Option {
	return func(v *Viewport) {
		if card != nil {
			v.shaded = shader.NewLayer(card, name)
		}
	}
}

// New returns a viewport without a picture whose tool is the hand.
func New(options ...Option) *Viewport {
	v := &Viewport{
		renderer:  view.NewRenderer(),
		options:   view.DefaultOptions(),
		transform: view.Transform{Zoom: 1},
		scale:     1,
		tool:      tool.Pan{},
		fitted:    true,
		split:     0.5,
		divider:   newDivider(),
	}
	v.raster = canvas.NewRaster(v.draw)
	v.raster.ScaleMode = canvas.ImageScalePixels
	v.overlay = newOverlay()
	v.still = canvas.NewRectangle(color.Transparent)
	v.ring = newBrushRing()
	v.ghost, v.label = newGhost(), newLabel()
	v.marker[0], v.marker[1] = newMarker(color.NRGBA{A: 170}, 4), newMarker(color.NRGBA{255, 210, 0, 255}, 2)
	v.keyPointer = newKeyPointer(v)
	for _, set := range options {
		set(v)
	}
	v.ExtendBaseWidget(v)
	return v
}

func newMarker(c color.Color, width float32) *canvas.Rectangle {
	r := canvas.NewRectangle(color.Transparent)
	r.StrokeColor, r.StrokeWidth, r.CornerRadius = c, width, 3
	r.Hidden = true
	return r
}

func newRing(c color.Color, width float32) *canvas.Circle {
	r := canvas.NewCircle(color.Transparent)
	r.StrokeColor = c
	r.StrokeWidth = width
	r.Hidden = true
	return r
}

// SetPicture shows a whole picture and its mask; nil shows nothing.
func (v *Viewport) SetPicture(p *view.Pyramid, m *view.MaskPyramid) {
	v.End()
	v.before, v.picture, v.mask = p, p, m
	v.marked = image.Rectangle{}
	v.offerKeys()
	v.renderer.SetPicture(p, m)
	if v.shaded != nil {
		v.shaded.Clear()
	}
	if !v.follower {
		v.Fit()
	}
	v.Redraw()
}

// Shows reports whether p is the original that is shown.
func (v *Viewport) Shows(p *view.Pyramid) bool { return v.before == p }

// SetPyramids replaces original and result. The view stays, and only differences are redrawn. Both must be the pyramid
// of SetPicture or derived from it by view.Pyramid.With. Without a picture it has no effect.
func (v *Viewport) SetPyramids(before, after *view.Pyramid) {
	if v.picture == nil {
		return
	}
	changed := v.before.Changed(before).Union(v.picture.Changed(after))
	v.before, v.picture = before, after
	v.renderer.SetPictures(before, after, v.mask)
	if !changed.Empty() {
		v.invalidate(after.DirtyRect(v.transform, changed))
	}
}

// SetCompare chooses between the original, the result, and both with a split line that can be dragged.
func (v *Viewport) SetCompare(c view.Compare) {
	if c == v.compare {
		return
	}
	if v.gesture.kind == gestureSplit {
		v.End()
	}
	v.compare = c
	v.Redraw()
	v.layoutDivider()
	v.updateRing()
}

// Compare returns the choice of SetCompare.
func (v *Viewport) Compare() view.Compare { return v.compare }

// SetOptions changes the display of the mask.
func (v *Viewport) SetOptions(o view.Options) {
	v.options = o
	v.Redraw()
}

// Options returns the display options of the mask.
func (v *Viewport) Options() view.Options { return v.options }

// MaskChanged redraws the mask after a change within an image rectangle.
func (v *Viewport) MaskChanged(changed image.Rectangle) {
	if v.mask == nil || changed.Empty() {
		return
	}
	v.mask.Update(changed)
	if v.shaded != nil {
		v.shaded.MaskChanged(changed)
	}
	v.invalidate(v.renderer.DirtyRect(v.transform, changed))
}

// SetTool changes the tool and ends the gesture of the old one.
func (v *Viewport) SetTool(t tool.Tool) {
	v.End()
	v.tool = t
	v.updateRing()
}

// SetBrushRadius sets the radius of the ring, in image pixels.
func (v *Viewport) SetBrushRadius(r float64) {
	v.radius = r
	v.updateRing()
}

// SetOutline shows a line over the picture, closed unless open is set, and handles.
func (v *Viewport) SetOutline(points, handles []processing.Point, open bool) {
	v.outline, v.handles, v.openOutline = points, handles, open
	v.layoutOverlay()
}

// SetMarker draws a frame around an image rectangle; an empty rectangle removes it.
func (v *Viewport) SetMarker(r image.Rectangle) {
	v.marked = r
	v.layoutOverlay()
}

// SetPanKey sets whether the key is held that turns any tool into the hand.
func (v *Viewport) SetPanKey(held bool) {
	v.panKey = held
	v.updateRing()
}

// Transform returns the current zoom and position.
func (v *Viewport) Transform() view.Transform { return v.transform }

// Device returns the viewport's size in device pixels.
func (v *Viewport) Device() image.Point { return v.device }

// Fit shows the whole picture.
func (v *Viewport) Fit() {
	v.fitted = true
	if v.picture != nil {
		v.show(v.fit())
	}
}

// Restore shows the picture with an earlier Transform, but with its current rotation.
func (v *Viewport) Restore(t view.Transform) {
	if v.picture != nil {
		t.Turn = v.picture.Turn()
		v.Take(t)
	}
}

// fit returns the transform that shows the whole picture upright.
func (v *Viewport) fit() view.Transform {
	return view.Transform{Turn: v.picture.Turn()}.Fit(v.size(), v.device)
}

// Fitted reports whether the whole picture is kept visible.
func (v *Viewport) Fitted() bool { return v.fitted }

// SetZoom zooms about the pointer if it is over the viewport, otherwise about the middle.
func (v *Viewport) SetZoom(zoom float64) { v.zoomAbout(v.anchor(), zoom) }

// ZoomStep zooms in or out to the next step.
func (v *Viewport) ZoomStep(direction int) { v.SetZoom(view.NextZoom(v.transform.Zoom, direction)) }

// Scroll moves the view by shares of the viewport's width and height.
func (v *Viewport) Scroll(dx, dy float64) {
	v.Take(v.transform.Pan(-dx*float64(v.device.X), -dy*float64(v.device.Y)))
}

// Reveal centres an image rectangle. The zoom stays if it is at least 1:1 and the rectangle fits; otherwise the
// rectangle is shown at 1:1 or more, at most at maxZoom.
func (v *Viewport) Reveal(r image.Rectangle, maxZoom float64) {
	if v.picture == nil {
		return
	}
	t := v.transform
	size := t.Turn.Upright(r.Size())
	if t.Zoom < 1 || float64(size.X)*t.Zoom > float64(v.device.X) || float64(size.Y)*t.Zoom > float64(v.device.Y) {
		t = t.Reveal(r, v.device, maxZoom)
		t.Zoom = max(t.Zoom, 1)
	}
	middle := processing.Point{X: float64(r.Min.X+r.Max.X) / 2, Y: float64(r.Min.Y+r.Max.Y) / 2}
	v.Take(t.CentreOn(middle, v.device))
	v.keyPointer.centre()
}

// Centre centres an image rectangle at the given zoom, or at the largest at which all of it is visible.
func (v *Viewport) Centre(r image.Rectangle, zoom float64) {
	if v.picture == nil {
		return
	}
	v.Take(v.transform.Reveal(r, v.device, zoom))
	v.keyPointer.centre()
}

// End ends the current gesture as if the button had been released. Without a gesture it does nothing.
func (v *Viewport) End() {
	if v.stop() {
		v.tool.Release()
	}
}

// Abandon cancels the current gesture.
func (v *Viewport) Abandon() {
	if v.stop() {
		v.tool.Cancel()
	}
}

// stop ends the current gesture and reports whether it was the tool's.
func (v *Viewport) stop() bool {
	was := v.gesture.kind == gestureTool
	v.gesture = gesture{}
	return was
}

// size returns the picture's size as stored in the file.
func (v *Viewport) size() image.Point {
	p := v.picture.Picture()
	return image.Pt(p.Width, p.Height)
}

func (v *Viewport) anchor() processing.Point {
	if v.hovering {
		return v.toDevice(v.hover)
	}
	return processing.Point{X: float64(v.device.X) / 2, Y: float64(v.device.Y) / 2}
}

func (v *Viewport) zoomAbout(at processing.Point, zoom float64) {
	v.Take(v.transform.WithZoom(at, zoom))
}

// show takes a new transform. It puts the picture's origin on a whole device pixel, so that the picture is sharp at 1:1
// and does not shimmer when moved.
func (v *Viewport) show(t view.Transform) {
	t = t.Clamp(v.size(), v.device)
	t.X = math.Round(t.X*t.Zoom) / t.Zoom
	t.Y = math.Round(t.Y*t.Zoom) / t.Zoom
	if t == v.transform {
		return
	}
	v.place(t)
	if v.OnView != nil {
		v.OnView(t)
	}
}

// place applies a transform to the picture and everything over it.
func (v *Viewport) place(t view.Transform) {
	by, same := v.shift(t)
	v.transform = t
	if same {
		v.moved = v.moved.Add(by)
		v.dirty = v.dirty.Add(by)
		v.raster.Refresh()
	} else {
		v.Redraw()
	}
	v.layoutOverlay()
	v.updateRing()
	if v.hovering {
		v.Hovered()
	}
}

// shift returns the distance in device pixels by which another transform moves the pixels; ok is false if it does more
// than move them.
func (v *Viewport) shift(t view.Transform) (by image.Point, ok bool) {
	old := v.transform
	split := v.compare == view.CompareSplit && v.before != v.picture
	if t.Zoom != old.Zoom || t.Turn != old.Turn || t.Turn != (view.Turn{}) || split || v.layer != nil {
		return by, false
	}
	whole := func(from, to float64) (int, bool) {
		from, to = from*t.Zoom, to*t.Zoom
		a, b := math.Round(from), math.Round(to)
		return int(a - b), math.Abs(from-a) < aligned && math.Abs(to-b) < aligned && math.Abs(a-b) < math.MaxInt32
	}
	x, okX := whole(old.X, t.X)
	y, okY := whole(old.Y, t.Y)
	return image.Pt(x, y), okX && okY
}

// Redraw redraws everything in the next frame. It resets moved, because none of the old pixels can be reused.
func (v *Viewport) Redraw() {
	v.moved = image.Point{}
	v.invalidate(image.Rectangle{Max: v.device})
}

func (v *Viewport) invalidate(r image.Rectangle) {
	v.dirty = v.dirty.Union(r)
	v.raster.Refresh()
}

// draw is the raster's generator: it updates the retained pixels and returns them. The painter copies them before it
// returns, and requires them to be packed. If a shader draws the picture, it is prepared here, because what lies over
// the raster is painted afterwards.
func (v *Viewport) draw(w, h int) image.Image {
	if v.OnFrame != nil {
		start := time.Now()
		defer func() { v.OnFrame(time.Since(start)) }()
	}
	// A viewport is laid out before it belongs to a canvas, whose scale it then does not know.
	if fyne.CurrentApp().Driver().CanvasForObject(v) != nil && xwidget.ScaleOf(v) != v.scale {
		v.resized(v.Size())
	}
	o := v.options
	o.Compare, o.Split = v.compare, v.splitColumn()
	if v.shaded != nil {
		frame := v.renderer.Tiles(image.Pt(w, h), v.transform, o, shader.TileSide)
		switch v.shaded.Draw(frame, fyne.CurrentApp().Driver().AbsolutePositionForObject(v), v.scale) {
		case shader.Loaded:
			v.raster.Refresh()
			fallthrough
		case shader.All:
			v.buf, v.dirty, v.moved = nil, image.Rectangle{}, image.Point{}
			return image.NewUniform(view.Surround())
		case shader.Some:
			// The raster draws all of this frame; the next ones load the rest.
			v.raster.Refresh()
		}
	}
	if v.buf == nil || v.buf.Rect.Dx() != w || v.buf.Rect.Dy() != h {
		v.buf = image.NewRGBA(image.Rect(0, 0, w, h))
		v.dirty = v.buf.Rect
	}
	for _, r := range append(scroll(v.buf, v.moved), v.dirty) {
		if r = r.Intersect(v.buf.Rect); !r.Empty() {
			v.renderer.RenderRect(v.buf, v.transform, o, r)
		}
	}
	v.dirty, v.moved = image.Rectangle{}, image.Point{}
	return v.buf
}

// resized takes the new size in Fyne units. A fitted picture stays fitted; otherwise the middle stays in the middle.
func (v *Viewport) resized(size fyne.Size) {
	var device image.Point
	device, v.scale = xwidget.FitRaster(v.raster, v, size)
	if device == v.device {
		return
	}
	old := v.device
	v.device = device
	v.layoutDivider()
	if v.follower {
		v.Redraw()
		v.layoutOverlay()
		return
	}
	if v.OnView != nil {
		defer func() { v.OnView(v.transform) }()
	}
	switch {
	case v.picture == nil:
	case v.fitted:
		v.show(v.fit())
	default:
		v.show(v.transform.Pan(float64(device.X-old.X)/2, float64(device.Y-old.Y)/2))
	}
}

func (v *Viewport) toDevice(p fyne.Position) processing.Point {
	return processing.Point{X: float64(p.X) * v.scale, Y: float64(p.Y) * v.scale}
}

func (v *Viewport) toImage(p fyne.Position) processing.Point {
	return v.transform.ScreenToImage(v.toDevice(p))
}

func (v *Viewport) toWidget(p processing.Point) fyne.Position {
	q := v.transform.ImageToScreen(p)
	return fyne.NewPos(float32(q.X/v.scale), float32(q.Y/v.scale))
}
