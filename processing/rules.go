package processing

import (
	"math"

	"blik/internal/span"
)

// manualRules rejects components that fail the rules of manual mode: guard-ring z, white top-hat, line residue and
// colour. The first three look at the strongest pixel of a component. Rules that are off are not computed.
func (d *detector) manualRules(pic *Picture, spans []Span, shapes []Sums, accepted []bool) error {
	if d.p.MinZ > 0 {
		z, err := d.guardRing()
		if err != nil {
			return err
		}
		defer z.Release()
		host, err := d.be.Host(d.ctx, z)
		if err != nil {
			return err
		}
		d.demand(spans, accepted, d.p.MinZ, func(i int) float64 { return float64(host.F32[i]) })
	}
	if d.p.MinTopHat > 0 {
		hat, err := d.spare()
		if err != nil {
			return err
		}
		if err := d.do(Morph{Dst: hat, Src: d.v, Op: TopHat, Element: Square(d.radius(12))}); err != nil {
			return err
		}
		host, err := d.be.Host(d.ctx, hat)
		if err != nil {
			return err
		}
		d.demand(spans, accepted, float64(d.p.MinTopHat), func(i int) float64 { return float64(host.U8[i]) })
	}
	if d.p.MinLine > 0 {
		if err := d.lineRule(spans, accepted); err != nil {
			return err
		}
	}
	if d.p.ColourGate && pic.Channels >= 3 {
		colourGate(pic, spans, shapes, accepted, d.w, d.h)
	}
	return nil
}

// demand rejects every component without a pixel that reaches least.
func (d *detector) demand(spans []Span, accepted []bool, least float64, value func(i int) float64) {
	reached := make([]bool, len(accepted))
	for _, s := range spans {
		for x := s.X0; x < s.X1 && !reached[s.Label]; x++ {
			reached[s.Label] = value(int(s.Y)*d.w+int(x)) >= least
		}
	}
	for i := range accepted {
		accepted[i] = accepted[i] && reached[i]
	}
}

// guardRing returns the guard-ring z of v, whose noise has been measured.
func (d *detector) guardRing() (Plane, error) {
	z, err := d.be.Alloc(F32, d.w, d.h)
	if err != nil {
		return nil, err
	}
	guard, outer := d.guard()
	err = d.do(GuardRing{Dst: z, Src: d.v, Core: 1, Guard: guard, Outer: outer, Noise: d.noise + 0.5})
	if err != nil {
		z.Release()
		return nil, err
	}
	return z, nil
}

// guard returns the radii of the guard ring.
func (d *detector) guard() (inner, outer int) {
	inner = d.radius(9)
	return inner, min(max(d.radius(15), inner+1), 127)
}

// lineRule requires a rise over the highest of four line openings: a stroke survives the opening along it, a point
// survives none.
func (d *detector) lineRule(spans []Span, accepted []bool) error {
	highest, err := d.highestLine(spans)
	if err != nil {
		return err
	}
	v, err := d.be.Host(d.ctx, d.v)
	if err != nil {
		return err
	}
	d.demand(spans, accepted, float64(d.p.MinLine),
		func(i int) float64 { return float64(v.U8[i]) - float64(highest[i]) })
	return nil
}

// highestLine returns the highest of four line openings of v at the pixels of spans, and 0 elsewhere.
func (d *detector) highestLine(spans []Span) ([]uint8, error) {
	highest := make([]uint8, d.w*d.h)
	opened, err := d.spare()
	if err != nil {
		return nil, err
	}
	for _, direction := range []Direction{Horizontal, Vertical, Rising, Falling} {
		if err := d.do(Morph{
			Dst: opened, Src: d.v, Op: Open, Element: Element{Direction: direction, Size: 2*d.lineRadius() + 1},
		}); err != nil {
			return nil, err
		}
		host, err := d.be.Host(d.ctx, opened)
		if err != nil {
			return nil, err
		}
		for _, s := range spans {
			for i := int(s.Y)*d.w + int(s.X0); i < int(s.Y)*d.w+int(s.X1); i++ {
				highest[i] = max(highest[i], host.U8[i])
			}
		}
	}
	return highest, nil
}

