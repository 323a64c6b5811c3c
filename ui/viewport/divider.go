package viewport

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"blik/app/view"
)

// divider is the line between original and result: light on dark, with a knob near its lower end, where it does not
// cover a centred finding.
type divider struct {
	lines [2]*canvas.Line
	knob  *canvas.Rectangle
}

// knobWidth and knobHeight are the knob's sides in Fyne units; dividerMargin keeps the line off the viewport's edges,
// so that it can be grabbed, in device pixels.
const (
	knobWidth, knobHeight = 8, 36
	dividerMargin         = 12
	// knobPlace is the position of the knob's middle as a share of the line's length.
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

// splitColumn returns the first device column of the result.
func (v *Viewport) splitColumn() int {
	x := int(math.Round(v.split * float64(v.device.X)))
	return max(min(x, v.device.X-dividerMargin), min(dividerMargin, v.device.X/2))
}

// layoutDivider moves the line to the split, or hides it.
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

// onDivider reports whether the pointer drags the line, or would if pressed.
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

// moveDivider moves the line to a position and redraws the area between the old and the new place.
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
