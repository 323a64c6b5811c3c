package document

import (
	"image"
	"math"
	"sort"

	"blik/internal/message"
	"blik/processing"
)

// Brush is what a stroke paints with.
type Brush struct {
	// Radius in image pixels, 0.5…MaxRadius; it is clamped. Below 1 the brush snaps to the middle of the pixel, so that
	// 0.5 paints single pixels.
	Radius float64
	// Erase removes from the mask instead of adding to it.
	Erase bool
	// Soft is the share of the radius, 0…1, over which the edge falls off; 0 is a hard brush. Shares below MinSoft
	// count as MinSoft, others are clamped.
	Soft float64
}

// MaxRadius is the largest radius of a brush, in image pixels.
const MaxRadius = 2000

// MinSoft is the smallest share of the radius over which the edge of a soft brush falls off.
const MinSoft = 0.1

// stroke is an open stroke.
type stroke struct {
	brush Brush
	last  processing.Point
	// fall holds the values of a soft brush for squared distances from 0 to the squared radius; nil for a hard brush.
	fall []uint8
}

// fallSteps is the resolution of a soft brush's table: fine enough that neighbouring entries differ by at most 1.
const fallSteps = 4096

// BeginStroke starts a stroke at (x, y) and paints its first dab. The image coordinates may lie outside the picture. It
// first ends a stroke that is still open.
func (d *Document) BeginStroke(b Brush, x, y float64) image.Rectangle {
	name := message.Of("Brush stroke")
	if b.Erase {
		name = message.Of("Eraser stroke")
	}
	d.begin(name)
	d.edit.byHand = true
	if !(b.Radius >= 0.5) {
		b.Radius = 0.5
	}
	b.Radius = math.Min(b.Radius, MaxRadius)
	s := &stroke{brush: b}
	if b.Soft > 0 {
		s.brush.Soft = min(max(b.Soft, MinSoft), 1)
		s.fall = falloff(s.brush.Soft)
	}
	s.last = s.snap(x, y)
	d.stroke = s
	return d.paint(s.last, s.last, true)
}

// falloff tabulates a brush that falls from 255 to 0 along a cosine over the outer part of its radius, of share soft.
func falloff(soft float64) []uint8 {
	fall := make([]uint8, fallSteps+1)
	for i := range fall {
		distance := math.Sqrt(float64(i) / fallSteps)
		fall[i] = uint8(255*(0.5+0.5*math.Cos(math.Pi*math.Max(1-(1-distance)/soft, 0))) + 0.5)
	}
	return fall
}

// StrokeTo paints from the last point to (x, y): all pixels whose centres are within the radius of the segment, the
// limit of ever denser dabs. Without an open stroke, or if a coordinate is not a finite number, it does nothing.
func (d *Document) StrokeTo(x, y float64) image.Rectangle {
	if d.stroke == nil {
		return image.Rectangle{}
	}
	to := d.stroke.snap(x, y)
	from := d.stroke.last
	if from == to || !isNumber(to) {
		return image.Rectangle{}
	}
	d.stroke.last = to
	if !isNumber(from) {
		from = to
	}
	return d.paint(from, to, false)
}

// isNumber reports whether neither coordinate is NaN.
func isNumber(p processing.Point) bool { return !math.IsNaN(p.X) && !math.IsNaN(p.Y) }

// snap moves the points of a brush that covers single pixels to pixel centres, and clamps distant ones so that their
// squares stay accurate. It turns infinite coordinates into NaN.
func (s *stroke) snap(x, y float64) processing.Point {
	const far = 1e8
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return processing.Point{X: math.NaN(), Y: math.NaN()}
	}
	x, y = math.Max(-far, math.Min(x, far)), math.Max(-far, math.Min(y, far))
	if s.brush.Radius < 1 {
		x, y = math.Floor(x)+0.5, math.Floor(y)+0.5
	}
	return processing.Point{X: x, Y: y}
}

// EndStroke adds the open stroke to the history as one step. Without an open stroke it does nothing.
func (d *Document) EndStroke() {
	if d.stroke == nil {
		return
	}
	d.stroke = nil
	d.commit()
}

// CancelStroke removes what the open stroke painted.
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
		d.changedTile(t.index)
		dirty = dirty.Union(r)
	}
	d.generation = s.generation
	return dirty
}

