package viewport

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"blik/ui/tool"
)

// The driver loses events. Of several moves within a frame it reports the last one. A release outside the window
// reports DragEnd without MouseUp for the left button, and neither for the right one. The right button is never
// dragged, and drags have no modifiers. So a gesture ends at the first of MouseUp, DragEnd, a move without its button,
// and, for the right button, MouseOut.

// MouseDown begins a gesture: panning with the middle button, the pan key or the hand, otherwise the tool's.
func (v *Viewport) MouseDown(e *desktop.MouseEvent) {
	if v.gesture.kind != gestureNone || v.picture == nil {
		return
	}
	v.hover, v.hovering = e.Position, true
	v.dropPanKey()
	g := gesture{kind: gestureTool, button: e.Button, shift: e.Modifier&fyne.KeyModifierShift != 0, last: e.Position}
	_, hand := v.tool.(tool.Pan)
	switch {
	case e.Button == desktop.MouseButtonPrimary && v.onDivider():
		g.kind = gestureSplit
	case e.Button == desktop.MouseButtonTertiary, e.Button == desktop.MouseButtonPrimary && (v.panKey || hand):
		g.kind = gesturePan
	case hand, e.Button != desktop.MouseButtonPrimary && e.Button != desktop.MouseButtonSecondary:
		return
	}
	v.gesture = g
	if g.kind == gestureTool {
		v.tool.Press(v.event(e.Position))
	}
	v.updateRing()
}

// MouseUp ends the gesture that its button began.
func (v *Viewport) MouseUp(e *desktop.MouseEvent) {
	if v.gesture.kind != gestureNone && e.Button == v.gesture.button {
		v.moveTo(e.Position)
		v.End()
	}
	v.updateRing()
}

// Dragged continues the gesture, even outside the viewport.
func (v *Viewport) Dragged(e *fyne.DragEvent) {
	if v.gesture.kind == gestureNone {
		return
	}
	v.hover = e.Position
	v.moveTo(e.Position)
	v.Hovered()
}

// DragEnd ends the gesture.
func (v *Viewport) DragEnd() {
	if v.gesture.button != desktop.MouseButtonSecondary {
		v.End()
	}
	v.updateRing()
}

// MouseIn follows the pointer.
func (v *Viewport) MouseIn(e *desktop.MouseEvent) { v.MouseMoved(e) }

// MouseMoved follows the pointer and continues a gesture of the right button.
func (v *Viewport) MouseMoved(e *desktop.MouseEvent) {
	v.hover, v.hovering = e.Position, true
	v.dropPanKey()
	if v.gesture.kind != gestureNone {
		if e.Button&v.gesture.button == 0 {
			v.End()
		} else {
			v.moveTo(e.Position)
		}
	} else if v.picture != nil {
		v.tool.Hover(v.event(e.Position))
	}
	v.Hovered()
}

// MouseOut hides the ring and ends a gesture whose release would not be reported.
func (v *Viewport) MouseOut() {
	if v.gesture.button == desktop.MouseButtonSecondary {
		v.End()
	}
	v.hovering = false
	v.Hovered()
}

// Scrolled zooms about the pointer or, if Ctrl is held, changes the brush size.
func (v *Viewport) Scrolled(e *fyne.ScrollEvent) {
	notches := float64(e.Scrolled.DY) / notch
	if notches == 0 || v.picture == nil {
		return
	}
	if modifiers()&fyne.KeyModifierControl != 0 && v.OnBrush != nil &&
		v.tool.Pointer(v.event(e.Position)) == tool.Ring {
		v.OnBrush(notches)
		return
	}
	v.hover, v.hovering = e.Position, true
	old := v.transform.Zoom
	zoom := old * math.Pow(wheelFactor, notches)
	// The wheel stops at 1:1, where the picture is sharp.
	if old < 1 && zoom > 1 || old > 1 && zoom < 1 || math.Abs(zoom-1) < 1e-6 {
		zoom = 1
	}
	v.zoomAbout(v.toDevice(e.Position), zoom)
	v.Hovered()
}

// Cursor shows the effect of a press.
func (v *Viewport) Cursor() desktop.Cursor {
	if v.picture == nil {
		return desktop.DefaultCursor
	}
	if v.onDivider() {
		return desktop.HResizeCursor
	}
	if v.panKey || v.gesture.kind == gesturePan {
		return desktop.PointerCursor
	}
	alongX, alongY := desktop.HResizeCursor, desktop.VResizeCursor
	if v.transform.Turn.Swaps() {
		alongX, alongY = alongY, alongX
	}
	switch v.tool.Pointer(v.event(v.hover)) {
	case tool.Hand:
		return desktop.PointerCursor
	case tool.Cross, tool.Ring:
		return desktop.CrosshairCursor
	case tool.ResizeX:
		return alongX
	case tool.ResizeY:
		return alongY
	}
	return desktop.DefaultCursor
}

// moveTo continues the gesture to a position.
func (v *Viewport) moveTo(p fyne.Position) {
	if p == v.gesture.last {
		return
	}
	switch v.gesture.kind {
	case gesturePan:
		from, to := v.toDevice(v.gesture.last), v.toDevice(p)
		v.Take(v.transform.Pan(to.X-from.X, to.Y-from.Y))
	case gestureTool:
		v.tool.Move(v.event(p))
	case gestureSplit:
		v.moveDivider(p)
	}
	v.gesture.last = p
}

// event returns the tool's event for a pointer position.
func (v *Viewport) event(p fyne.Position) tool.Event {
	return tool.Event{
		At:        v.toImage(p),
		Slack:     slack / v.transform.Zoom,
		Secondary: v.gesture.button == desktop.MouseButtonSecondary,
		Shift:     v.gesture.shift,
	}
}

// dropPanKey releases the pan key if its release went to a focused field.
func (v *Viewport) dropPanKey() {
	if !v.panKey {
		return
	}
	if c := fyne.CurrentApp().Driver().CanvasForObject(v); c != nil && c.Focused() != nil {
		v.panKey = false
	}
}

// Hovered calls OnHover; whoever changes what lies under the pointer calls it, too.
func (v *Viewport) Hovered() {
	v.updateRing()
	if v.OnHover != nil {
		v.OnHover(v.toImage(v.hover), v.picture != nil && v.hovering)
	}
}

// modifiers returns the modifier keys held now, because scroll events do not include them. The test driver knows none.
func modifiers() fyne.KeyModifier {
	if d, ok := fyne.CurrentApp().Driver().(desktop.Driver); ok {
		return d.CurrentKeyModifiers()
	}
	return 0
}
