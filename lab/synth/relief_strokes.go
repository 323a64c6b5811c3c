package synth

import (
	"math"
	"math/rand/v2"

	"blik/internal/simd"
)

// repaint paints the light over with thick strokes of its own colours that follow its forms, as in painterly rendering
// (Litwinowicz 1997), and returns the height of the strokes on a grid fine times as fine: raised rims, furrows of the
// bristles, and an edge where the brush is lifted.
func repaint(g *rand.Rand, light *plane, width float64, fine int) *plane {
	w, h := light.w*fine, light.h*fine
	canvas := &strokeCanvas{
		height: newPlane(w, h), colour: &plane{w: w, h: h, ch: light.ch, pix: make([]float32, w*h*light.ch)},
		last: make([]int32, w*h), fine: fine,
	}
	for y := range h {
		for x := range w {
			at := ((y/fine)*light.w + x/fine) * light.ch
			copy(canvas.colour.pix[(y*w+x)*light.ch:][:light.ch], light.pix[at:])
		}
	}
	tone := newPlane(light.w, light.h)
	for i := range tone.pix {
		tone.pix[i] = float32(math.Sqrt(math.Max(float64(luma(light.pix[i*light.ch:], light.ch)), 0)))
	}
	along, turn := strokes(g, tone), noiseField(g, light.w, light.h, 90)
	for i := range along.pix {
		along.pix[i] += 0.5 * turn.pix[i]
	}
	source := light.blurred(max(width/4, 0.5))
	length := width * Range{3, 9}.uniform(g)
	broken, spread := 0.25*g.Float64(), Range{0.05, 0.3}.uniform(g)
	for id := range int(2*float64(light.w*light.h)/(length*width)) + 1 {
		x, y := g.Float64()*float64(light.w), g.Float64()*float64(light.h)
		s := brushStroke{id: int32(id + 1), opacity: float32(Range{0.6, 1}.uniform(g))}
		// Broken colour: some strokes carry the paint of a neighbouring place.
		from := [2]float64{x, y}
		if g.Float64() < broken {
			from[0], from[1] = x+3*width*g.NormFloat64(), y+3*width*g.NormFloat64()
		}
		level := simd.Exp(spread * g.NormFloat64())
		at := source.offset(int(from[0]), int(from[1]))
		for c := range light.ch {
			s.colour[c] = source.pix[at+c] * float32(level*simd.Exp(0.4*spread*g.NormFloat64()))
		}
		s.bristles(g, width*simd.Exp(0.25*g.NormFloat64())*float64(fine))
		s.path(along, x, y, length*simd.Exp(0.4*g.NormFloat64()), float64(fine))
		canvas.paint(&s)
	}
	for y := range light.h {
		for x := range light.w {
			for c := range light.ch {
				var sum float32
				for j := range fine {
					for i := range fine {
						sum += canvas.colour.pix[((y*fine+j)*w+x*fine+i)*light.ch+c]
					}
				}
				light.pix[(y*light.w+x)*light.ch+c] = sum / float32(fine*fine)
			}
		}
	}
	return canvas.height
}

// strokeCanvas is the canvas for strokes: colours, heights, and the number of the last stroke on each sample.
type strokeCanvas struct {
	height, colour *plane
	last           []int32
	fine           int
}

// brushStroke is one stroke on the fine grid.
type brushStroke struct {
	id      int32
	colour  [3]float32
	opacity float32
	// half is half the stroke's width. profile is its height from rim to rim and shade the effect of the bristles on
	// the colour, both in steps of half a sample.
	half           float64
	profile, shade []float32
	points         []strokePoint
}

type strokePoint struct{ x, y, sin, cos float64 }

// bristles draws the stroke's cross-section.
func (s *brushStroke) bristles(g *rand.Rand, width float64) {
	s.half = max(width/2, 1)
	n := int(4*s.half) + 3
	s.profile, s.shade = make([]float32, n), make([]float32, n)
	rim, furrow := Range{0.2, 1.2}.uniform(g), Range{0.05, 0.4}.uniform(g)
	b := 0.0
	for k := range n {
		d := (float64(k)/2 - s.half) / s.half
		b = 0.55*b + 0.8*g.NormFloat64()
		edge := (math.Abs(d) - 0.85) / 0.18
		s.profile[k] = float32(s.half * (0.5*(1-d*d) + rim*simd.Exp(-edge*edge) + furrow*0.3*b))
		s.shade[k] = float32(simd.Exp(0.1 * b))
	}
}

// path follows the direction of the strokes to both sides of a point.
func (s *brushStroke) path(along *plane, x0, y0, length, fine float64) {
	const step = 0.5
	for _, side := range [2]float64{1, -1} {
		x, y := x0, y0
		angle := float64(along.near(int(x), int(y)))
		if side < 0 {
			angle += math.Pi
		}
		for range int(length / 2 / step) {
			angle = nearest(float64(along.near(int(x), int(y))), angle)
			sin, cos := math.Sincos(angle)
			s.points = append(s.points, strokePoint{x * fine, y * fine, side * sin, side * cos})
			x, y = x+step*cos, y+step*sin
		}
	}
}

func (c *strokeCanvas) paint(s *brushStroke) {
	for n, p := range s.points {
		// The paint piles up where the brush is lifted.
		lifted := float32(1 + 0.5*simd.Exp(-math.Abs(float64(n-len(s.points)/2))/6))
		for k, profile := range s.profile {
			d := float64(k)/2 - s.half
			x, y := int(p.x-d*p.sin), int(p.y+d*p.cos)
			if x < 0 || y < 0 || x >= c.height.w || y >= c.height.h || c.last[y*c.height.w+x] == s.id {
				continue
			}
			i := y*c.height.w + x
			c.last[i] = s.id
			c.height.pix[i] = 0.4*c.height.pix[i] + profile*lifted
			for j := range c.colour.ch {
				v := &c.colour.pix[i*c.colour.ch+j]
				*v += s.opacity * (s.colour[j]*s.shade[k] - *v)
			}
		}
	}
}

// offset is the index of the first channel of the pixel nearest to x, y.
func (p *plane) offset(x, y int) int {
	return (min(max(y, 0), p.h-1)*p.w + min(max(x, 0), p.w-1)) * p.ch
}
