package relax

import (
	"math"

	"blik/processing"
)

// neighbours holds the indices of a pixel's neighbours. The left, right, upper and lower ones lie in the other half,
// the diagonal ones a row above and below of left and right in its own.
type neighbours struct{ left, up, down, stride int32 }

func (g *Grid) around(c int, e *cell) neighbours {
	b := &g.blocks[c][e.lane/lanes]
	s := int32(g.stride)
	return neighbours{e.at + b.left - b.at, e.at - s, e.at + s, s}
}

func (n *neighbours) sum(p []float32) float32 {
	return (p[n.left] + p[n.left+1]) + (p[n.up] + p[n.down])
}

// along returns the mean of the neighbours, weighted along the strokes by the pixel's first four coefficients.
func (n *neighbours) along(own, other, coeffs []float32) float32 {
	straight := float32(coeffs[0]*(other[n.left]+other[n.left+1])) + float32(coeffs[lanes]*(other[n.up]+other[n.down]))
	return straight + (float32(coeffs[2*lanes]*(own[n.left-n.stride]+own[n.left+1+n.stride])) +
		float32(coeffs[3*lanes]*(own[n.left+1-n.stride]+own[n.left+n.stride])))
}

// coeffsAt returns the coefficients of a pixel from the first on; they are lanes apart.
func coeffsAt(coeffs []float32, count int, lane int32) []float32 {
	return coeffs[int(lane)/lanes*count*lanes+int(lane)%lanes:]
}

func harmonic(g *Grid, p *halves, c int, part []float32) {
	own, other, omega := p[c], p[1-c], g.omega[0]
	for i := range g.cells[c] {
		e := &g.cells[c][i]
		near := g.around(c, e)
		own[e.at] += float32(omega * (float32(near.sum(other)*part[e.lane]) - own[e.at]))
	}
}

func separate(g *Grid, p *[3]halves, c int, coeffs, light []float32, sep *separator) {
	for i := range g.cells[c] {
		e := &g.cells[c][i]
		near, coeff := g.around(c, e), coeffsAt(coeffs, 5, e.lane)
		var guess [3]float32
		part := coeff[4*lanes]
		for k := range p {
			guess[k] = float32(near.sum(p[k][1-c]) * part)
		}
		paint, l := sep.pixel(&guess, part, coeff, light[e.lane])
		for k := range p {
			p[k][c][e.at] = paint[k]
		}
		light[e.lane] = l
	}
}

func continueHalf(g *Grid, p []halves, c int, coeffs, next []float32) {
	for k := range p {
		own, other := p[k][c], p[k][1-c]
		for i := range g.cells[c] {
			e := &g.cells[c][i]
			near := g.around(c, e)
			mean := near.along(own, other, coeffsAt(coeffs, 4, e.lane))
			next[e.lane] = own[e.at] + float32(StrokeStep*(mean-own[e.at]))
		}
		for i := range g.cells[c] {
			e := &g.cells[c][i]
			own[e.at] = next[e.lane]
		}
	}
}

func refine(g *Grid, p *[3]halves, c int, coeffs, next, light []float32, sep *separator) {
	for i := range g.cells[c] {
		e := &g.cells[c][i]
		near, coeff := g.around(c, e), coeffsAt(coeffs, 8, e.lane)
		var guess [3]float32
		for k := range p {
			guess[k] = near.along(p[k][c], p[k][1-c], coeff)
		}
		paint, l := sep.pixel(&guess, 0.25, coeff[4*lanes:], light[e.lane])
		for k := range p {
			old := p[k][c][e.at]
			next[3*int(e.lane)+k] = old + float32(StrokeStep*(paint[k]-old))
		}
		light[e.lane] += float32(StrokeStep * (l - light[e.lane]))
	}
	for i := range g.cells[c] {
		e := &g.cells[c][i]
		for k := range p {
			p[k][c][e.at] = next[3*int(e.lane)+k]
		}
	}
}

