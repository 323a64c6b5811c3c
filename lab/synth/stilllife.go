package synth

import (
	"math"
	"math/rand/v2"
	"slices"

	"blik/internal/simd"
)

// stillLife is a table with a jug, a glass, fruit and a white cloth with a lace hem before a dark wall.
type stillLife struct {
	seed uint64
	w, h float64
	// unit is the short side, table the height of the table's far edge, front that of its near edge.
	unit, table, front float64
	jug, glass         vessel
	fruit              []ball
	cloth              [2]float64
}

// vessel is a solid of revolution about a vertical axis; lengths in millimetres.
type vessel struct {
	x, top, height, radius float64
	// profile is the radius in units of radius at heights from 0 (top) to 1 (bottom).
	profile []float64
}

// ball is a fruit: an ellipsoid with its colours from shadow to light.
type ball struct {
	x, y, rx, ry       float64
	dark, middle, pale rgb
	gloss              float64
}

// lambert is the cosine between the unit normal and the direction to a light at the upper left, in front.
func lambert(nx, ny, nz float64) float64 { return -0.58*nx - 0.52*ny + 0.627*nz }

func newStillLife(seed uint64, w, h float64) *stillLife {
	rnd := stream(seed, 30)
	s := &stillLife{seed: seed, w: w, h: h, unit: math.Min(w, h)}
	u := s.unit
	s.table, s.front = h*0.58, h*0.84
	cx := w / 2
	s.jug = vessel{x: cx - u*(0.20+0.06*rnd.Float64()), top: s.table - u*0.36, height: u * 0.47, radius: u * 0.15,
		profile: []float64{0.52, 0.43, 0.38, 0.42, 0.66, 0.88, 1, 0.99, 0.88, 0.66, 0.55}}
	s.glass = vessel{x: cx + u*(0.38+0.05*rnd.Float64()), top: s.table - u*0.25, height: u * 0.38, radius: u * 0.085,
		profile: []float64{0.88, 0.96, 1, 0.97, 0.8, 0.4, 0.1, 0.08, 0.08, 0.12, 0.75}}
	lemon := []rgb{srgb(0x4a3a0c), srgb(0xb48a1e), srgb(0xeccb5c)}
	apple := []rgb{srgb(0x3a0d0a), srgb(0x9c2a1a), srgb(0xd9744a)}
	plum := []rgb{srgb(0x120c1c), srgb(0x3a2746), srgb(0x7c6a92)}
	orange := []rgb{srgb(0x4a2208), srgb(0xb8611a), srgb(0xeaa050)}
	kinds := [][]rgb{lemon, apple, plum, orange}
	add := func(x, y, r, squash float64, k []rgb, gloss float64) {
		s.fruit = append(s.fruit, ball{x: x, y: y, rx: r, ry: r * squash, dark: k[0], middle: k[1], pale: k[2],
			gloss: gloss})
	}
	for i := range 5 {
		r := u * (0.052 + 0.022*rnd.Float64())
		x := cx + u*(-0.13+0.075*float64(i)+0.02*rnd.NormFloat64())
		y := s.table + u*(0.04+0.05*float64(i%2)+0.03*rnd.Float64())
		add(x, y, r, 0.9, kinds[(i+rnd.IntN(2))%4], 0.5+0.5*rnd.Float64())
	}
	// Grapes tumble over one another towards the glass.
	for range 26 {
		t := rnd.Float64()
		x := cx + u*(0.12+0.14*t+0.025*rnd.NormFloat64())
		y := s.table + u*(0.075+0.065*t+0.025*rnd.NormFloat64())
		add(x, y, u*(0.0165+0.004*rnd.Float64()), 1, plum, 0.8)
	}
	s.cloth = [2]float64{cx - u*0.46, cx - u*0.02}
	return s
}

// locate returns the radius at height y in millimetres, or 0 outside.
func (v *vessel) locate(y float64) (radius, slope float64) {
	t := (y - v.top) / v.height
	if t < 0 || t >= 1 {
		return 0, 0
	}
	// A Catmull-Rom spline through the profile.
	n := len(v.profile) - 1
	p := t * float64(n)
	i := int(p)
	f := p - float64(i)
	k := func(i int) float64 { return v.profile[max(0, min(i, n))] }
	p0, p1, p2, p3 := k(i-1), k(i), k(i+1), k(i+2)
	c1, c2, c3 := (p2-p0)/2, p0-2.5*p1+2*p2-p3/2, (p3-p0)/2+1.5*(p1-p2)
	r := p1 + f*(c1+f*(c2+f*c3))
	return r * v.radius, (c1 + f*(2*c2+f*3*c3)) * float64(n) * v.radius / v.height
}