// lineRadius is half the length of the lines of highestLine.
func (d *detector) lineRadius() int { return d.radius(12) }

// colour is a sum of linear RGB over n pixels.
type colour struct {
	rgb [3]float64
	n   float64
}

func (c colour) minus(o colour) (v [3]float64) {
	for i := range v {
		v[i] = c.rgb[i]/c.n - o.rgb[i]/o.n
	}
	return v
}

func cosine(a, b [3]float64) float64 {
	dot, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		dot += float64(a[i] * b[i])
		aa += float64(a[i] * a[i])
		bb += float64(b[i] * b[i])
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// colourGateCosine is the least cosine between a component's difference to its ring and the light's colour.
const colourGateCosine = 0.9

// colourGateRing is how far around a component's bounding box its surroundings are taken, in pixels.
const colourGateRing = 4

// colourGate rejects candidates whose difference to their surroundings is not along the colour of the light: the mean
// difference of all accepted ones, weighted by their area. (Dichromatic reflection: Shafer 1985.)
func colourGate(pic *Picture, spans []Span, shapes []Sums, accepted []bool, w, h int) {
	inside := make([]colour, len(shapes))
	around := make([]colour, len(shapes))
	linear := pic.linear()
	member := make([]uint8, w*h)
	span.Fill(member, w, spans, 255)
	for _, s := range spans {
		for x := int(s.X0); x < int(s.X1); x++ {
			inside[s.Label].take(linear(int(s.Y)*w + x))
		}
	}
	light := [3]float64{}
	diff := make([][3]float64, len(shapes))
	for i := range shapes {
		if !accepted[i] {
			continue
		}
		b := &shapes[i]
		for y := max(int(b.Top)-colourGateRing, 0); y < min(int(b.Base)+colourGateRing, h); y++ {
			for x := max(int(b.Left)-colourGateRing, 0); x < min(int(b.Right)+colourGateRing, w); x++ {
				if member[y*w+x] == 0 {
					around[i].take(linear(y*w + x))
				}
			}
		}
		if around[i].n == 0 {
			continue
		}
		diff[i] = inside[i].minus(around[i])
		for k := range light {
			light[k] += float64(diff[i][k] * inside[i].n)
		}
	}
	for i := range shapes {
		accepted[i] = accepted[i] && cosine(diff[i], light) >= colourGateCosine
	}
}

func (c *colour) take(v [3]float64) {
	for i := range v {
		c.rgb[i] += v[i]
	}
	c.n++
}

// linear returns a function for the linear RGB, 0…1, of the pixel at an index; p has three or four channels. CMYK is
// converted as LuminanceTables defines; floats are not rounded.
func (p *Picture) linear() func(i int) [3]float64 {
	t := p.Tables()
	light := func(i int) float64 {
		switch {
		case p.U8 != nil:
			return float64(t.Linear8[p.U8[i]]) / 65535
		case p.U16 != nil:
			return float64(t.Linear16[p.U16[i]]) / 65535
		default:
			return p.Linear(clamped(p.F32[i]))
		}
	}
	if p.Channels == 3 {
		return func(i int) [3]float64 { return [3]float64{light(3 * i), light(3*i + 1), light(3*i + 2)} }
	}
	return func(i int) (v [3]float64) {
		for k := range v {
			ink, black := 4*i+k, 4*i+3
			switch {
			case p.U8 != nil:
				v[k] = float64(t.Linear8[throughInk(uint32(p.U8[ink]), uint32(p.U8[black]), 255)]) / 65535
			case p.U16 != nil:
				v[k] = float64(t.Linear16[throughInk(uint32(p.U16[ink]), uint32(p.U16[black]), 65535)]) / 65535
			default:
				v[k] = p.Linear((1 - clamped(p.F32[ink])) * (1 - clamped(p.F32[black])))
			}
		}
		return v
	}
}

// throughInk converts an ink and black, of at most m, as LuminanceTables defines.
func throughInk(ink, black, m uint32) uint32 { return ((m-ink)*(m-black) + m/2) / m }

// clamped limits a float sample to 0…1; NaN becomes 0.
func clamped(x float32) float64 {
	if !(x > 0) {
		return 0
	}
	return min(float64(x), 1)
}