// Painting reports whether a stroke is open.
func (d *Document) Painting() bool { return d.stroke != nil }

// paint paints the pixels near the segment a–b and returns their bounding box. Unless it is the first dab, the disc
// around a has been painted already and is skipped.
func (d *Document) paint(a, b processing.Point, first bool) image.Rectangle {
	if !isNumber(b) {
		return image.Rectangle{}
	}
	c := newCapsule(a, b, d.stroke.brush.Radius)
	w, h := d.mask.Width, d.mask.Height
	y0 := clampTo(math.Ceil(math.Min(a.Y, b.Y)-c.r-0.5), h)
	y1 := clampTo(math.Floor(math.Max(a.Y, b.Y)+c.r-0.5)+1, h)
	d.spans = d.spans[:0]
	for y := y0; y < y1; y++ {
		if x0, x1 := c.span(y, w); x0 < x1 {
			d.spans = d.stroke.unpainted(d.spans, c, processing.Run{Y: y, X0: x0, X1: x1}, w, first)
		}
	}
	dirty := d.saveTiles(d.spans)
	if dirty.Empty() {
		return dirty
	}
	if d.stroke.fall == nil {
		for _, s := range d.spans {
			set(d.mask.Pix[s.Y*w+s.X0:s.Y*w+s.X1], d.stroke.value())
		}
	} else {
		stroke := d.stroke
		forEach(len(d.spans), func(i int, _ *struct{}) {
			s := d.spans[i]
			stroke.soft(d.mask.Pix[s.Y*w:(s.Y+1)*w], c, s)
		})
	}
	d.changed()
	return dirty
}

// unpainted appends those parts of a row of the capsule c that the stroke has not painted yet: for a hard brush
// everything outside the disc around a, for a soft brush everything whose nearest point of the segment is not a.
func (s *stroke) unpainted(spans []processing.Run, c capsule, row processing.Run, w int, first bool) []processing.Run {
	if first {
		return append(spans, row)
	}
	p0, p1 := row.X1, row.X1
	if s.fall != nil {
		p0, p1 = c.behind(row)
	} else if q0, q1 := newCapsule(c.a, c.a, c.r).span(row.Y, w); q0 < q1 {
		p0, p1 = q0, q1
	}
	if row.X0 < p0 {
		spans = append(spans, processing.Run{Y: row.Y, X0: row.X0, X1: p0})
	}
	if p1 < row.X1 {
		spans = append(spans, processing.Run{Y: row.Y, X0: p1, X1: row.X1})
	}
	return spans
}

// saveTiles saves the tiles of spans in the edit before they are written, and returns their bounding box. spans are in
// reading order.
func (d *Document) saveTiles(spans []processing.Run) image.Rectangle {
	var dirty image.Rectangle
	for len(spans) > 0 {
		// Take all spans of one row of tiles. A row of pixels has at most two, left and right of what is painted
		// already; separate rectangles leave the tiles between them out.
		band := spans[0].Y / tileSide
		var left, right image.Rectangle
		n := 0
		for n < len(spans) && spans[n].Y/tileSide == band {
			s := spans[n]
			r := image.Rect(s.X0, s.Y, s.X1, s.Y+1)
			if n > 0 && spans[n-1].Y == s.Y {
				right = right.Union(r)
			} else {
				left = left.Union(r)
			}
			n++
		}
		spans = spans[n:]
		for _, r := range [2]image.Rectangle{left, right} {
			d.prepareWrite(r)
			dirty = dirty.Union(r)
		}
	}
	return dirty
}

func (s *stroke) value() uint8 {
	if s.brush.Erase {
		return 0
	}
	return 255
}

