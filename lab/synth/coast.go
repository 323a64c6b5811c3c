package synth

import (
	"math"
	"math/rand/v2"
	"slices"

	"blik/internal/simd"
)

// coast is an evening by the sea: stars and clouds over a bright horizon, waves with foam, a cliff, a boat.
type coast struct {
	seed uint64
	w, h float64
	// unit is the short side; the horizon, the sun and the boat are in millimetres.
	unit, horizon, sunX, sunY, boatX, boatY, boat float64
	side                                          float64
}

func newCoast(seed uint64, w, h float64) *coast {
	rnd := stream(seed, 20)
	c := &coast{seed: seed, w: w, h: h, unit: math.Min(w, h), side: 1}
	c.horizon = h * (0.44 + 0.1*rnd.Float64())
	c.sunX = w * (0.35 + 0.3*rnd.Float64())
	c.sunY = c.horizon - c.unit*(0.05+0.06*rnd.Float64())
	if rnd.IntN(2) == 0 {
		c.side = -1
	}
	c.boatX = w * (0.5 - c.side*(0.12+0.1*rnd.Float64()))
	c.boat = c.unit * (0.11 + 0.04*rnd.Float64())
	c.boatY = c.horizon + c.unit*(0.09+0.04*rnd.Float64())
	return c
}

// cliff returns how far (x, y) lies inside the cliff, in units of the short side.
func (c *coast) cliff(x, y float64) float64 {
	u := x / c.w
	if c.side > 0 {
		u = 1 - u
	}
	if u > 0.5 {
		return -1
	}
	rough := 0.05*fractal(c.seed+1, x/c.unit*5, y/c.unit*5, 4) + 0.02*fractal(c.seed+2, x/c.unit*21, y/c.unit*21, 2)
	// Steep towards the sea, sloping back at the top.
	top := c.horizon - c.unit*(0.24-0.55*u)
	return math.Min((0.33-u)*c.w/c.unit+rough, (y-top)/c.unit+rough)
}

// shore returns how far (x, y) lies below the water's edge, in units of the short side.
func (c *coast) shore(x, y float64) float64 { return (y - c.edge(x)) / c.unit }

// edge returns the height of the water's edge at x.
func (c *coast) edge(x float64) float64 {
	u := x / c.w
	if c.side > 0 {
		u = 1 - u
	}
	rough := 0.008 * fractal(c.seed+3, x/c.unit*12, 0, 2)
	return c.h - c.unit*(0.13+0.12*(1-u)*(1-u)+0.025*math.Sin(u*9+float64(c.seed%7))+rough)
}

func (c *coast) at(x, y float64) spot {
	u := c.unit
	switch {
	case c.inSail(x, y) > 0:
		light := step(-0.4, 0.6, (c.boatX-x)/c.boat+0.3)
		return spot{colour: ramp(light, srgb(0x9a8a78), srgb(0xe0d2b4)), angle: 1.35, detail: 0.9, body: 0.6}
	case c.inHull(x, y):
		return spot{colour: ramp((c.boatY-y)/c.boat*4+0.3, srgb(0x1d1712), srgb(0x4c2f1f)), angle: 0.04, detail: 0.9,
			body: 0.4}
	}
	cliff, shore := c.cliff(x, y), c.shore(x, y)
	var n float64
	if shore > 0 || cliff > 0 {
		n = fractal(c.seed+5, x/u*9, y/u*9, 3)
	}
	switch {
	case shore > 0:
		wet := step(0.05, 0, shore)
		sand := ramp(0.5+0.5*n+shore*2, srgb(0x5b4a36), srgb(0x8d7350), srgb(0xb0946a))
		return spot{colour: sand.mix(srgb(0x3d3a35), 0.7*wet), angle: 0.12*n - 0.1*c.side, detail: 0.35 + 0.4*wet,
			body: 0.5}
	case cliff > 0:
		// Facets: the noise falls off sharply on one side, as rock does.
		face := 2*math.Abs(fractal(c.seed+6, x/u*7+y/u*4, y/u*9, 4)) - 0.3
		lit := 0.5 + 0.75*face + 0.35*fractal(c.seed+7, x/u*30, y/u*14, 3) - 0.6*cliff
		rock := ramp(lit, srgb(0x17161a), srgb(0x33302c), srgb(0x5e4d3c), srgb(0x95795a))
		grass := step(0.075, 0.02, cliff+0.02*n) * step(0.1, -0.02, (y-c.horizon)/u)
		rock = rock.mix(ramp(lit+0.1, srgb(0x1a2416), srgb(0x3f4a24), srgb(0x7c7a3a)), grass)
		edge := step(0.03, 0, cliff)
		return spot{colour: rock, angle: 1.25*c.side + 1.2*n - grass, detail: 0.6 + 0.35*edge, body: 0.7}
	case y < c.horizon:
		return c.sky(x, y)
	default:
		return c.sea(x, y)
	}
}

