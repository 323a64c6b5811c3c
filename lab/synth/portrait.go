package synth

import (
	"math"

	"blik/internal/simd"
)

// portrait is a half-length figure in a dark dress with a lace collar and pearls.
type portrait struct {
	seed uint64
	w, h float64
	// unit is the short side; cx, cy the middle of the face, rx, ry its half-axes.
	unit, cx, cy, rx, ry float64
	dress                [4]rgb
}

func newPortrait(seed uint64, w, h float64) *portrait {
	rnd := stream(seed, 40)
	p := &portrait{seed: seed, w: w, h: h, unit: math.Min(w, h)}
	p.cx = w/2 + p.unit*0.03*rnd.NormFloat64()
	p.cy = h/2 - p.unit*0.15
	p.rx, p.ry = p.unit*0.118, p.unit*0.158
	p.dress = [...][4]rgb{
		{srgb(0x07080c), srgb(0x141a26), srgb(0x2b3a4e), srgb(0x6f8296)},
		{srgb(0x0c0606), srgb(0x2a0f10), srgb(0x54201c), srgb(0xa0604a)},
		{srgb(0x070a08), srgb(0x14241c), srgb(0x2c4a3a), srgb(0x78927a)},
	}[rnd.IntN(3)]
	return p
}

// face returns coordinates in half-axes of the face.
func (p *portrait) face(x, y float64) (u, v float64) { return (x - p.cx) / p.rx, (y - p.cy) / p.ry }

func bump(x, y, sx, sy float64) float64 { return simd.Exp(-x*x/(sx*sx) - y*y/(sy*sy)) }

func (p *portrait) at(x, y float64) spot {
	u, v := p.face(x, y)
	unit := p.unit
	n := fractal(p.seed+41, x/unit*6, y/unit*6, 3)
	// The jaw is narrower than the brow.
	jaw := u * (1 + 0.22*step(0.1, 1, v))
	d2 := jaw*jaw + v*v
	hairline := -0.62 + 0.5*u*u
	switch {
	case d2 < 1 && v > hairline:
		return p.skin(u, v, d2)
	case math.Hypot(u/1.22, (v+0.12)/1.2) < 1 && v < 0.75 || math.Hypot((u-0.1)/0.55, (v+1.2)/0.38) < 1:
		strand := fractal(p.seed+42, u*9, v*2.5, 3)
		sheen := bump(u+0.5, v+0.85, 0.6, 0.3)
		return spot{colour: ramp(0.3+0.35*strand+0.6*sheen, srgb(0x120b08), srgb(0x2c1a10), srgb(0x5a3820),
			srgb(0xa4764a)), angle: math.Atan2(v+0.3, u) + math.Pi/2, detail: 0.6, body: 0.5}
	case math.Abs(u) < 0.5+0.12*math.Max(0, v-1) && v > 0 && v < 1.62:
		l := 0.62 - 0.45*u - 0.45*step(1.4, 0.85, v)
		return spot{colour: ramp(l, srgb(0x3a1e14), srgb(0x7c4a34), srgb(0xbd8462), srgb(0xe6bf9c)), angle: math.Pi/2 +
			0.4*u, detail: 0.5, body: 0.6}
	}
	if c, ok := p.collar(u, v); ok {
		return c
	}
	shoulder := 1.55 + 0.16*u*u
	if math.Abs(u) > 1.5 {
		shoulder += 0.5 * (math.Abs(u) - 1.5) * (math.Abs(u) - 1.5)
	}
	if v > shoulder && math.Abs(u) < 3.2 {
		fold := math.Sin(u*5.5 + 0.9*v + 2.2*fractal(p.seed+43, u*1.2, v*0.8, 3))
		l := 0.38 - 0.16*u + 0.3*fold - 0.1*(v-shoulder)
		return spot{colour: ramp(l, p.dress[:]...), angle: math.Pi/2 + 0.35*u + 0.2*n, detail: 0.35, body: 0.6}
	}
	glow := bump((x-p.w*0.66)/p.w, (y-p.h*0.4)/p.h, 0.4, 0.5)
	return spot{colour: ramp(0.1+0.6*glow+0.3*n, srgb(0x120e0b), srgb(0x2a2119), srgb(0x54442f), srgb(0x7f6a4a)),
		angle: 0.8 + 1.5*n, detail: 0.12, body: 0.35}
}

// skin is the face with its features, lit from the upper left.
func (p *portrait) skin(u, v, d2 float64) spot {
	nz := math.Sqrt(1 - d2)
	l := 0.5*lambert(u, v, nz) + 0.42
	eyes := bump(math.Abs(u)-0.38, v+0.12, 0.24, 0.11)
	// Brow ridge, nose with its shadow, lips, chin.
	l -= 0.30*eyes + 0.26*bump(u-0.15, v-0.2, 0.10, 0.26) + 0.14*bump(u, v-0.42, 0.2, 0.05)
	l += 0.16*bump(u+0.02, v-0.16, 0.06, 0.24) + 0.10*bump(u, v-0.8, 0.16, 0.08) + 0.08*bump(u+0.45, v-0.2, 0.2, 0.2)
	colour := ramp(l, srgb(0x30160f), srgb(0x71402d), srgb(0xb97c5c), srgb(0xe5b994), srgb(0xf6dcc0))
	cheek := bump(math.Abs(u)-0.48, v-0.28, 0.22, 0.18)
	colour = colour.mix(srgb(0xc06a52), 0.3*cheek)
	lips := bump(u, v-0.57, 0.27, 0.085)
	colour = colour.mix(srgb(0x8e3a34), 0.85*step(0.35, 0.75, lips))
	colour = colour.mix(srgb(0x4a1a18), 0.8*step(0.5, 0.8, bump(u, v-0.56, 0.24, 0.014)))
	colour = colour.mix(srgb(0x5a2a1c), 0.7*step(0.5, 0.9, bump(math.Abs(u)-0.075, v-0.37, 0.05, 0.025)))
	brow := bump(math.Abs(u)-0.38, v+0.32-0.12*u*u, 0.26, 0.035)
	colour = colour.mix(srgb(0x3a2416), 0.75*step(0.4, 0.8, brow))
	detail := 0.75 + 0.25*math.Max(math.Max(eyes, lips), 1.5*brow)
	e, f := math.Abs(u)-0.38, v+0.12
	if white := e*e/(0.17*0.17) + f*f/(0.055*0.055); white < 1 {
		colour = ramp(0.6-0.5*e, srgb(0x7c6c60), srgb(0xc9bcae))
		if iris := e*e/(0.06*0.06) + f*f/(0.055*0.055); iris < 1 {
			colour = srgb(0x2e2418)
		}
		detail = 1
	} else if white < 1.6 && f < 0 {
		colour, detail = srgb(0x2a1610), 1
	}
	return spot{colour: colour, angle: math.Atan2(v, u) + math.Pi/2, detail: detail, body: 0.65}
}