// normal returns the surface's normal where (x, y) meets the vessel.
func (v *vessel) normal(x, y float64) (nx, ny, nz float64, inside bool) {
	r, slope := v.locate(y)
	if d := math.Abs(x - v.x); r == 0 || d >= r {
		return 0, 0, 0, false
	}
	nx = (x - v.x) / r
	ny = -slope
	nz = math.Sqrt(1 - nx*nx)
	k := 1 / math.Sqrt(1+ny*ny)
	return nx * k, ny * k, nz * k, true
}

func (s *stillLife) at(x, y float64) spot {
	for i := len(s.fruit) - 1; i >= 0; i-- {
		b := &s.fruit[i]
		dx, dy := (x-b.x)/b.rx, (y-b.y)/b.ry
		d2 := dx*dx + dy*dy
		if d2 >= 1 {
			continue
		}
		nz := math.Sqrt(1 - d2)
		l := lambert(dx, dy, nz)
		colour := ramp(0.25+0.75*l+0.05*fractal(s.seed+40+uint64(i), dx*4, dy*4, 2), b.dark, b.dark.mix(b.middle, 0.5),
			b.middle, b.pale)
		// The table reflects some light onto the underside.
		colour = colour.mix(srgb(0x6b5236), 0.22*step(0.3, 0.9, dy)*d2)
		return spot{colour: colour, angle: math.Atan2(dy, dx) + math.Pi/2, detail: 0.75, body: 0.7}
	}
	if c, ok := s.linen(x, y); ok {
		return c
	}
	if nx, ny, nz, ok := s.glass.normal(x, y); ok {
		behind := s.behind(x, y)
		t := (y - s.glass.top) / s.glass.height
		if t > 0.16 && t < 0.48 {
			behind.colour = ramp(0.3+0.6*lambert(-nx, ny, nz), srgb(0x160405), srgb(0x4a0c10), srgb(0x8f2a22))
		}
		behind.colour = behind.colour.times(0.85).mix(srgb(0x8f9490), 0.65*math.Pow(1-nz, 2.2))
		behind.angle, behind.detail = math.Pi/2, 0.95
		return behind
	}
	if nx, ny, nz, ok := s.jug.normal(x, y); ok {
		l := lambert(nx, ny, nz)
		// Metal mirrors the room: a bright window, a dark wall, a warm table.
		mirror := 0.5 + 0.5*math.Sin(5.2*nx-1.1+0.8*ny)
		colour := ramp(0.15+0.62*l+0.22*mirror, srgb(0x140d09), srgb(0x46291a), srgb(0x8a5532), srgb(0xcf9868),
			srgb(0xf0cfa4))
		return spot{colour: colour, angle: math.Pi/2 + 0.5*nx, detail: 0.7, body: 0.6}
	}
	// The handle is a bow beside the jug.
	hx, hy := (x-s.jug.x+s.jug.radius*0.86)/(s.unit*0.085), (y-s.jug.top-s.unit*0.135)/(s.unit*0.105)
	if d := math.Hypot(hx, hy); d > 0.8 && d < 1 && hx < 0.35 {
		return spot{colour: ramp(0.5+0.5*math.Sin((d-0.8)*15)-0.3*hy, srgb(0x1c110b), srgb(0x6a4028), srgb(0xc79468)),
			angle: math.Atan2(hy, hx) + math.Pi/2, detail: 0.95, body: 0.6}
	}
	return s.behind(x, y)
}

