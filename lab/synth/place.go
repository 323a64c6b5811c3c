package synth

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"blik/processing"
)

// surface holds the properties of the paint that determine position and shape of glints.
type surface struct {
	pic   *processing.Picture
	curve *curve
}

// height is the relief that the picture itself suggests: the lightness of its paint, 0…1. Raking light makes
// impasto show as lightness, so its gradients follow brush ridges.
func (s *surface) height(x, y int) float64 { return math.Sqrt(s.curve.at(s.pic, x, y)) }

// ridge returns the direction along the strongest structure about (x, y) in radians and its gradient energy, from the
// structure tensor over 9 × 9 pixels (Förstner & Gülch 1987).
func (s *surface) ridge(x, y int) (angle, energy float64) {
	const r = 4
	var patch [2*r + 3][2*r + 3]float64
	for j := range patch {
		for i := range patch[j] {
			patch[j][i] = s.height(x+i-r-1, y+j-r-1)
		}
	}
	var xx, xy, yy float64
	for j := 1; j <= 2*r+1; j++ {
		for i := 1; i <= 2*r+1; i++ {
			gx := patch[j][i+1] - patch[j][i-1]
			gy := patch[j+1][i] - patch[j-1][i]
			xx += gx * gx
			xy += gx * gy
			yy += gy * gy
		}
	}
	return 0.5*math.Atan2(2*xy, xx-yy) + math.Pi/2, math.Hypot(xx-yy, 2*xy)
}

// planner places glints one group after the other.
type planner struct {
	o      GlareOptions
	rnd    *rand.Rand
	surf   *surface
	w, h   float64
	canvas *canvas
	glints []glint
}

// canvas is a plain weave: thread distance in pixels and the unit vector (cos, sin) of the warp.
type canvas struct{ pitch, cos, sin float64 }

// threads returns the position of (x, y) in threads along weft and warp.
func (c *canvas) threads(x, y float64) (u, v float64) {
	return (x*c.cos + y*c.sin) / c.pitch, (y*c.cos - x*c.sin) / c.pitch
}

// pixel is the inverse of threads.
func (c *canvas) pixel(u, v float64) (x, y float64) {
	u, v = u*c.pitch, v*c.pitch
	return u*c.cos - v*c.sin, u*c.sin + v*c.cos
}

// plan places all glints of a picture, or stops if ctx is cancelled.
func plan(ctx context.Context, o GlareOptions, s *surface) []glint {
	p := &planner{o: o, rnd: stream(o.Seed, 1), surf: s, w: float64(s.pic.Width), h: float64(s.pic.Height)}
	sin, cos := math.Sincos((p.rnd.Float64() - 0.5) * 0.12)
	p.canvas = &canvas{pitch: o.WeavePitch * o.Scale, cos: cos, sin: sin}
	n := o.Count
	if n == 0 {
		n = int(math.Round(o.Density * p.w * p.h / (1e6 * o.Scale * o.Scale)))
	}
	p.glints = make([]glint, 0, n)
	const weaveGroup, ridgeGroup = 10, 7
	for groups := 0; len(p.glints) < n && ctx.Err() == nil; groups++ {
		left := n - len(p.glints)
		weights := o.Placement
		if groups > 10*n {
			// Groups keep falling outside a very small picture; single glints never do.
			weights = Placement{Scatter: 1}
		}
		switch pick(p.rnd, weights.Weave/weaveGroup, weights.Ridge/ridgeGroup, weights.Scatter) {
		case 0:
			p.weave(min(left, p.groupSize(weaveGroup)))
		case 1:
			p.chain(min(left, p.groupSize(ridgeGroup)))
		default:
			p.add(p.rnd.Float64()*p.w, p.rnd.Float64()*p.h, p.radius(), p.rnd.Float64()*math.Pi, p.aspect(1.8),
				p.lamp())
		}
	}
	return p.glints
}

// groupSize is geometric with the given mean.
func (p *planner) groupSize(mean float64) int {
	return 1 + int(math.Log(1-p.rnd.Float64())/math.Log(1-1/mean))
}

func (p *planner) radius() float64 {
	return p.o.Radius.power(p.rnd, p.o.SizeExponent) * p.o.Scale
}

// aspect is between 1 and the limit, small ones more often.
func (p *planner) aspect(limit float64) float64 {
	u := p.rnd.Float64()
	return 1 + (limit-1)*u*u
}

