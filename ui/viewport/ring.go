package viewport

import (
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// ring shows how far the brush reaches: a light circle on a dark one. A large one is made of lines, because the toolkit
// paints a circle pixel by pixel over all of its box, which software OpenGL takes tens of milliseconds for.
type ring struct {
	circles [2]*canvas.Circle
	lines   *overlay
}

// largestCircle is the radius up to which a ring is a circle of the toolkit's, in device pixels.
const largestCircle = 60

func newBrushRing() ring {
	return ring{
		circles: [2]*canvas.Circle{newRing(color.NRGBA{A: 170}, 3), newRing(color.NRGBA{255, 255, 255, 230}, 1)},
		lines:   newOverlay(),
	}
}

// objects returns the ring from back to front.
func (r *ring) objects() []fyne.CanvasObject {
	return append([]fyne.CanvasObject{r.circles[0], r.circles[1]}, r.lines.objects()...)
}

// set shows the ring about a place, with a radius in Fyne units, scale device pixels each.
func (r *ring) set(shown bool, at fyne.Position, radius, scale float64) {
	round := radius*scale <= largestCircle
	for _, c := range r.circles {
		half := float32(radius) + c.StrokeWidth/2
		c.Hidden = !shown || !round
		if shown {
			c.Position1, c.Position2 = at.SubtractXY(half, half), at.AddXY(half, half)
		}
	}
	var points []fyne.Position
	if shown && !round {
		points = make([]fyne.Position, sidesOf(radius*scale))
		for i := range points {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(points)))
			points[i] = at.AddXY(float32(radius*cos), float32(radius*sin))
		}
	}
	r.lines.set(points, nil, false)
}

// sidesOf returns the number of sides of a polygon that keeps within a third of a pixel of a circle, as long as that
// takes no more than some hundred.
func sidesOf(radius float64) int {
	const off, most = 1. / 3, 160
	return min(most, int(math.Ceil(math.Pi/math.Acos(1-off/radius))))
}
