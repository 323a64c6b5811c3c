package document

import (
	"image"
	"math"

	"blik/processing"
)

// Brush is what a stroke paints with.
type Brush struct {
	// Radius in image pixels, 0.5…MaxRadius; it is clamped. Below 1 the brush snaps to the middle of the pixel, so that
	// 0.5 paints single pixels.
	Radius float64
	// Erase takes out of the mask instead of adding to it.
	Erase bool
	// Soft lets the edge fall off over the outer half of the radius.
	Soft bool
}

// MaxRadius is the largest radius of a brush, in image pixels.
const MaxRadius = 2000

// stroke is an open stroke.
type stroke struct {
	brush Brush
	last  processing.Point
	// fall are the values of a soft brush for squared distances from 0 to the squared radius.
	fall []uint8
}

// fallSteps is the resolution of a soft brush's table: fine enough that neighbouring entries differ by at most 1.
const fallSteps = 4096

// BeginStroke starts a stroke at (x, y), in image coordinates that may lie outside the picture, and paints its first dab.
// A stroke still open is ended first.
func (d *Document) BeginStroke(b Brush, x, y float64) image.Rectangle {
	name := processing.Text{EN: "Brush stroke", RU: "Мазок кистью"}
	if b.Erase {
		name = processing.Text{EN: "Eraser stroke", RU: "Мазок ластиком"}
	}
	d.begin(name)
	if !(b.Radius >= 0.5) {
		b.Radius = 0.5
	}
	b.Radius = math.Min(b.Radius, MaxRadius)
	s := &stroke{brush: b}
	if b.Soft {
		s.fall = softness()
	}
	s.last = s.snap(x, y)
	d.stroke = s
	return d.paint(s.last, s.last, true)
}

// softness tabulates a brush that is full up to half its radius and then falls to 0 along a cosine.
func softness() []uint8 {
	fall := make([]uint8, fallSteps+1)
	for i := range fall {
		distance := math.Sqrt(float64(i) / fallSteps)
		fall[i] = uint8(255*(0.5+0.5*math.Cos(math.Pi*math.Max(2*distance-1, 0))) + 0.5)
	}
	return fall
}

// StrokeTo paints from the last point to (x, y): all pixels whose middles are within the radius of the segment, as
// endlessly many dabs would. Without an open stroke, or to a point that is no number, it does nothing.
func (d *Document) StrokeTo(x, y float64) image.Rectangle {
	if d.stroke == nil {
		return image.Rectangle{}
	}
	to := d.stroke.snap(x, y)
	from := d.stroke.last
	if from == to || !finite(to) {
		return image.Rectangle{}
	}
	d.stroke.last = to
	if !finite(from) {
		from = to
	}
	return d.paint(from, to, false)
}

func finite(p processing.Point) bool { return math.Abs(p.X)+math.Abs(p.Y) < math.Inf(1) }

// snap moves the points of a brush that covers single pixels to their middles.
func (s *stroke) snap(x, y float64) processing.Point {
	if s.brush.Radius < 1 {
		x, y = math.Floor(x)+0.5, math.Floor(y)+0.5
	}
	return processing.Point{X: x, Y: y}
}

// EndStroke makes the stroke one step of the history. Without an open stroke it does nothing.
func (d *Document) EndStroke() {
	if d.stroke == nil {
		return
	}
	d.stroke = nil
	d.commit()
}

// CancelStroke takes the open stroke back.
func (d *Document) CancelStroke() image.Rectangle {
	if d.stroke == nil {
		return image.Rectangle{}
	}
	d.stroke = nil
	s := d.edit.step
	d.edit.step = nil
	var dirty image.Rectangle
	for _, t := range s.tiles {
		r := d.tiles.rect(t.index)
		t.data.unpack(d.mask.Pix, d.mask.Width, r)
		d.edit.touched[t.index] = false
		d.spots.invalidate(t.index)
		dirty = dirty.Union(r)
	}
	d.generation = s.generation
	return dirty
}

// Painting says whether a stroke is open.
func (d *Document) Painting() bool { return d.stroke != nil }