// behind returns the wall and the table, with the shadows that fall on them.
func (s *stillLife) behind(x, y float64) spot {
	u := s.unit
	n := fractal(s.seed+31, x/u*5, y/u*5, 4)
	switch {
	case y < s.table:
		glow := simd.Exp(-math.Pow((x-s.w*0.62)/(0.55*s.w), 2) - math.Pow((y-s.h*0.25)/(0.45*s.h), 2))
		return spot{colour: ramp(0.75*glow+0.22*n, srgb(0x14100d), srgb(0x2a221b), srgb(0x4e4334), srgb(0x73654d)),
			angle: 0.9 + 1.3*n, detail: 0.15, body: 0.35}
	case y < s.front:
		t := (y - s.table) / (s.front - s.table)
		wood := ramp(0.35+0.25*t+0.25*fractal(s.seed+32, x/u*2, y/u*40, 3), srgb(0x2a190e), srgb(0x54341d),
			srgb(0x855a34))
		shade := 0.0
		for i := range s.fruit {
			b := &s.fruit[i]
			dx, dy := (x-b.x-0.55*b.rx)/(1.35*b.rx), (y-b.y-0.85*b.ry)/(0.5*b.ry)
			shade = math.Max(shade, 1-step(0.5, 1.1, math.Hypot(dx, dy)))
		}
		for _, v := range []*vessel{&s.jug, &s.glass} {
			foot := v.radius * v.profile[len(v.profile)-1]
			dx, dy := (x-v.x-1.3*foot)/(2.4*foot), (y-v.top-v.height)/(0.5*foot)
			shade = math.Max(shade, 1-step(0.4, 1.1, math.Hypot(dx, dy)))
		}
		return spot{colour: wood.times(1 - 0.75*shade), angle: 0.05 * n, detail: 0.3, body: 0.4}
	default:
		t := (y - s.front) / (s.h - s.front + 1e-9)
		edge := 1 - step(0, 0.02, (y-s.front)/u)
		wood := ramp(0.32-0.3*t+0.2*n, srgb(0x0e0906), srgb(0x2b1a10), srgb(0x4a2f1c)).mix(srgb(0x9a7048), 0.7*edge)
		return spot{colour: wood, angle: 0.04 * n, detail: 0.2 + 0.6*edge, body: 0.4}
	}
}

// hem returns how far the cloth hangs at x, scalloped.
func (s *stillLife) hem(x float64) float64 {
	u := s.unit
	return s.front + u*(0.085+0.012*math.Abs(math.Sin(x/u*math.Pi*28))+0.02*math.Sin(x/u*11))
}

// linen is the white cloth on the table and over its edge.
func (s *stillLife) linen(x, y float64) (spot, bool) {
	u := s.unit
	t := (y - s.table) / (s.front - s.table)
	slant := u * 0.05 * math.Min(t, 1)
	a, b := s.cloth[0]-slant, s.cloth[1]+slant+u*0.012*math.Sin(t*7)
	if x < a || x > b || t < 0.42 || y > s.hem(x) {
		return spot{}, false
	}
	hang := step(s.front-0.01*u, s.front+0.01*u, y)
	fold := math.Sin(x/u*38+3*fractal(s.seed+33, x/u*4, y/u*3, 2)) * (0.35 + 0.65*hang)
	light := 0.66 - 0.22*hang + 0.26*fold
	shade := 0.0
	for i := range s.fruit {
		f := &s.fruit[i]
		dx, dy := (x-f.x-0.5*f.rx)/(1.3*f.rx), (y-f.y-0.85*f.ry)/(0.5*f.ry)
		shade = math.Max(shade, 1-step(0.5, 1.1, math.Hypot(dx, dy)))
	}
	colour := ramp(light, srgb(0x4d4a48), srgb(0x88827a), srgb(0xc2bbab), srgb(0xebe6d6)).times(1 - 0.6*shade)
	return spot{colour: colour, angle: 0.15 + (math.Pi/2-0.15)*hang, detail: 0.55, body: 0.9}, true
}

func (s *stillLife) details() []stroke {
	rnd := stream(s.seed, 34)
	return slices.Concat(s.lace(rnd), s.lightsOnFruit(rnd), s.lightsOnVessels(rnd), s.objects(rnd))
}

// The light paints of the details.
const (
	stillLifeWhite = 0xe6e3d8
	stillLifeCream = 0xdfd0ae
)

// lace returns threads in loops along the hem, with a dot in each mesh and drops below.
func (s *stillLife) lace(rnd *rand.Rand) (out []stroke) {
	u, white := s.unit, srgb(stillLifeWhite)
	for x := s.cloth[0] - 0.03*u; x < s.cloth[1]+0.04*u; x += 0.0125 * u {
		y := s.hem(x)
		for row := range 3 {
			ry := y + u*(0.004+0.009*float64(row))
			out = append(out,
				line(rnd, x, ry, 0.0075*u, 0.0008*u, 0.7, 0, white),
				line(rnd, x, ry, 0.0075*u, 0.0008*u, -0.7, 0, white),
				dab(rnd, x+0.006*u, ry, 0.0015*u*(0.7+0.6*rnd.Float64()), white))
		}
		out = append(out, dab(rnd, x, y+0.034*u, 0.0022*u, white))
	}
	return out
}

