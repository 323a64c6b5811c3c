package viewport

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"blik/ui/tool"
)

// overlay is the outline of the search region: a light line on a dark one, which shows on any painting, and square
// handles. Lines move without the raster being drawn anew. They are kept for reuse.
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

// set shows a line through points and handles; the dark lines come before all light ones.
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

// layoutOverlay puts the outline where the picture is now.
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

// markerGap keeps the frame off what it marks, in Fyne units, so that a finding of one pixel is still seen.
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

// updateRing puts the brush's ring under the pointer, or hides it where another tool or the hand is at work.
func (v *Viewport) updateRing() {
	shown := v.hovering && v.picture != nil && !v.panKey && v.gesture.kind != gesturePan && !v.onDivider() &&
		v.tool.Pointer(v.event(v.hover)) == tool.Ring
	v.ring.set(shown, v.hover, max(v.radius*v.transform.Zoom, 1.5)/v.scale, v.scale)
	v.still.Refresh()
}

// CreateRenderer is part of fyne.Widget.
func (v *Viewport) CreateRenderer() fyne.WidgetRenderer { return &renderer{v} }

type renderer struct{ v *Viewport }

func (r *renderer) Destroy() {}

func (r *renderer) Layout(size fyne.Size) {
	r.v.resized(size)
	r.v.raster.Resize(size)
}

func (r *renderer) MinSize() fyne.Size { return fyne.NewSize(200, 150) }

func (r *renderer) Objects() []fyne.CanvasObject {
	all := append([]fyne.CanvasObject{r.v.raster, r.v.still}, r.v.overlay.objects()...)
	all = append(all, r.v.marker[0], r.v.marker[1], r.v.ghost[0], r.v.ghost[1], r.v.label[0], r.v.label[1])
	return append(append(all, r.v.ring.objects()...), r.v.divider.objects()...)
}

// Refresh does not redraw the raster: its pixels depend on no theme, and every change of them asks for itself.
func (r *renderer) Refresh() {}