// paint covers the pixels near the segment a–b and returns those written. Unless it is the first dab, the disc about a
// has been covered already; a hard brush leaves it out, so that its cost is that of what is new.
func (d *Document) paint(a, b processing.Point, first bool) image.Rectangle {
	var dirty image.Rectangle
	if !finite(a) || !finite(b) {
		return dirty
	}
	c := newCapsule(a, b, d.stroke.brush.Radius)
	done := newCapsule(a, a, d.stroke.brush.Radius)
	w, h := d.mask.Width, d.mask.Height
	y0 := int(clampTo(math.Ceil(math.Min(a.Y, b.Y)-c.r-0.5), 0, h))
	y1 := int(clampTo(math.Floor(math.Max(a.Y, b.Y)+c.r-0.5)+1, 0, h))
	for y0 < y1 {
		// One row of tiles after the other: their tiles are saved, then the rows written.
		end := min(y1, y0-y0%tileSide+tileSide)
		left, right := w, 0
		for y := y0; y < end; y++ {
			x0, x1 := c.span(y, w)
			d.spans[y-y0] = [2]int{x0, x1}
			if x0 < x1 {
				left, right = min(left, x0), max(right, x1)
			}
		}
		if left < right {
			d.touch(image.Rect(left, y0, right, end))
		}
		for y := y0; y < end; y++ {
			x0, x1 := d.spans[y-y0][0], d.spans[y-y0][1]
			if x0 >= x1 {
				continue
			}
			row := d.mask.Pix[y*w : (y+1)*w]
			if d.stroke.fall != nil {
				d.stroke.soft(row, c, y, x0, x1)
				dirty = dirty.Union(image.Rect(x0, y, x1, y+1))
				continue
			}
			p0, p1 := x1, x1
			if !first {
				if q0, q1 := done.span(y, w); q0 < q1 {
					p0, p1 = q0, q1
				}
			}
			for _, part := range [2][2]int{{x0, p0}, {p1, x1}} {
				if part[0] < part[1] {
					set(row[part[0]:part[1]], d.stroke.value())
					dirty = dirty.Union(image.Rect(part[0], y, part[1], y+1))
				}
			}
		}
		y0 = end
	}
	if !dirty.Empty() {
		d.changed()
	}
	return dirty
}

func (s *stroke) value() uint8 {
	if s.brush.Erase {
		return 0
	}
	return 255
}

// soft lays the brush's fall over row y, from x0 to x1: a pixel only ever grows under a brush and sinks under an eraser,
// so painting over the same place twice changes nothing.
func (s *stroke) soft(row []uint8, c capsule, y, x0, x1 int) {
	scale := fallSteps / (c.r * c.r)
	for x := x0; x < x1; x++ {
		v := s.fall[int(math.Min(c.distance2(float64(x)+0.5, float64(y)+0.5)*scale, fallSteps))]
		if s.brush.Erase {
			row[x] = min(row[x], 255-v)
		} else {
			row[x] = max(row[x], v)
		}
	}
}

// capsule is the set of points within r of the segment from a to b.
type capsule struct {
	a, b processing.Point
	// dx and dy are b − a, length2 its squared length.
	dx, dy, length2 float64
	r               float64
}

func newCapsule(a, b processing.Point, r float64) capsule {
	dx, dy := b.X-a.X, b.Y-a.Y
	return capsule{a, b, dx, dy, dx*dx + dy*dy, r}
}

// distance2 returns the squared distance of a point from the segment.
func (c capsule) distance2(x, y float64) float64 {
	px, py := x-c.a.X, y-c.a.Y
	if c.length2 > 0 {
		t := math.Max(0, math.Min(1, (px*c.dx+py*c.dy)/c.length2))
		px, py = px-t*c.dx, py-t*c.dy
	}
	return px*px + py*py
}

// covers says whether the middle of a pixel is in the capsule.
func (c capsule) covers(x, y int) bool {
	return c.distance2(float64(x)+0.5, float64(y)+0.5) <= c.r*c.r
}

// span returns the pixels of row y in the capsule, clipped to width w; x1 is excluded. The capsule is convex, so they are
// one run.
func (c capsule) span(y, w int) (x0, x1 int) {
	v := float64(y) + 0.5
	left, right := math.Inf(1), math.Inf(-1)
	reach := func(x float64) { left, right = math.Min(left, x), math.Max(right, x) }
	for _, p := range [2]processing.Point{c.a, c.b} {
		if h := c.r*c.r - (v-p.Y)*(v-p.Y); h >= 0 {
			h = math.Sqrt(h)
			reach(p.X - h)
			reach(p.X + h)
		}
	}
	if c.dy != 0 {
		// The two sides parallel to the segment, each offset by r along its normal.
		length := math.Sqrt(c.length2)
		nx, ny := -c.dy/length*c.r, c.dx/length*c.r
		for _, side := range [2]float64{1, -1} {
			if t := (v - c.a.Y - side*ny) / c.dy; t >= 0 && t <= 1 {
				reach(c.a.X + side*nx + t*c.dx)
			}
		}
	}
	if left > right {
		return 0, 0
	}
	x0, x1 = int(clampTo(math.Ceil(left-0.5), 0, w)), int(clampTo(math.Floor(right-0.5)+1, 0, w))
	// The ends come from roots and quotients; what decides is the distance.
	for x0 > 0 && c.covers(x0-1, y) {
		x0--
	}
	for x1 < w && c.covers(x1, y) {
		x1++
	}
	for x0 < x1 && !c.covers(x0, y) {
		x0++
	}
	for x0 < x1 && !c.covers(x1-1, y) {
		x1--
	}
	return x0, x1
}

func clampTo(v float64, lo, hi int) float64 { return math.Max(float64(lo), math.Min(v, float64(hi))) }