// collar is the white ring about the neck; its rim is scalloped.
func (p *portrait) collar(u, v float64) (spot, bool) {
	x, y := u/1.25, (v-1.55)/0.42
	d, a := math.Hypot(x, y), math.Atan2(y, x)
	if d > 1+0.05*math.Abs(math.Sin(a*11)) || y < -0.75 {
		return spot{}, false
	}
	fold := math.Sin(a*17 + 2*fractal(p.seed+44, u*3, v*3, 2))
	l := 0.55 - 0.25*u + 0.22*fold - 0.25*step(0.5, 0.2, d)
	return spot{colour: ramp(l, srgb(0x4f4a46), srgb(0x8d857b), srgb(0xc8c0b0), srgb(0xeee8da)), angle: a, detail: 0.8,
		body: 0.85}, true
}

func (p *portrait) details() []stroke {
	rnd := stream(p.seed, 45)
	white, warm := srgb(0xe6e3d8), srgb(0xdfcfae)
	var out []stroke
	at := func(u, v float64) (x, y float64) { return p.cx + u*p.rx, p.cy + v*p.ry }
	s := p.rx
	// Lace about the collar's rim: a mesh of threads, dots and points.
	for a := -0.55; a < math.Pi+0.55; a += 0.045 {
		for ring := range 3 {
			d := 1.0 + 0.055*float64(ring)
			x, y := at(1.25*d*math.Cos(a), 1.55+0.42*d*math.Sin(a))
			t := math.Atan2(0.42*p.ry*math.Cos(a), -1.25*p.rx*math.Sin(a))
			out = append(out,
				line(rnd, x, y, 0.05*s, 0.006*s, t+0.6, 0, white),
				line(rnd, x, y, 0.05*s, 0.006*s, t-0.6, 0, white),
				dab(rnd, x, y, 0.011*s*(0.7+0.6*rnd.Float64()), white))
		}
		x, y := at(1.25*1.19*math.Cos(a), 1.55+0.42*1.19*math.Sin(a))
		out = append(out, dab(rnd, x, y, 0.016*s, white))
	}
	// Pearls: grey balls, each with a highlight.
	for a := 0.35; a < math.Pi-0.3; a += 0.115 {
		x, y := at(0.52*math.Cos(a), 1.16+0.30*math.Sin(a))
		out = append(out,
			dab(rnd, x, y, 0.042*s, srgb(0x8a8076)),
			dab(rnd, x-0.006*s, y-0.006*s, 0.030*s, srgb(0xc9bfae)),
			dab(rnd, x-0.014*s, y-0.014*s, 0.011*s, white))
	}
	// Eyes, nose, lip, earrings.
	for _, side := range []float64{-1, 1} {
		x, y := at(0.38*side-0.02, -0.135)
		out = append(out, dab(rnd, x, y, 0.013*s, white))
		x, y = at(0.38*side+0.03, -0.09)
		out = append(out, line(rnd, x, y, 0.05*s, 0.006*s, 0.1, 0, warm))
		x, y = at(0.99*side, 0.52)
		out = append(out, dab(rnd, x, y, 0.045*s, srgb(0x7d766c)), dab(rnd, x-0.012*s, y-0.014*s, 0.014*s, white),
			line(rnd, x, y-0.09*s, 0.05*s, 0.007*s, math.Pi/2, 0, warm))
	}
	x, y := at(-0.02, 0.33)
	out = append(out, dab(rnd, x, y, 0.018*s, warm))
	x, y = at(-0.06, 0.60)
	out = append(out, line(rnd, x, y, 0.06*s, 0.009*s, 0.05, 0, srgb(0xf0c8b4)))
	// Loose hair, embroidery on the dress.
	for range 40 {
		a := -math.Pi * rnd.Float64()
		x, y := at(1.2*math.Cos(a), -0.12+1.2*math.Sin(a))
		out = append(out, line(rnd, x, y, s*(0.1+0.2*rnd.Float64()), 0.005*s, a+math.Pi/2+0.3*rnd.NormFloat64(),
			2*rnd.NormFloat64()/s, srgb(0xa87e50)))
	}
	for i := range 26 {
		u := -1.9 + 3.8*float64(i)/25
		x, y := at(u, 2.35+0.12*u*u+0.05*rnd.NormFloat64())
		out = append(out, dab(rnd, x, y, 0.02*s, srgb(0xd8b878)), dab(rnd, x-0.005*s, y-0.006*s, 0.006*s, white))
	}
	return out
}