// soft paints a span with a soft brush. A brush only raises values and an eraser only lowers them, so painting twice
// over the same place changes nothing.
//
// Along a row, the nearest point of the segment is first one end, then a point between, then the other end. Each of the
// three parts has a simple formula for the distance.
func (s *stroke) soft(row []uint8, c capsule, part processing.Run) {
	core0, core1 := newCapsule(c.a, c.b, c.r*(1-s.brush.Soft)).span(part.Y, len(row))
	core0, core1 = max(core0, part.X0), min(core1, part.X1)
	if core0 >= core1 {
		core0, core1 = part.X1, part.X1
	}
	set(row[core0:core1], s.value())
	first, last := c.middle(part.Y, len(row))
	left, right := c.a, c.b
	if c.dx < 0 || c.dx == 0 && float64(part.Y)+0.5 > c.b.Y == (c.dy > 0) {
		left, right = right, left
	}
	for _, side := range [2][2]int{{part.X0, core0}, {core1, part.X1}} {
		x0, x1 := side[0], side[1]
		a, b := min(max(first, x0), x1), min(max(last, x0), x1)
		s.roundEnd(row, c.r, left, part.Y, x0, a)
		s.alongside(row, c, part.Y, a, b)
		s.roundEnd(row, c.r, right, part.Y, b, x1)
	}
}

// middle returns the columns of row y whose nearest point of the segment is not an end. If none exists, all columns
// belong to one end, which soft treats as the left one.
func (c capsule) middle(y, w int) (x0, x1 int) {
	v := float64(y) + 0.5
	if c.dx == 0 {
		if c.length2 > 0 && (v-c.a.Y)*(v-c.b.Y) <= 0 {
			return 0, w
		}
		return w, w
	}
	p := c.a.X - (v-c.a.Y)*c.dy/c.dx - 0.5
	q := c.b.X - (v-c.b.Y)*c.dy/c.dx - 0.5
	return clampTo(math.Ceil(math.Min(p, q)), w), clampTo(math.Ceil(math.Max(p, q)), w)
}

// roundEnd paints columns x0…x1−1 of row y by their distance from the point p.
func (s *stroke) roundEnd(row []uint8, r float64, p processing.Point, y, x0, x1 int) {
	scale := fallSteps / (r * r)
	v := float64(y) + 0.5 - p.Y
	for x := x0; x < x1; x++ {
		u := float64(x) + 0.5 - p.X
		s.lay(row, x, (u*u+v*v)*scale)
	}
}

// alongside paints columns x0…x1−1 of row y by their distance from the line through the segment.
func (s *stroke) alongside(row []uint8, c capsule, y, x0, x1 int) {
	if x0 >= x1 {
		return
	}
	// The distance from the line is linear along a row. It is scaled so that its square is an index of fall.
	unit := math.Sqrt(fallSteps/c.length2) / c.r
	v := (float64(y) + 0.5 - c.a.Y) * c.dx * unit
	for x := x0; x < x1; x++ {
		u := (float64(x)+0.5-c.a.X)*c.dy*unit - v
		s.lay(row, x, u*u)
	}
}

// lay paints one pixel. distance2 is its squared distance, scaled to an index of fall.
func (s *stroke) lay(row []uint8, x int, distance2 float64) {
	v := s.fall[min(int(distance2), fallSteps)]
	if s.brush.Erase {
		row[x] = min(row[x], 255-v)
	} else {
		row[x] = max(row[x], v)
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

// covers reports whether the centre of a pixel is in the capsule.
func (c capsule) covers(x, y int) bool {
	return c.distance2(float64(x)+0.5, float64(y)+0.5) <= c.r*c.r
}

// behind returns the part of a row whose nearest point of the segment is a: the pixels that do not lie ahead of a in
// the direction of b.
func (c capsule) behind(row processing.Run) (x0, x1 int) {
	ahead := func(x int) bool {
		return (float64(x)+0.5-c.a.X)*c.dx+(float64(row.Y)+0.5-c.a.Y)*c.dy > 0
	}
	// The sign changes at most once along the row.
	first := ahead(row.X0)
	change := row.X0 + sort.Search(row.X1-row.X0, func(i int) bool { return ahead(row.X0+i) != first })
	if first {
		return change, row.X1
	}
	return row.X0, change
}

// span returns the pixels of row y in the capsule, clipped to width w; x1 is excluded. They are one run because the
// capsule is convex.
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
	x0, x1 = clampTo(math.Ceil(left-0.5), w), clampTo(math.Floor(right-0.5)+1, w)
	// Rounding may have moved the ends by a pixel; covers decides.
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

func clampTo(v float64, limit int) int { return int(max(0, min(v, float64(limit)))) }
