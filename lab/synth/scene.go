package synth

import (
	"math"
	"math/rand/v2"

	"blik/processing"
)

// scene is a composition. For each position, in millimetres, it gives the colour, direction and thickness of the paint.
type scene interface {
	at(x, y float64) spot
	// details are the bright touches and other single strokes on top, in the order of painting.
	details() []stroke
}

// spot describes the paint at one place.
type spot struct {
	// colour is linear light.
	colour rgb
	// angle is the direction of the brush in radians.
	angle float64
	// detail, 0…1, is how finely it is painted; body, 0…1, how thickly.
	detail, body float64
}

// rgb is linear light.
type rgb [3]float64

// levels holds the linear light of the 8-bit sRGB samples.
var levels = func() (t [256]float64) {
	for i := range t {
		t[i] = processing.TransferSRGB.Linear(float64(i) / 255)
	}
	return t
}()

// srgb returns the linear light of an sRGB colour 0xRRGGBB.
func srgb(v uint32) rgb { return rgb{levels[v>>16&0xff], levels[v>>8&0xff], levels[v&0xff]} }

func (c rgb) mix(d rgb, t float64) rgb {
	t = clamp(t)
	for i := range c {
		c[i] += (d[i] - c[i]) * t
	}
	return c
}

func (c rgb) times(k float64) rgb {
	for i := range c {
		c[i] *= k
	}
	return c
}

// tone is the perceived lightness, 0…1.
func (c rgb) tone() float64 { return math.Sqrt(lumaR*c[0] + lumaG*c[1] + lumaB*c[2]) }

// differs reports whether two colours belong to different objects.
func (c rgb) differs(d rgb) bool {
	var sum float64
	for i := range c {
		e := math.Sqrt(c[i]) - math.Sqrt(d[i])
		sum += e * e
	}
	return sum > 0.02
}

func (c rgb) paint() [3]float32 { return [3]float32{float32(c[0]), float32(c[1]), float32(c[2])} }

// ramp returns the colour at t on a scale of colours from 0 to 1.
func ramp(t float64, colours ...rgb) rgb {
	t = clamp(t) * float64(len(colours)-1)
	i := min(int(t), len(colours)-2)
	return colours[i].mix(colours[i+1], t-float64(i))
}

func clamp(t float64) float64 { return math.Max(0, math.Min(1, t)) }

// step rises smoothly from 0 at a to 1 at b.
func step(a, b, x float64) float64 {
	t := clamp((x - a) / (b - a))
	return t * t * (3 - 2*t)
}

// fractal sums octaves of value noise, each at twice the frequency and half the amplitude; within −1…1.
func fractal(seed uint64, x, y float64, octaves int) float64 {
	sum, amplitude, total := 0.0, 1.0, 0.0
	for i := range octaves {
		sum += amplitude * valueNoise(seed+uint64(i), x, y)
		total += amplitude
		x, y, amplitude = 2*x+17.3, 2*y-5.1, amplitude/2
	}
	return sum / total
}

// dab is a round touch of thick paint.
func dab(rnd *rand.Rand, x, y, r float64, colour rgb) stroke {
	return stroke{x: x, y: y, half: r * (1 + 0.5*rnd.Float64()), wide: r, angle: rnd.Float64() * math.Pi,
		colour: colour.paint(), thick: 0.12, round: true, order: rnd.Uint64()}
}

// line is a thin stroke of thick paint.
func line(rnd *rand.Rand, x, y, half, wide, angle, bend float64, colour rgb) stroke {
	return stroke{x: x, y: y, half: half, wide: wide, angle: angle, bend: bend, colour: colour.paint(), thick: 0.08,
		dry: 0.3 * rnd.Float64(), streak: 0.15, order: rnd.Uint64(), taper: true}
}