func (c *coast) sky(x, y float64) spot {
	u := c.unit
	t := y / c.horizon
	colour := ramp(t, srgb(0x16213f), srgb(0x24375e), srgb(0x4a6186), srgb(0x9c9a98), srgb(0xdcb58a))
	dx, dy := (x-c.sunX)/u, (y-c.sunY)/u
	d := math.Sqrt(dx*dx + dy*dy)
	colour = colour.mix(srgb(0xf0c080), 0.8*simd.Exp(-d*d/0.03))
	drift := fractal(c.seed+8, x/u*1.4, y/u*2.2, 2)
	cloud := fractal(c.seed+9, x/u*2.2+drift, y/u*5.5+drift, 5)
	cover := step(0.02, 0.4, cloud+0.25*t-0.16)
	// The sun is low: clouds are lit from below and towards it.
	below := fractal(c.seed+9, x/u*2.2+drift, (y/u+0.03)*5.5+drift, 3)
	lit := clamp(0.45 + 1.6*(cloud-below) + 0.5*simd.Exp(-d*d/0.1))
	colour = colour.mix(ramp(lit, srgb(0x3a3f56), srgb(0x74707c), srgb(0xb99a8c), srgb(0xecc9a0)), cover*0.9)
	detail := 0.12 + 0.25*cover
	if d < 0.028 {
		colour, detail = srgb(0xf6dfae), 0.9
	}
	return spot{colour: colour, angle: 0.5*drift - 0.15 + 0.9*cover*cloud, detail: detail, body: 0.35 + 0.5*cover*lit}
}

func (c *coast) sea(x, y float64) spot {
	u := c.unit
	depth := (y - c.horizon) / (c.h - c.horizon)
	// Waves shorten towards the horizon.
	far := 1 / (0.04 + depth)
	n := fractal(c.seed+12, x/u*(2+1.1*far), depth*14*math.Sqrt(far), 3)
	swell := math.Sin(depth*40/(0.3+depth) + 2.2*n + x/u*3)
	colour := ramp(0.5+0.35*swell+0.3*n, srgb(0x10262e), srgb(0x1f4450), srgb(0x3b6c72), srgb(0x6f9690))
	colour = colour.mix(srgb(0xa89c8c), 0.75*simd.Exp(-depth*9))
	path := simd.Exp(-math.Pow((x-c.sunX)/u/(0.035+0.13*depth), 2))
	colour = colour.mix(srgb(0xe2b982), 0.75*path*step(-0.1, 0.7, n+0.3*swell)*simd.Exp(-depth*2.2))
	// The surf near the shore is whiter.
	surf := step(-0.09, -0.005, c.shore(x, y)) * step(-0.05, 0.35, n+0.35*swell)
	colour = colour.mix(srgb(0xb9bdb4), 0.75*surf)
	if y-c.horizon < 0.006*u {
		colour = colour.mix(srgb(0xeadbb8), 0.7)
	}
	return spot{colour: colour, angle: 0.09*n + 0.05*swell, detail: 0.3 + 0.4*surf + 0.25*path, body: 0.4 + 0.4*surf}
}

// inSail is positive inside the sails.
func (c *coast) inSail(x, y float64) float64 {
	v := (c.boatY - y) / c.boat
	h := (x - c.boatX) / c.boat
	if v < 0.16 || v > 1.15 {
		return -1
	}
	t := (1.15 - v) / 0.99
	main := math.Min(h+0.02+0.1*math.Sin(t*math.Pi)*t, 0.55*t-h)
	if h < 0 {
		main = math.Min(-0.04-h, h+0.34*t*(1-0.15*math.Sin(t*3)))
	}
	return main
}

func (c *coast) inHull(x, y float64) bool {
	v := (c.boatY - y) / c.boat
	h := (x - c.boatX) / c.boat
	return v > -0.02+0.1*h*h*h*h && v < 0.12+0.1*h*h && math.Abs(h) < 0.62-0.5*(0.12-v)
}

// coastWhite is the white of stars, foam, sails and gulls.
const coastWhite = 0xe4e0d0

func (c *coast) details() []stroke {
	rnd := stream(c.seed, 21)
	return slices.Concat(c.lights(rnd), c.foam(rnd), c.objects(rnd))
}

// lights returns the horizon, the stars and the sun on the water.
func (c *coast) lights(rnd *rand.Rand) (out []stroke) {
	u, white, warm := c.unit, srgb(coastWhite), srgb(0xe6cc96)
	// The horizon is a bright line, interrupted by what stands in front of it.
	for i := range 60 {
		x := (float64(i) + rnd.Float64()) / 60 * c.w
		if c.cliff(x, c.horizon) < -0.01 && math.Abs(x-c.boatX) > 0.6*c.boat {
			out = append(out, line(rnd, x, c.horizon+0.002*u*rnd.Float64(), c.w/90, 0.0011*u, 0, 0, srgb(0xe6d6b2)))
		}
	}
	// Stars.
	for range 90 {
		x, y := rnd.Float64()*c.w, rnd.Float64()*rnd.Float64()*0.62*c.horizon
		if c.cliff(x, y) > -0.02 {
			continue
		}
		size := 0.0006 + 0.0022*math.Pow(rnd.Float64(), 4)
		out = append(out, dab(rnd, x, y, size*u, white.mix(srgb(0xbfd0ee), rnd.Float64())))
	}
	// Sun on the water.
	for range 160 {
		depth := rnd.Float64() * rnd.Float64() * 0.7
		y := c.horizon + (c.h-c.horizon)*depth
		x := c.sunX + rnd.NormFloat64()*u*(0.02+0.08*depth)
		if c.shore(x, y) < -0.02 && c.cliff(x, y) < 0 && c.inSail(x, y) < 0 && !c.inHull(x, y) {
			out = append(out, line(rnd, x, y, u*(0.004+0.012*depth)*(0.5+rnd.Float64()), u*(0.0007+0.0017*depth),
				0.1*rnd.NormFloat64(), 0, warm.mix(white, rnd.Float64())))
		}
	}
	return out
}

