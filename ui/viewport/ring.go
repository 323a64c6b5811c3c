package viewport

import (
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// ring shows the size of the brush: a light circle on a dark one. A large ring consists of lines, because the toolkit
// paints every pixel of a circle's bounding box, which takes software OpenGL tens of milliseconds.
type ring struct {
	circles [2]*canvas.Circle
	lines   *overlay
}

// largestCircle is the largest radius drawn as one of the toolkit's circles, in device pixels.
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

// set shows or hides the ring at a position. The radius is in Fyne units of scale device pixels each.
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

// sidesOf returns the number of sides of a polygon that stays within a third of a pixel of a circle, at most 160.
func sidesOf(radius float64) int {
	const off, most = 1. / 3, 160
	return min(most, int(math.Ceil(math.Pi/math.Acos(1-off/radius))))
}
