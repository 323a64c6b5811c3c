package synth

import (
	"math"
	"math/rand/v2"
	"slices"

	"blik/internal/simd"
)

// reliefSurface is the paint's surface, sampled fine times along each side of a pixel.
type reliefSurface struct {
	opt  *PaintRelief
	seed uint64
	// w and h are the picture's size, tone its encoded luminance.
	w, h, fine int
	tone       *plane
	// x and y are the slopes. open is how far a crack opens, 0…1; nil without cracks. All are on the fine grid.
	x, y, open *plane
	// thick is the height of thick strokes on the fine grid, or nil.
	thick *plane
}

// The purposes of the random streams of a relief.
const (
	streamWeave = 0x72656c30 + iota
	streamBristles
	streamRidges
	streamBumps
	streamLamps
	streamGround
	streamNoise
)

// supersample is the number of samples along a pixel's side.
func (p *PaintRelief) supersample() int {
	if p.Supersample == 0 {
		return 2
	}
	return p.Supersample
}

// steepness is the slope that 95 % of the surface stay below.
const steepness = 0.3

// newReliefSurface makes the surface of paint whose encoded luminance is tone. thick, if not nil, is the height of its
// strokes.
func newReliefSurface(o *ReliefOptions, tone, thick *plane) *reliefSurface {
	s := &reliefSurface{
		opt: &o.Relief, seed: o.Seed, w: tone.w, h: tone.h, fine: o.Relief.supersample(), tone: tone, thick: thick,
	}
	height := s.paint()
	if s.opt.CrackPitch > 0 {
		s.crack(height)
	}
	if s.opt.Level > 0 {
		height = height.blurred(s.opt.Level * float64(s.fine))
	}
	k := float32(steepness / max(slopeQuantile(height, 0.95), 1e-6))
	s.x, s.y = newPlane(height.w, height.h), newPlane(height.w, height.h)
	for y := range height.h {
		for x := range height.w {
			i := y*height.w + x
			dx, dy := height.slope(x, y)
			s.x.pix[i], s.y.pix[i] = k*dx, k*dy
		}
	}
	return s
}

// paint adds the parts of the relief: impasto and bristles where the paint is thick, the canvas where it is thin.
func (s *reliefSurface) paint() *plane {
	w, h, fine := s.w*s.fine, s.h*s.fine, float64(s.fine)
	tone := s.tone.enlarged(w, h)
	thick := s.thickness().enlarged(w, h)
	out := newPlane(w, h)
	add := func(weight float64, part *plane, share func(thick float32) float32) {
		k := float32(weight / max(slopeQuantile(part, 0.98), 1e-6))
		for i, v := range part.pix {
			out.pix[i] += k * v * share(thick.pix[i])
		}
	}
	onThick := func(t float32) float32 { return t }
	anywhere := func(float32) float32 { return 1 }
	if s.opt.Weave > 0 {
		add(s.opt.Weave, s.weave(w, h), func(t float32) float32 { return 1.4 - t })
	}
	if s.opt.Bristles > 0 {
		add(s.opt.Bristles, s.bristles().enlarged(w, h), onThick)
	}
	if s.opt.Impasto > 0 {
		add(s.opt.Impasto, tone.blurred(1.1*fine).minus(s.tone.blurred(5).enlarged(w, h)), onThick)
	}
	if s.opt.Ridges > 0 {
		add(s.opt.Ridges, s.ridges(w, h), anywhere)
	}
	if s.opt.Strokes > 0 && s.thick != nil {
		add(s.opt.Strokes, s.thick, anywhere)
	}
	if s.opt.Bumps > 0 {
		add(s.opt.Bumps, s.bumps(w, h), anywhere)
	}
	return out
}

// thickness estimates the thickness of the paint, 0.2…1.4: thick where it is detailed and light.
func (s *reliefSurface) thickness() *plane {
	soft := s.tone.blurred(1)
	busy := newPlane(s.w, s.h)
	for y := range s.h {
		for x := range s.w {
			sum := soft.near(x-1, y) + soft.near(x+1, y) + soft.near(x, y-1) + soft.near(x, y+1)
			busy.pix[y*s.w+x] = float32(math.Abs(float64(sum - 4*soft.pix[y*s.w+x])))
		}
	}
	busy = busy.blurred(10)
	top := quantile(busy.sampled(), 0.9) + 1e-6
	light := s.tone.blurred(4)
	for i, v := range busy.pix {
		busy.pix[i] = min(max(0.35+0.5*v/top+0.35*light.pix[i], 0.2), 1.4)
	}
	return busy
}