// lightsOnFruit returns the reflection of the window in each fruit, sharp if the fruit is glossy.
func (s *stillLife) lightsOnFruit(rnd *rand.Rand) (out []stroke) {
	white := srgb(stillLifeWhite)
	for i := range s.fruit {
		b := &s.fruit[i]
		x, y := b.x-0.36*b.rx, b.y-0.36*b.ry
		hidden := false
		for j := i + 1; j < len(s.fruit); j++ {
			f := &s.fruit[j]
			hidden = hidden || math.Hypot((x-f.x)/f.rx, (y-f.y)/f.ry) < 1
		}
		if hidden {
			continue
		}
		size := b.rx * 0.10 * (0.6 + 0.7*b.gloss)
		for range 3 {
			out = append(out, dab(rnd, x+0.6*size*rnd.NormFloat64(), y+0.6*size*rnd.NormFloat64(),
				size*(0.5+0.5*rnd.Float64()), b.pale.mix(white, 0.5+0.5*b.gloss)))
		}
	}
	return out
}

// lightsOnVessels returns long narrow lights along the outlines of jug and glass, and short bright ones on top.
func (s *stillLife) lightsOnVessels(rnd *rand.Rand) (out []stroke) {
	u, white, cream := s.unit, srgb(stillLifeWhite), srgb(stillLifeCream)
	j := &s.jug
	for range 9 {
		t := 0.42 + 0.3*rnd.Float64()
		y := j.top + t*j.height
		r, _ := j.locate(y)
		out = append(out, line(rnd, j.x-r*(0.5+0.05*rnd.NormFloat64()), y, u*(0.008+0.012*rnd.Float64()),
			u*(0.0012+0.0016*rnd.Float64()), math.Pi/2+0.12, -3/u, cream.mix(white, rnd.Float64())))
	}
	out = append(out, dab(rnd, j.x-0.46*j.radius, j.top+0.55*j.height, 0.007*u, white),
		dab(rnd, j.x-0.34*j.radius, j.top+0.03*j.height, 0.003*u, white))
	rim := j.radius * j.profile[0]
	out = append(out, line(rnd, j.x-0.2*rim, j.top+0.004*u, 0.7*rim, 0.0016*u, 0, 0, cream))
	g := &s.glass
	for _, side := range []float64{-0.72, 0.8} {
		for range 3 {
			y := g.top + g.height*(0.12+0.2*rnd.Float64())
			r, _ := g.locate(y)
			out = append(out, line(rnd, g.x+side*r, y, u*(0.012+0.02*rnd.Float64()), u*0.0013, math.Pi/2, 2*side/u,
				white))
		}
	}
	lip := g.radius * g.profile[0]
	out = append(out,
		line(rnd, g.x, g.top+0.002*u, 0.95*lip, 0.0013*u, 0, 1.2/u, white),
		line(rnd, g.x, g.top+0.985*g.height, 0.7*lip, 0.0014*u, 0, -1.2/u, cream),
		dab(rnd, g.x-0.45*g.radius, g.top+0.2*g.height, 0.004*u, white),
		dab(rnd, g.x+0.35*g.radius, g.top+0.4*g.height, 0.0024*u, white),
		line(rnd, g.x-0.02*g.radius, g.top+0.75*g.height, 0.03*u, 0.0011*u, math.Pi/2, 0, cream))
	return out
}

// objects returns a knife on the cloth, and drops of water on the table.
func (s *stillLife) objects(rnd *rand.Rand) (out []stroke) {
	u, white := s.unit, srgb(stillLifeWhite)
	// A blade with a light along it.
	kx, ky := s.cloth[0]+0.12*u, s.table+0.72*(s.front-s.table)
	out = append(out,
		line(rnd, kx, ky, 0.11*u, 0.006*u, -0.22, 0, srgb(0x6f7478)),
		line(rnd, kx, ky-0.001*u, 0.10*u, 0.0014*u, -0.22, 0, white),
		line(rnd, kx-0.14*u, ky+0.031*u, 0.045*u, 0.007*u, -0.22, 0, srgb(0x2a1a10)))
	for range 14 {
		x, y := s.w/2+u*(0.1+0.3*rnd.Float64()), s.front-u*(0.01+0.05*rnd.Float64())
		r := u * (0.002 + 0.003*rnd.Float64())
		out = append(out, dab(rnd, x, y, r, srgb(0x3a2616)), dab(rnd, x-0.3*r, y-0.3*r, 0.35*r, white))
	}
	return out
}
