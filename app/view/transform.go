package view

import (
	"image"
	"math"

	"blik/processing"
)

// Limits of the zoom that the user can choose, in device pixels per image pixel. Fit goes below MinZoom for very large
// pictures.
const (
	MinZoom = 0.01
	MaxZoom = 64
)

// Transform maps image coordinates to device pixels of a viewport whose top left corner is (0, 0). Image coordinates
// are those of the file; pixel (x, y) covers [x, x+1) × [y, y+1). The methods return new values. The zero value is not
// valid.
type Transform struct {
	// Zoom is the number of device pixels per image pixel; 1 is 1:1.
	Zoom float64
	// X and Y are the coordinates of the upright picture at the viewport's top left corner.
	X, Y float64
	// Turn turns the picture upright.
	Turn Turn
}

// ImageToScreen returns the position of an image point in the viewport, in device pixels.
func (t Transform) ImageToScreen(p processing.Point) processing.Point {
	p = t.Turn.ToUpright(p)
	return processing.Point{X: (p.X - t.X) * t.Zoom, Y: (p.Y - t.Y) * t.Zoom}
}

// ScreenToImage returns the image point under a point of the viewport.
func (t Transform) ScreenToImage(p processing.Point) processing.Point {
	return t.Turn.FromUpright(t.upright(p))
}

// upright returns the point of the upright picture under a point of the viewport.
func (t Transform) upright(p processing.Point) processing.Point {
	return processing.Point{X: t.X + p.X/t.Zoom, Y: t.Y + p.Y/t.Zoom}
}

// Pan moves the picture right by dx and down by dy device pixels.
func (t Transform) Pan(dx, dy float64) Transform {
	t.X -= dx / t.Zoom
	t.Y -= dy / t.Zoom
	return t
}

// WithZoom sets the zoom, clamped to MinZoom…MaxZoom. The image point under the viewport point p stays there.
func (t Transform) WithZoom(p processing.Point, zoom float64) Transform {
	q := t.upright(p)
	// A picture that Fit shows below MinZoom must not grow when the user zooms out.
	zoom = math.Min(math.Max(zoom, math.Min(MinZoom, t.Zoom)), MaxZoom)
	return Transform{Zoom: zoom, X: q.X - p.X/zoom, Y: q.Y - p.Y/zoom, Turn: t.Turn}
}

// Fit shows the whole picture with the turn of t, centred, as large as possible up to MaxZoom. picture and viewport are
// sizes in pixels; a viewport side of 0 counts as 1. The other fields of t have no effect.
func (t Transform) Fit(picture, viewport image.Point) Transform {
	vw, vh := math.Max(float64(viewport.X), 1), math.Max(float64(viewport.Y), 1)
	size := t.Turn.Upright(picture)
	zoom := math.Min(vw/float64(size.X), vh/float64(size.Y))
	return Transform{Zoom: math.Min(zoom, MaxZoom), Turn: t.Turn}.Clamp(picture, viewport)
}

// Clamp keeps the picture visible. Along an axis on which the picture is smaller than the viewport, it is centred.
// Otherwise the centre of the viewport stays on the picture, so that edges can be moved to the centre to work on them.
func (t Transform) Clamp(picture, viewport image.Point) Transform {
	size := t.Turn.Upright(picture)
	t.X = clampAxis(t.X, float64(size.X), float64(viewport.X)/t.Zoom)
	t.Y = clampAxis(t.Y, float64(size.Y), float64(viewport.Y)/t.Zoom)
	return t
}

// clampAxis limits an offset; length and shown are the lengths of the picture and of the viewport in image pixels.
func clampAxis(offset, length, shown float64) float64 {
	if length <= shown {
		return (length - shown) / 2
	}
	return math.Min(math.Max(offset, -shown/2), length-shown/2)
}

// CentreOn shows the image point p at the centre of the viewport, at the same zoom.
func (t Transform) CentreOn(p processing.Point, viewport image.Point) Transform {
	p = t.Turn.ToUpright(p)
	t.X = p.X - float64(viewport.X)/2/t.Zoom
	t.Y = p.Y - float64(viewport.Y)/2/t.Zoom
	return t
}

// Reveal centres the image rectangle r and zooms so that it takes at most half of each side of the viewport. The zoom
// is at most maxZoom.
func (t Transform) Reveal(r image.Rectangle, viewport image.Point, maxZoom float64) Transform {
	if r.Empty() {
		return t
	}
	size := t.Turn.Upright(r.Size())
	zoom := math.Min(float64(viewport.X)/float64(2*size.X), float64(viewport.Y)/float64(2*size.Y))
	t.Zoom = math.Max(math.Min(math.Min(zoom, maxZoom), MaxZoom), MinZoom)
	return t.CentreOn(processing.Point{X: float64(r.Min.X+r.Max.X) / 2, Y: float64(r.Min.Y+r.Max.Y) / 2}, viewport)
}

// Visible returns the pixels of a picture that are at least partly visible in the viewport.
func (t Transform) Visible(picture, viewport image.Point) image.Rectangle {
	r := image.Rect(
		int(math.Floor(t.X)), int(math.Floor(t.Y)),
		int(math.Ceil(t.X+float64(viewport.X)/t.Zoom)), int(math.Ceil(t.Y+float64(viewport.Y)/t.Zoom)))
	return t.Turn.inverse().rectangle(r).Intersect(image.Rectangle{Max: picture})
}

// DeviceRect returns the device pixels that the image rectangle r overlaps.
func (t Transform) DeviceRect(r image.Rectangle) image.Rectangle {
	a := t.ImageToScreen(processing.Point{X: float64(r.Min.X), Y: float64(r.Min.Y)})
	b := t.ImageToScreen(processing.Point{X: float64(r.Max.X), Y: float64(r.Max.Y)})
	return image.Rect(
		int(math.Floor(min(a.X, b.X))), int(math.Floor(min(a.Y, b.Y))),
		int(math.Ceil(max(a.X, b.X))), int(math.Ceil(max(a.Y, b.Y))))
}

// ZoomSteps returns the steps of Zoom in and Zoom out, ascending from MinZoom to MaxZoom.
func ZoomSteps() []float64 {
	return []float64{
		0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 1. / 3, 0.5, 2. / 3,
		1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64,
	}
}

// NextZoom returns the nearest step above zoom for direction > 0, otherwise the nearest one below it. If there is none,
// it returns MaxZoom, or the smaller of zoom and MinZoom.
func NextZoom(zoom float64, direction int) float64 {
	const same = 1 + 1e-9
	steps := ZoomSteps()
	if direction > 0 {
		for _, s := range steps {
			if s > zoom*same {
				return s
			}
		}
		return MaxZoom
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i]*same < zoom {
			return steps[i]
		}
	}
	return math.Min(MinZoom, zoom)
}