// foam returns threads and drops on each line of surf, and crests out at sea.
func (c *coast) foam(rnd *rand.Rand) (out []stroke) {
	u, white := c.unit, srgb(coastWhite)
	for row, back := range []float64{-0.002, 0.016, 0.04, 0.075} {
		for x := 0.0; x < c.w; x += u * 0.006 {
			if fractal(c.seed+13+uint64(row), x/u*6, 0, 2) < 0.25*float64(row)-0.35 {
				continue
			}
			y := c.edge(x) - u*(back+0.006*valueNoise(c.seed+14, x/u*9, back*40))
			if c.cliff(x, y) > 0 {
				continue
			}
			angle := math.Atan2(c.edge(x+u*0.01)-c.edge(x-u*0.01), u*0.02) + 0.15*rnd.NormFloat64()
			out = append(out, line(rnd, x, y, u*(0.006+0.008*rnd.Float64()), u*(0.0007+0.0016*rnd.Float64()), angle,
				2*rnd.NormFloat64()/u, white.mix(srgb(0xb9c4c0), 0.5*rnd.Float64())))
			for range rnd.IntN(3) {
				out = append(out, dab(rnd, x+rnd.NormFloat64()*0.008*u, y+rnd.NormFloat64()*0.006*u,
					u*(0.0005+0.0014*rnd.Float64()*rnd.Float64()), white))
			}
		}
	}
	for range 500 {
		x := rnd.Float64() * c.w
		depth := 0.08 + 0.92*rnd.Float64()
		y := c.horizon + (c.h-c.horizon)*depth
		if c.shore(x, y) > -0.09 || c.cliff(x, y) > 0 || c.inSail(x, y) > 0 || c.inHull(x, y) {
			continue
		}
		if c.sea(x, y).colour[1] > 0.16 || rnd.Float64() < 0.1 {
			out = append(out, line(rnd, x, y, u*(0.003+0.02*depth)*(0.5+rnd.Float64()), u*(0.0005+0.0011*depth),
				0.1*rnd.NormFloat64(), rnd.NormFloat64()/u, white.mix(srgb(0xa9b8b4), 0.6*rnd.Float64())))
		}
	}
	return out
}

// objects returns shells, the rigging of the boat, and gulls.
func (c *coast) objects(rnd *rand.Rand) (out []stroke) {
	u, white := c.unit, srgb(coastWhite)
	// Shells and pebbles on the sand.
	for range 120 {
		x := rnd.Float64() * c.w
		y := c.edge(x) + u*(0.02+0.2*rnd.Float64())
		r := u * (0.0008 + 0.0025*rnd.Float64()*rnd.Float64())
		shell := []rgb{srgb(0x3a3028), srgb(0x6a5a48), srgb(0xe6dcc8), white}[rnd.IntN(4)]
		out = append(out, dab(rnd, x+0.7*r, y+0.7*r, r, srgb(0x3f3222)), dab(rnd, x, y, r, shell))
	}
	// Mast, stays and a lantern.
	out = append(out,
		line(rnd, c.boatX-0.03*c.boat, c.boatY-0.66*c.boat, 0.56*c.boat, 0.008*c.boat, math.Pi/2, 0, srgb(0x2b1d12)),
		line(rnd, c.boatX-0.29*c.boat, c.boatY-0.6*c.boat, 0.62*c.boat, 0.0028*c.boat, -1.11, 0, white),
		line(rnd, c.boatX, c.boatY-0.085*c.boat, 0.5*c.boat, 0.006*c.boat, 0, -0.25/c.boat, srgb(0xe9dfc6)),
		dab(rnd, c.boatX+0.4*c.boat, c.boatY-0.2*c.boat, 0.014*c.boat, srgb(0xf0d8a0)))
	// Gulls, two thin strokes each.
	for range 7 {
		x, y := c.w*(0.15+0.7*rnd.Float64()), c.horizon*(0.45+0.45*rnd.Float64())
		s := u * (0.006 + 0.008*rnd.Float64())
		if c.cliff(x, y) > -0.05 {
			continue
		}
		out = append(out, line(rnd, x-s*0.85, y, s, s*0.14, 0.3, 0.5/s, white),
			line(rnd, x+s*0.85, y, s, s*0.14, -0.3, 0.5/s, white))
	}
	return out
}