func (p *planner) lamp() [3]float64 { return p.o.Lights[p.rnd.IntN(len(p.o.Lights))] }

// weave lights the thread crossings of a patch of canvas: where it is tilted towards the lamp, crossings mirror it with
// a likelihood that falls off from the middle.
func (p *planner) weave(n int) {
	cx, cy := p.rnd.Float64()*p.w, p.rnd.Float64()*p.h
	spread := p.canvas.pitch * (1.2 + 0.6*math.Sqrt(float64(n))*(0.7+p.rnd.Float64()))
	lamp := p.lamp()
	size := p.radius()
	for range n {
		x, y := cx+p.rnd.NormFloat64()*spread, cy+p.rnd.NormFloat64()*spread
		u, v := p.canvas.threads(x, y)
		u, v = math.Round(u), math.Round(v)
		// The thread on top bulges along its own direction; warp and weft alternate.
		angle := math.Atan2(p.canvas.sin, p.canvas.cos)
		if (int(u)+int(v))&1 != 0 {
			angle += math.Pi / 2
		}
		x, y = p.canvas.pixel(u+p.rnd.NormFloat64()*0.08, v+p.rnd.NormFloat64()*0.08)
		r := p.radius()
		if p.rnd.Float64() < 0.3 {
			r = size
		}
		p.add(x, y, r, angle+p.rnd.NormFloat64()*0.15, 1+0.8*p.rnd.Float64(), lamp)
	}
}

// chain follows the strongest of several ridges of paint tried, and lights parts of its crest.
func (p *planner) chain(n int) {
	const tries = 24
	var x, y, best float64
	best = -1
	for range tries {
		tx, ty := p.rnd.Float64()*p.w, p.rnd.Float64()*p.h
		if _, e := p.surf.ridge(int(tx), int(ty)); e > best {
			best, x, y = e, tx, ty
		}
	}
	angle, _ := p.surf.ridge(int(x), int(y))
	lamp := p.lamp()
	grow := 1 + p.rnd.Float64()
	for range n {
		r := math.Min(p.radius()*grow, p.o.Radius.Max*p.o.Scale)
		aspect := 1 + 2.2*p.rnd.Float64()
		p.add(x, y, r, angle+p.rnd.NormFloat64()*0.12, aspect, lamp)
		step := r*math.Sqrt(aspect)*(1.1+2*p.rnd.Float64()) + 2*p.o.Scale
		x += math.Cos(angle) * step
		y += math.Sin(angle) * step
		if x < 0 || y < 0 || x >= p.w || y >= p.h {
			return
		}
		next, _ := p.surf.ridge(int(x), int(y))
		turn := math.Remainder(next-angle, math.Pi)
		angle += math.Max(-0.4, math.Min(0.4, turn))
		x += p.rnd.NormFloat64() * 0.25 * r
		y += p.rnd.NormFloat64() * 0.25 * r
	}
}

// add places one glint of the area of a disc of radius r, unless its middle is outside the picture.
func (p *planner) add(x, y, r, angle, aspect float64, lamp [3]float64) {
	g := glint{
		x: x, y: y, r: r, angle: angle, aspect: aspect, light: lamp,
		shape: shape(pick(p.rnd, p.o.Shapes.Ellipse, p.o.Shapes.Star, p.o.Shapes.Worm, p.o.Shapes.Facet,
			p.o.Shapes.Woven)),
		peak:       p.o.Peak.logUniform(p.rnd),
		edge:       p.o.Edge.uniform(p.rnd),
		halo:       p.o.Halo.uniform(p.rnd),
		haloRadius: p.o.HaloRadius,
		blur:       p.o.GlareBlur.uniform(p.rnd) * p.o.Scale,
		seed:       p.rnd.Uint64(),
		canvas:     p.canvas,
	}
	if x < 0 || y < 0 || x >= p.w || y >= p.h {
		return
	}
	g.prepare()
	p.glints = append(p.glints, g)
}

// inRows returns, for each strip, the glints that touch its rows or those within margin of them, in order.
func inRows(glints []glint, h, margin int) [][]int32 {
	strips := make([][]int32, (h+stripRows-1)/stripRows)
	for i := range glints {
		_, y0, _, y1 := glints[i].bounds()
		a := max(y0-margin, 0) / stripRows
		b := min(y1-1+margin, h-1) / stripRows
		for s := a; s <= b; s++ {
			strips[s] = append(strips[s], int32(i))
		}
	}
	return slices.Clip(strips)
}
