package viewport

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"blik/ui/tool"
)

// overlay is the outline of a region: a light line on a dark one, visible on any painting, and square handles. Moving
// lines does not redraw the raster. Objects are kept for reuse.
type overlay struct {
	lines   []*canvas.Line
	handles []*canvas.Rectangle
}

const handleSide = 7

func newOverlay() *overlay { return &overlay{} }

// objects returns the overlay from back to front.
func (o *overlay) objects() []fyne.CanvasObject {
	all := make([]fyne.CanvasObject, 0, len(o.lines)+len(o.handles))
	for _, l := range o.lines {
		all = append(all, l)
	}
	for _, h := range o.handles {
		all = append(all, h)
	}
	return all
}

// set shows a line through points and handles; all dark lines come before the light ones.
func (o *overlay) set(points, handles []fyne.Position, open bool) {
	segments := len(points)
	if open || segments < 2 {
		segments = max(0, segments-1)
	}
	for len(o.lines) < 2*segments {
		o.lines = append(o.lines, canvas.NewLine(color.Transparent))
	}
	for i, l := range o.lines {
		if i >= 2*segments {
			l.Hidden = true
			continue
		}
		l.Hidden = false
		l.StrokeColor, l.StrokeWidth = color.NRGBA{A: 150}, 3
		if i >= segments {
			l.StrokeColor, l.StrokeWidth = color.White, 1
		}
		a, b := points[i%segments], points[(i%segments+1)%len(points)]
		l.Position1, l.Position2 = a, b
	}
	for len(o.handles) < len(handles) {
		h := canvas.NewRectangle(color.White)
		h.StrokeColor, h.StrokeWidth = color.NRGBA{A: 200}, 1
		h.Resize(fyne.NewSquareSize(handleSide))
		o.handles = append(o.handles, h)
	}
	for i, h := range o.handles {
		h.Hidden = i >= len(handles)
		if !h.Hidden {
			h.Move(handles[i].SubtractXY(handleSide/2., handleSide/2.))
		}
	}
}

// layoutOverlay moves the outline with the picture.
func (v *Viewport) layoutOverlay() {
	points := make([]fyne.Position, len(v.outline))
	for i, p := range v.outline {
		points[i] = v.toWidget(p)
	}
	handles := make([]fyne.Position, len(v.handles))
	for i, p := range v.handles {
		handles[i] = v.toWidget(p)
	}
	v.overlay.set(points, handles, v.openOutline)
	v.layoutMarker()
	v.layoutLabel()
	v.still.Refresh()
}

// markerGap is the distance between the frame and what it marks, in Fyne units, so that a finding of one pixel is
// visible.
const markerGap = 7

func (v *Viewport) layoutMarker() {
	at, size := v.Place(v.marked)
	for _, m := range v.marker {
		gap := markerGap + m.StrokeWidth/2
		m.Hidden = v.marked.Empty()
		m.Move(at.SubtractXY(gap, gap))
		m.Resize(size.AddWidthHeight(2*gap, 2*gap))
	}
}

// updateRing moves the brush's ring to the pointer, or hides it if a press would not paint.
func (v *Viewport) updateRing() {
	shown := v.hovering && v.picture != nil && !v.panKey && v.gesture.kind != gesturePan && !v.onDivider() &&
		v.tool.Pointer(v.event(v.hover)) == tool.Ring
	v.ring.set(shown, v.hover, max(v.radius*v.transform.Zoom, 1.5)/v.scale, v.scale)
	v.keyPointer.update()
	v.still.Refresh()
}

func (v *Viewport) CreateRenderer() fyne.WidgetRenderer { return &renderer{v} }

type renderer struct{ v *Viewport }

func (r *renderer) Destroy() {}

func (r *renderer) Layout(size fyne.Size) {
	r.v.resized(size)
	r.v.keyPointer.update()
}

func (r *renderer) MinSize() fyne.Size { return fyne.NewSize(200, 150) }

func (r *renderer) Objects() []fyne.CanvasObject {
	all := []fyne.CanvasObject{r.v.raster}
	if r.v.shaded != nil {
		all = append(all, r.v.shaded)
	}
	all = append(append(all, r.v.still), r.v.overlay.objects()...)
	all = append(all, r.v.marker[0], r.v.marker[1], r.v.ghost[0], r.v.ghost[1], r.v.label[0], r.v.label[1])
	all = append(append(all, r.v.ring.objects()...), r.v.divider.objects()...)
	return append(all, r.v.keyPointer.objects()...)
}

// Refresh does not redraw the raster, because its pixels do not depend on the theme. Every change of them requests a
// redraw itself.
func (r *renderer) Refresh() {}
