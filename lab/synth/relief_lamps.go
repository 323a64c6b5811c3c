package synth

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"blik/internal/simd"
)

// mirror is the reflection of one lamp in the paint.
type mirror struct {
	// lobe is the facets' distribution divided by its peak, on the fine grid; sorted holds a sorted sample of it.
	lobe   *plane
	sorted []float32
	// strength is the light at the level of the lobe, on the picture's grid.
	strength *plane
	colour   [3]float64
}

// newMirror draws the position of a lamp. It is at a finite distance, so that the half vector between lamp and lens
// varies over the picture and glare clusters in places.
func newMirror(g *rand.Rand, o *ReliefOptions, s *reliefSurface, colour [3]float64) *mirror {
	sin, cos := math.Sincos(g.Float64() * 2 * math.Pi)
	tilt, nearness := Range{0.3, 0.55}.uniform(g), Range{0.1, 0.3}.uniform(g)
	x0, y0 := g.Float64(), g.Float64()
	alpha := o.Roughness.uniform(g)
	a2 := float32(alpha * alpha)
	fade, patch := noiseField(g, s.w, s.h, 250), noiseField(g, s.w, s.h, 420)
	for i, v := range fade.pix {
		fade.pix[i] = float32(simd.Exp(float64(0.25*v - 0.35*min(max(patch.pix[i], 0), 3))))
	}
	m := &mirror{lobe: newPlane(s.x.w, s.x.h), colour: colour}
	for y := range m.lobe.h {
		hy := float32(tilt*sin + nearness*(float64(y)/float64(m.lobe.h)-y0))
		gloss := fade.pix[y/s.fine*s.w:]
		for x := range m.lobe.w {
			hx := float32(tilt*cos + nearness*(float64(x)/float64(m.lobe.w)-x0))
			i := y*m.lobe.w + x
			sx, sy := s.x.pix[i], s.y.pix[i]
			// The squared cosine between facet and half vector, and the distribution of Walter et al. (2007) divided by
			// its peak.
			c := 1 + sx*hx + sy*hy
			c2 := c * c / ((1 + sx*sx + sy*sy) * (1 + hx*hx + hy*hy))
			d := a2 / (c2*(a2-1) + 1)
			m.lobe.pix[i] = d * d * gloss[x/s.fine]
		}
	}
	m.sorted = m.lobe.sampled()
	slices.Sort(m.sorted)
	peak := o.Peak * simd.Exp(o.PeakSpread*g.NormFloat64())
	m.strength = newPlane(s.w, s.h)
	polish := m.strength
	if o.PolishSpread > 0 {
		polish = noiseField(g, s.w, s.h, o.PolishSize)
	}
	for i := range m.strength.pix {
		m.strength.pix[i] = float32(peak * simd.Exp(o.PolishSpread*float64(polish.pix[i])))
	}
	return m
}

// at returns the level that the given share of the lobe exceeds.
func (m *mirror) at(share float64) float32 {
	n := len(m.sorted)
	return m.sorted[min(max(int(float64(n)*(1-share)), 0), n-1)]
}

// image returns the light of the given share of the lobe; its brightest twentieth is the lamp itself.
func (m *mirror) image(share float64, fine int, ceiling float64) *plane {
	low, high := m.at(share), m.at(share/20)
	scale := 1 / max(high-low, 1e-6)
	kept := newPlane(m.lobe.w, m.lobe.h)
	for i, v := range m.lobe.pix {
		if v > low {
			kept.pix[i] = min((v-low)*scale, 1)
		}
	}
	out := kept.reduced(fine)
	for i, v := range out.pix {
		if v > 0 {
			v *= m.strength.pix[i]
			if ceiling > 0 {
				v = float32(ceiling * math.Tanh(float64(v)/0.8))
			}
			out.pix[i] = v
		}
	}
	return out
}

// shine adds the lamps' images to the ground. The share of the lobes that is kept is found by iteration, so that glare
// is visible on the requested share of the picture.
func shine(ctx context.Context, o *ReliefOptions, ground *ground) (*plane, error) {
	g := stream(o.Seed, streamLamps)
	mirrors := make([]*mirror, len(o.Lamps))
	for i, colour := range o.Lamps {
		mirrors[i] = newMirror(g, o, ground.surface, colour)
	}
	hue := hues(ground.light, o.Tint)
	lens := math.Hypot(o.Lens, o.Blur)
	share := o.Lit / float64(len(mirrors))
	for round := 0; ; round++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lit := ground.light.like(slices.Clone(ground.light.pix))
		for _, m := range mirrors {
			image := m.image(share, ground.surface.fine, o.Ceiling)
			wide := image.veil(o.Veil)
			if lens > 0 {
				image = image.blurred(lens)
			}
			lit.addTinted(image, wide, m.colour, hue)
		}
		_, s := o.Truth.compare(ground.light, lit)
		miss := o.Lit / max(s.Share, 1e-6)
		if round == 6 || math.Abs(math.Log(miss)) < 0.1 {
			return lit, nil
		}
		share = min(max(share*min(max(miss, 0.25), 4), 1e-6), 0.4)
	}
}

// veil returns the given share of the light scattered over some twelve pixels, or nil.
func (p *plane) veil(share float64) *plane {
	if share == 0 || p.w < 8 || p.h < 8 {
		return nil
	}
	wide := p.reduced(4).blurred(3).enlarged(p.w, p.h)
	for i := range wide.pix {
		wide.pix[i] *= float32(share)
	}
	return wide
}

// hues returns the attenuation of each channel of a glint by the paint's hue; nil if glints keep their colour.
func hues(light *plane, tint float64) *plane {
	if light.ch != 3 || tint == 0 {
		return nil
	}
	out := light.blurred(2)
	const dark = 0.004
	for i := 0; i < len(out.pix); i += 3 {
		c := out.pix[i : i+3]
		top := max(c[0], c[1], c[2]) + dark
		for k, v := range c {
			c[k] = 1 - float32(tint) + float32(tint)*(v+dark)/top
		}
	}
	return out
}

// addTinted adds the image and its veil in the lamp's colour, weakened by the paint's hue.
func (p *plane) addTinted(image, veil *plane, colour [3]float64, hue *plane) {
	rgb := [3]float32{float32(colour[0]), float32(colour[1]), float32(colour[2])}
	if p.ch == 1 {
		rgb[0] = luma(rgb[:], 3)
	}
	for i, v := range image.pix {
		if veil != nil {
			v += veil.pix[i]
		}
		for c := range p.ch {
			add := v * rgb[c]
			if hue != nil {
				add *= hue.pix[i*p.ch+c]
			}
			p.pix[i*p.ch+c] += add
		}
	}
}