// weave is a plain weave: threads have a round cross-section, pass over and under each other alternately, and are not
// straight.
func (s *reliefSurface) weave(w, h int) *plane {
	g := stream(s.seed, streamWeave)
	pitch := s.opt.ThreadPitch * float64(s.fine)
	slowX, slowY := noiseField(g, w, h, 9*pitch), noiseField(g, w, h, 9*pitch)
	fastX, fastY := noiseField(g, w, h, 2.5*pitch), noiseField(g, w, h, 2.5*pitch)
	tension, wear := noiseField(g, w, h, 3*pitch), noiseField(g, w, h, 200*float64(s.fine))
	per := float32(1 / pitch)
	out := newPlane(w, h)
	for y := range h {
		for x := range w {
			i := y*w + x
			u := float32(x)*per + 0.35*slowX.pix[i] + 0.12*fastX.pix[i] + 1000
			v := float32(y)*per + 0.35*slowY.pix[i] + 0.12*fastY.pix[i] + 1000
			a, b := int(u), int(v)
			fu, fv := 2*(u-float32(a))-1, 2*(v-float32(b))-1
			// Half a period of the parabola 1 − f² approximates that of a cosine: up on one thread, down on the next.
			over := func(f float32, odd bool) float32 {
				if odd {
					return 0.5 - 0.5*(1-f*f)
				}
				return 0.5 + 0.5*(1-f*f)
			}
			odd := (a+b)&1 != 0
			warp, weft := (1-fu*fu)*over(fv, odd), (1-fv*fv)*over(fu, !odd)
			out.pix[i] = max(warp, weft) * (1 + 0.25*tension.pix[i]) * (0.6 + 0.4*min(max(wear.pix[i], -1), 1))
		}
	}
	return out
}

// strokes returns the direction of the painting's own strokes in radians, on the grid of tone: the direction of least
// change in the structure tensor.
func strokes(g *rand.Rand, tone *plane) *plane {
	w, h := tone.w, tone.h
	soft := tone.blurred(1.5)
	tensor := &plane{w: w, h: h, ch: 3, pix: make([]float32, 3*w*h)}
	for y := range h {
		for x := range w {
			dx, dy := soft.slope(x, y)
			t := tensor.pix[3*(y*w+x):]
			t[0], t[1], t[2] = dx*dx, dy*dy, dx*dy
		}
	}
	tensor = tensor.blurred(6)
	turn, out := noiseField(g, w, h, 60), newPlane(w, h)
	for i := range out.pix {
		t := tensor.pix[3*i:]
		along := 0.5*math.Atan2(2*float64(t[2]), float64(t[0]-t[1])) + math.Pi/2
		out.pix[i] = float32(along + 0.15*float64(turn.pix[i]))
	}
	return out
}

// bristles returns the furrows of a brush: noise smoothed along the painting's own strokes (line integral convolution,
// Cabral & Leedom 1993). Wide furrows are computed on a coarser grid.
func (s *reliefSurface) bristles() *plane {
	g := stream(s.seed, streamBristles)
	tone := s.tone.reduced(max(min(s.opt.BristleWidth, s.w, s.h), 1))
	w, h := tone.w, tone.h
	along, noise := strokes(g, tone), newPlane(w, h)
	for i := range noise.pix {
		noise.pix[i] = float32(g.NormFloat64())
	}
	noise = noise.blurred(0.55)
	const reach, step = 7, 0.9
	var weights [reach + 1]float32
	for i := range weights {
		d := step * float64(i) / 3.2
		weights[i] = float32(simd.Exp(-d * d / 2))
	}
	out := newPlane(w, h)
	for i := range out.pix {
		sin, cos := math.Sincos(float64(along.pix[i]))
		x, y, dx, dy := float32(i%w), float32(i/w), float32(step*cos), float32(step*sin)
		sum := noise.pix[i]
		for k := 1; k <= reach; k++ {
			u, v := float32(k)*dx, float32(k)*dy
			sum += weights[k] * (noise.between(x+u, y+v) + noise.between(x-u, y-v))
		}
		out.pix[i] = sum
	}
	return out
}

