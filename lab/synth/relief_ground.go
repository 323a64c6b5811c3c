package synth

import (
	"math"
	"math/rand/v2"

	"blik/internal/simd"
)

// ground is the painting as altered by the options, before the lamps are added.
type ground struct {
	light *plane
	// surface is nil if it is not needed.
	surface *reliefSurface
}

func newGround(o *ReliefOptions, light *plane, c *curve) *ground {
	g := stream(o.Seed, streamGround)
	grade(light, o.Contrast, o.Saturation)
	if o.Exposure > 0 {
		for i := range light.pix {
			light.pix[i] *= float32(o.Exposure)
		}
	}
	if o.Uneven {
		lightUnevenly(g, light)
	}
	var thick *plane
	if o.StrokeWidth > 0 {
		thick = repaint(g, light, o.StrokeWidth, o.Relief.supersample())
	}
	if o.Dabs > 0 {
		paintDabs(g, light, o.Dabs)
	}
	ground := &ground{light: light}
	if len(o.Lamps) > 0 || o.Shading > 0 || o.Relief.CrackPitch > 0 {
		tone := newPlane(light.w, light.h)
		for i := range tone.pix {
			tone.pix[i] = c.encoded(luma(light.pix[i*light.ch:], light.ch))
		}
		ground.surface = newReliefSurface(o, tone, thick)
		ground.shade(g, o.Shading)
	}
	if o.Blur > 0 {
		ground.light = light.blurred(o.Blur)
	}
	for i, v := range ground.light.pix {
		ground.light.pix[i] = min(v, 1)
	}
	return ground
}

// grade raises the light to the power of contrast and scales its distance from grey; 0 means 1.
func grade(light *plane, contrast, saturation float64) {
	if contrast > 0 && contrast != 1 {
		for i, v := range light.pix {
			light.pix[i] = float32(math.Pow(math.Max(float64(v), 0), contrast))
		}
	}
	if saturation == 0 || light.ch == 1 {
		return
	}
	for i := 0; i < len(light.pix); i += light.ch {
		grey := luma(light.pix[i:], light.ch)
		for c := range light.ch {
			v := &light.pix[i+c]
			*v = min(max(grey+float32(saturation)*(*v-grey), 0), 1)
		}
	}
}

// multiply scales all channels of pixel i.
func (p *plane) multiply(i int, k float32) {
	for c := range p.ch {
		p.pix[i*p.ch+c] *= k
	}
}

// lightUnevenly lets the light fall off across the picture, to about a third from one side to the other.
func lightUnevenly(g *rand.Rand, light *plane) {
	sin, cos := math.Sincos(g.Float64() * 2 * math.Pi)
	clouds := noiseField(g, light.w, light.h, 300)
	for y := range light.h {
		v := (float64(y)/float64(light.h) - 0.5) * sin
		for x := range light.w {
			i := y*light.w + x
			u := (float64(x)/float64(light.w) - 0.5) * cos
			k := 0.72 + 0.75*float32(u+v) + 0.06*clouds.pix[i]
			light.multiply(i, min(max(k, 0.22), 1.15))
		}
	}
}

// shade darkens cracks and lights the relief diffusely from a random side.
func (g *ground) shade(rnd *rand.Rand, contrast float64) {
	s := g.surface
	sin, cos := math.Sincos(rnd.Float64() * 2 * math.Pi)
	if contrast > 0 {
		k := contrast / steepness
		facing := newPlane(s.x.w, s.x.h)
		for i := range facing.pix {
			facing.pix[i] = float32(k) * (s.x.pix[i]*float32(cos) + s.y.pix[i]*float32(sin))
		}
		for i, v := range facing.reduced(s.fine).pix {
			g.light.multiply(i, min(max(1+v, 0.4), 1.8))
		}
	}
	if s.open != nil {
		for i, v := range s.open.reduced(s.fine).pix {
			g.light.multiply(i, 1-0.75*v)
		}
	}
}

// dabColours are pale paints in linear light: leaf lights, lace, pearls, gold, blossom.
var dabColours = [...][3]float64{
	{0.55, 0.60, 0.34}, {0.80, 0.76, 0.66}, {0.72, 0.72, 0.70},
	{0.80, 0.58, 0.22}, {0.82, 0.55, 0.50}, {0.60, 0.66, 0.72},
}

// paintDabs paints flat pale touches with ragged rims, all of nearly one colour, as painters set lights: in groups and
// in rows.
func paintDabs(g *rand.Rand, light *plane, perMP float64) {
	colour, level := dabColours[g.IntN(len(dabColours))], Range{0.2, 1}.logUniform(g)
	size, rim := Range{0.9, 2}.uniform(g), float32(Range{0.5, 1.2}.uniform(g))
	long := Range{1, 4}.uniform(g)
	rest := int(perMP*float64(light.w*light.h)/1e6) + 1
	for rest > 0 {
		x, y, angle := g.Float64()*float64(light.w), g.Float64()*float64(light.h), g.Float64()*math.Pi
		spread := Range{8, 60}.logUniform(g)
		for range min(1+g.IntN(24), rest) {
			rest--
			r := Range{0.5 * size, 2 * size}.power(g, 1)
			sin, cos := math.Sincos(angle + 0.3*g.NormFloat64())
			root := math.Sqrt(1 + (long-1)*g.Float64())
			axes := plainAxes{1 / (r * root), root / r, sin, cos}
			touch := touch{
				x: x + spread*g.NormFloat64(), y: y + 0.6*spread*g.NormFloat64(), reach: starLimit*r*root + 2,
				distance: outline(g, axes, 2+g.IntN(4), 0.2*g.Float64(), 0.1), blunt: float32(r) / rim,
				opacity: float32(Range{0.7, 1}.uniform(g)),
			}
			l := level * simd.Exp(0.12*g.NormFloat64())
			for c := range colour {
				touch.colour[c] = float32(l * colour[c])
			}
			touch.paint(light)
		}
	}
}

// touch is one dab: what lies within distance 1 is covered, over a rim of 1/blunt.
type touch struct {
	x, y, reach    float64
	distance       func(dx, dy float64) float64
	blunt, opacity float32
	colour         [3]float32
}

func (t *touch) paint(light *plane) {
	colour := t.colour
	if light.ch == 1 {
		colour[0] = luma(colour[:], 3)
	}
	for y := max(int(t.y-t.reach), 0); y <= min(int(t.y+t.reach), light.h-1); y++ {
		for x := max(int(t.x-t.reach), 0); x <= min(int(t.x+t.reach), light.w-1); x++ {
			d := float32(math.Sqrt(t.distance(float64(x)-t.x, float64(y)-t.y)))
			cover := t.opacity * min(max(0.5+(1-d)*t.blunt, 0), 1)
			for c := range light.ch {
				v := &light.pix[(y*light.w+x)*light.ch+c]
				*v += cover * (colour[c] - *v)
			}
		}
	}
}
