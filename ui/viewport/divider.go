package viewport

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"blik/app/view"
)

// divider is the line between the original and the result: a light line on a dark one with a knob low on it, where
// it does not cover a spot that is centred.
type divider struct {
	lines [2]*canvas.Line
	knob  *canvas.Rectangle
}

// knobWidth and knobHeight are the knob's sides in Fyne units; dividerMargin keeps the line within reach at the
// viewport's edges, in device pixels.
const (
	knobWidth, knobHeight = 8, 36
	dividerMargin         = 12
	// knobPlace is how far down the line the knob's middle is.
	knobPlace = 0.85
)

func newDivider() divider {
	d := divider{knob: canvas.NewRectangle(color.White)}
	for i, c := range []color.Color{color.NRGBA{A: 150}, color.White} {
		d.lines[i] = canvas.NewLine(c)
		d.lines[i].StrokeWidth = float32(3 - 2*i)
		d.lines[i].Hidden = true
	}
	d.knob.StrokeColor, d.knob.StrokeWidth, d.knob.CornerRadius = color.NRGBA{A: 150}, 1, knobWidth/2.
	d.knob.Resize(fyne.NewSize(knobWidth, knobHeight))
	d.knob.Hidden = true
	return d
}

func (d *divider) objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{d.lines[0], d.lines[1], d.knob}
}

// splitColumn returns the device column from which the result is shown.
func (v *Viewport) splitColumn() int {
	x := int(math.Round(v.split * float64(v.device.X)))
	return max(min(x, v.device.X-dividerMargin), min(dividerMargin, v.device.X/2))
}

// layoutDivider puts the line where the split is, or hides it.
func (v *Viewport) layoutDivider() {
	shown := v.compare == view.CompareSplit
	x, height := float32(float64(v.splitColumn())/v.scale), float32(float64(v.device.Y)/v.scale)
	for _, l := range v.divider.lines {
		l.Hidden = !shown
		l.Position1, l.Position2 = fyne.NewPos(x, 0), fyne.NewPos(x, height)
	}
	v.divider.knob.Hidden = !shown
	v.divider.knob.Move(fyne.NewPos(x-knobWidth/2., height*knobPlace-knobHeight/2))
	v.still.Refresh()
}

// onDivider reports whether the pointer drags the line, or would at a press.
func (v *Viewport) onDivider() bool {
	switch v.gesture.kind {
	case gestureSplit:
		return true
	case gestureNone:
		return v.compare == view.CompareSplit && v.picture != nil && v.hovering &&
			math.Abs(v.toDevice(v.hover).X-float64(v.splitColumn())) <= slack
	}
	return false
}

// moveDivider moves the line under a position. What lies between its old and its new place is drawn anew.
func (v *Viewport) moveDivider(p fyne.Position) {
	if v.device.X == 0 {
		return
	}
	old := v.splitColumn()
	v.split = min(max(v.toDevice(p).X/float64(v.device.X), 0), 1)
	now := v.splitColumn()
	if now != old {
		v.invalidate(image.Rect(min(old, now), 0, max(old, now), v.device.Y))
		v.layoutDivider()
	}
}