// ridges returns the rims left by a brush or knife: curved crests along the painting's strokes, or in any direction.
func (s *reliefSurface) ridges(w, h int) *plane {
	g := stream(s.seed, streamRidges)
	out := newPlane(w, h)
	fine := float64(s.fine)
	along := strokes(g, s.tone)
	pitch := s.opt.RidgePitch
	if pitch == 0 {
		pitch = 95
	}
	for range int(float64(s.w*s.h)/(pitch*pitch)) + 1 {
		x, y, angle := g.Float64()*float64(w), g.Float64()*float64(h), g.Float64()*2*math.Pi
		height, radius := Range{0.4, 1.2}.uniform(g), fine*Range{0.8, 2.2}.uniform(g)
		curl, follows := 0.06*g.NormFloat64(), g.Float64() < s.opt.RidgeAlong
		for range 6 + g.IntN(34) {
			angle += curl + 0.12*g.NormFloat64()
			if follows {
				angle = nearest(float64(along.near(int(x/fine), int(y/fine))), angle)
				angle += 0.08 * g.NormFloat64()
			}
			sin, cos := math.Sincos(angle)
			for range 5 {
				x, y = x+fine*cos, y+fine*sin
				out.cap(x, y, 3*radius, func(dx, dy float64) float64 {
					return height * radius * simd.Exp(-(dx*dx+dy*dy)/(radius*radius))
				})
			}
		}
	}
	return out
}

// nearest returns the direction of the undirected line that differs least from the given one.
func nearest(line, direction float64) float64 {
	if math.Cos(line-direction) < 0 {
		return line + math.Pi
	}
	return line
}

// bumps returns caps of dried paint, dust and drops of varnish, small ones more frequently, on a twentieth of the
// surface.
func (s *reliefSurface) bumps(w, h int) *plane {
	g := stream(s.seed, streamBumps)
	out := newPlane(w, h)
	for area := 0.0; area < 0.05*float64(w*h); {
		r := s.opt.BumpRadius.power(g, 1.2) * float64(s.fine)
		area += math.Pi * r * r
		sin, cos := math.Sincos(g.Float64() * math.Pi)
		aspect, edge := Range{1, 2.2}.uniform(g), Range{0.8, 1.6}.uniform(g)
		height := r * Range{0.4, 1.1}.uniform(g)
		root := math.Sqrt(aspect)
		out.cap(g.Float64()*float64(w), g.Float64()*float64(h), 2.2*r*root, func(dx, dy float64) float64 {
			a, b := (dx*cos+dy*sin)/root, (dy*cos-dx*sin)*root
			return height * simd.Exp(-math.Pow((a*a+b*b)/(r*r), edge))
		})
	}
	return out
}

// crack cuts cracks into the relief and curls up the paint along them.
func (s *reliefSurface) crack(height *plane) {
	w, h := height.w, height.h
	perMM := s.opt.CrackPitch * float64(s.fine) / crackMM
	const margin = 2
	var net cracks
	net.build(s.seed, -margin, -margin, float64(w)/perMM+margin, float64(h)/perMM+margin)
	bend := make([]float32, w)
	for x := range bend {
		bend[x] = wander(s.seed+2, float64(x)/perMM)
	}
	s.open = newPlane(w, h)
	fine := float32(s.fine)
	for y := range h {
		yMM := float64(y) / perMM
		side := wander(s.seed+1, yMM)
		for x := range w {
			d, edge := net.at(float32(float64(x)/perMM)+side, float32(yMM)+bend[x])
			d *= float32(perMM) / fine
			strength := float32(mix(edge)>>40) / (1 << 24)
			if d > 6 || strength < 0.3 {
				continue
			}
			i := y*w + x
			s.open.pix[i] = strength * max(1-d/(0.3+strength), 0)
			height.pix[i] += fine * strength * (0.8*float32(simd.Exp(-float64(d*d)/5)) - 2*s.open.pix[i])
		}
	}
}

func newPlane(w, h int) *plane { return &plane{w: w, h: h, ch: 1, pix: make([]float32, w*h)} }

// like returns a plane of the same shape.
func (p *plane) like(pix []float32) *plane { return &plane{w: p.w, h: p.h, ch: p.ch, pix: pix} }

// near returns the sample of a one-channel plane nearest to x, y.
func (p *plane) near(x, y int) float32 {
	return p.pix[min(max(y, 0), p.h-1)*p.w+min(max(x, 0), p.w-1)]
}

// between interpolates a one-channel plane linearly.
func (p *plane) between(x, y float32) float32 {
	x, y = min(max(x, 0), float32(p.w-1)), min(max(y, 0), float32(p.h-1))
	i, j := int(x), int(y)
	fx, fy := x-float32(i), y-float32(j)
	if i >= p.w-1 || j >= p.h-1 {
		return p.pix[j*p.w+i]
	}
	row := p.pix[j*p.w+i:]
	top, low := row[0]+(row[1]-row[0])*fx, row[p.w]+(row[p.w+1]-row[p.w])*fx
	return top + (low-top)*fy
}