// Split returns the paint and the light of an unclipped pixel of n channels, by the formulas of processing.Separate:
// guess is the mean of its neighbours' paint, part the inverse of their number, seen and expected its light, and light
// what was subtracted so far.
func Split(
	m *processing.Separation, n int, guess, seen *[4]float32, part, expected, light float32,
) (paint [4]float32, lit float32) {
	var slope float32
	for k := range n {
		slope += guess[k]
	}
	slope = float32(slope*2)/float32(n) + 0.01
	spread := float32(float32(slope*slope) * part)
	off := float32(m.Mismatch * light)
	noise := m.Noise + float32(off*off)
	var rest, gain [4]float32
	var along, sure float32
	for k := range n {
		for c := range n {
			rest[k] += float32(m.Axes[k][c] * (seen[c] - float32(guess[c]*guess[c])))
		}
		variance := float32(m.Variance[k] * spread)
		q := 1 / (variance + noise)
		gain[k] = float32(variance * q)
		lq := float32(m.Light[k] * q)
		along += float32(lq * rest[k])
		sure += float32(lq * m.Light[k])
	}
	mu := (along - 1/expected) / sure
	lit = (mu + float32(math.Sqrt(float64(float32(mu*mu)+2.5464791/sure)))) * 0.5
	for k := range n {
		gain[k] = float32(gain[k] * (rest[k] - float32(lit*m.Light[k])))
	}
	for c := range n {
		y := float32(guess[c] * guess[c])
		for k := range n {
			y += float32(m.Axes[k][c] * gain[k])
		}
		paint[c] = float32(math.Sqrt(float64(max(y, 0))))
	}
	return paint, lit
}

// pixel is solve for one pixel: Split for three channels.
func (o *separator) pixel(guess *[3]float32, part float32, coeffs []float32, old float32) (
	paint [3]float32, light float32) {
	g0, g1, g2 := guess[0], guess[1], guess[2]
	inverse := coeffs[3*lanes]
	if inverse < 0 {
		return *guess, old
	}
	m := o.m
	slope := float32((g0+g1+g2)*2)/3 + 0.01
	spread := float32(float32(slope*slope) * part)
	off := float32(m.Mismatch * old)
	noise := m.Noise + float32(off*off)
	s0, s1, s2 := float32(g0*g0), float32(g1*g1), float32(g2*g2)
	d0, d1, d2 := coeffs[0]-s0, coeffs[lanes]-s1, coeffs[2*lanes]-s2
	a, e := &m.Axes, &m.Light
	rest0 := float32(a[0][0]*d0) + float32(a[0][1]*d1) + float32(a[0][2]*d2)
	rest1 := float32(a[1][0]*d0) + float32(a[1][1]*d1) + float32(a[1][2]*d2)
	rest2 := float32(a[2][0]*d0) + float32(a[2][1]*d1) + float32(a[2][2]*d2)
	v0, v1, v2 := float32(m.Variance[0]*spread), float32(m.Variance[1]*spread), float32(m.Variance[2]*spread)
	q0, q1, q2 := 1/(v0+noise), 1/(v1+noise), 1/(v2+noise)
	l0, l1, l2 := float32(e[0]*q0), float32(e[1]*q1), float32(e[2]*q2)
	along := float32(l0*rest0) + float32(l1*rest1) + float32(l2*rest2)
	sure := float32(l0*e[0]) + float32(l1*e[1]) + float32(l2*e[2])
	mu := (along - inverse) / sure
	light = (mu + float32(math.Sqrt(float64(float32(mu*mu)+2.5464791/sure)))) * 0.5
	t0 := float32(float32(v0*q0) * (rest0 - float32(light*e[0])))
	t1 := float32(float32(v1*q1) * (rest1 - float32(light*e[1])))
	t2 := float32(float32(v2*q2) * (rest2 - float32(light*e[2])))
	s0 = s0 + float32(a[0][0]*t0) + float32(a[1][0]*t1) + float32(a[2][0]*t2)
	s1 = s1 + float32(a[0][1]*t0) + float32(a[1][1]*t1) + float32(a[2][1]*t2)
	s2 = s2 + float32(a[0][2]*t0) + float32(a[1][2]*t1) + float32(a[2][2]*t2)
	for k, v := range [3]float32{s0, s1, s2} {
		paint[k] = float32(math.Sqrt(float64(max(v, 0))))
	}
	return paint, light
}