// slope returns central differences.
func (p *plane) slope(x, y int) (dx, dy float32) {
	if x > 0 && y > 0 && x < p.w-1 && y < p.h-1 {
		i := y*p.w + x
		return (p.pix[i+1] - p.pix[i-1]) / 2, (p.pix[i+p.w] - p.pix[i-p.w]) / 2
	}
	return (p.near(x+1, y) - p.near(x-1, y)) / 2, (p.near(x, y+1) - p.near(x, y-1)) / 2
}

// minus subtracts q from p in place.
func (p *plane) minus(q *plane) *plane {
	for i, v := range q.pix {
		p.pix[i] -= v
	}
	return p
}

// cap raises the plane to at least height(dx, dy) within the given distance of a point.
func (p *plane) cap(x, y, reach float64, height func(dx, dy float64) float64) {
	for j := max(int(y-reach), 0); j <= min(int(y+reach), p.h-1); j++ {
		for i := max(int(x-reach), 0); i <= min(int(x+reach), p.w-1); i++ {
			if v := float32(height(float64(i)-x, float64(j)-y)); v > p.pix[j*p.w+i] {
				p.pix[j*p.w+i] = v
			}
		}
	}
}

// sampled returns every third sample of every third row.
func (p *plane) sampled() []float32 {
	var out []float32
	for y := 0; y < p.h; y += 3 {
		for x := 0; x < p.w; x += 3 {
			out = append(out, p.pix[y*p.w+x])
		}
	}
	return out
}

// quantile sorts the values and returns the one below which the share q lies.
func quantile(values []float32, q float64) float32 {
	slices.Sort(values)
	return values[min(int(q*float64(len(values))), len(values)-1)]
}

// slopeQuantile returns the slope that the share q of the samples stay below.
func slopeQuantile(p *plane, q float64) float64 {
	var slopes []float32
	for y := 0; y < p.h; y += 3 {
		for x := 0; x < p.w; x += 3 {
			dx, dy := p.slope(x, y)
			slopes = append(slopes, float32(math.Sqrt(float64(dx*dx+dy*dy))))
		}
	}
	return float64(quantile(slopes, q))
}

// noiseField returns smooth noise of standard deviation about 1 with structures of about the given size.
func noiseField(g *rand.Rand, w, h int, size float64) *plane {
	grid := newPlane(int(float64(w)/size)+4, int(float64(h)/size)+4)
	for i := range grid.pix {
		grid.pix[i] = float32(1.25 * g.NormFloat64())
	}
	return grid.enlarged(w, h)
}

// enlarged stretches a one-channel plane by cubic convolution (Keys 1981, a = −½); the border repeats.
func (p *plane) enlarged(w, h int) *plane {
	columns := cubicTaps(p.w, w)
	out := newPlane(w, h)
	mixed := make([]float32, p.w)
	for y, t := range cubicTaps(p.h, h) {
		clear(mixed)
		for k, weight := range t.weight {
			row := p.pix[t.at[k]*p.w:]
			for x := range mixed {
				mixed[x] += weight * row[x]
			}
		}
		dst := out.pix[y*w : (y+1)*w]
		for x := range dst {
			c := &columns[x]
			dst[x] = c.weight[0]*mixed[c.at[0]] + c.weight[1]*mixed[c.at[1]] +
				c.weight[2]*mixed[c.at[2]] + c.weight[3]*mixed[c.at[3]]
		}
	}
	return out
}

// cubicTap holds the source indices and weights of a sample.
type cubicTap struct {
	at     [4]int
	weight [4]float32
}

func cubicTaps(from, to int) []cubicTap {
	taps := make([]cubicTap, to)
	for i := range taps {
		pos := (float64(i)+0.5)*float64(from)/float64(to) - 0.5
		left := math.Floor(pos)
		t := pos - left
		weight := [4]float64{
			((-0.5*t+1)*t - 0.5) * t,
			(1.5*t-2.5)*t*t + 1,
			((-1.5*t+2)*t + 0.5) * t,
			(0.5*t - 0.5) * t * t,
		}
		for k, v := range weight {
			taps[i].at[k] = min(max(int(left)-1+k, 0), from-1)
			taps[i].weight[k] = float32(v)
		}
	}
	return taps
}

// reduced averages squares of n × n samples; incomplete squares at the right and lower edges are dropped.
func (p *plane) reduced(n int) *plane {
	out := newPlane(p.w/n, p.h/n)
	share := 1 / float32(n*n)
	for y := range out.h * n {
		dst := out.pix[y/n*out.w : (y/n+1)*out.w]
		row := p.pix[y*p.w : (y+1)*p.w]
		for x := range dst {
			for _, v := range row[x*n : (x+1)*n] {
				dst[x] += v * share
			}
		}
	}
	return out
}
