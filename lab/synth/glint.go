package synth

import (
	"math"
	"math/rand/v2"
	"slices"

	"blik/internal/simd"
)

// shape is the kind of a glint's outline, in the order of the fields of Shapes.
type shape uint8

const (
	ellipse shape = iota
	star
	worm
	facet
	woven
)

// glint is one mirror image of a lamp. Its light at distance d (in radii, measured as its shape says) from the middle
// is peak·exp(−ln2·d^2q); r is the radius of the disc of the same area at half the peak.
type glint struct {
	x, y, r, angle, aspect       float64
	peak, edge, halo, haloRadius float64
	blur                         float64
	light                        [3]float64
	shape                        shape
	seed                         uint64
	canvas                       *canvas
	// reach is the distance from the middle, in pixels, up to which the glint adds light; haloReach is that of its
	// veil.
	reach, haloReach float64
}

// faint is the light, 1 = white, below which a glint is cut off: less than half a level of an 8-bit file in the
// darkest shadow.
const faint = 1e-4

// prepare adapts the shape to the size and computes the reaches.
func (g *glint) prepare() {
	if g.shape == facet && g.r < 1.5 || g.shape == woven && g.r < 1.2*g.canvas.pitch {
		g.shape = ellipse
	}
	far := 1.0
	if g.peak > faint {
		far = math.Pow(math.Log2(g.peak/faint), 1/(2*g.edge))
	}
	root := math.Sqrt(g.aspect)
	switch g.shape {
	case star:
		g.reach = g.r * root * far * starLimit
	case worm:
		// The band bends by at most its half-length and its ends fall off with the fourth power.
		g.aspect = 2 + 1.5*g.aspect
		g.reach = g.r * (math.Sqrt(g.aspect)*math.Sqrt(far)*1.5 + wormLimit*far)
	case facet:
		// The map is centred on a pixel, up to one away from the middle.
		g.reach = g.r*facetExtent*math.Cbrt(far) + 1
	default:
		g.reach = g.r * root * far
		if g.r >= smooth {
			g.reach *= starLimit
		}
	}
	if v := g.halo * g.peak; v > faint && g.haloRadius > 0 {
		g.haloReach = g.haloRadius * g.r * math.Sqrt(2*math.Log(v/faint))
	}
}

// bounds returns the pixels that the glint may touch, x1 and y1 excluded; they may lie outside the picture.
func (g *glint) bounds() (x0, y0, x1, y1 int) {
	r := math.Max(g.reach, g.haloReach) + float64(blurRadius(g.blur)) + 1
	return int(math.Floor(g.x - r)), int(math.Floor(g.y - r)), int(math.Ceil(g.x + r)), int(math.Ceil(g.y + r))
}

// stamper draws glints into its own buffer.
type stamper struct {
	surf   *surface
	pix    []float32
	blur   blurrer
	facets facetMap
}

// stamp returns the light of g, before it is multiplied by its colour, for the pixels (x0 … x1−1) × (y0 … y1−1), row by
// row. The next call overwrites the slice.
func (s *stamper) stamp(g *glint, x0, y0, x1, y1 int) []float32 {
	margin := blurRadius(g.blur)
	ax, ay, bx, by := x0-margin, y0-margin, x1+margin, y1+margin
	w, h := bx-ax, by-ay
	s.pix = slices.Grow(s.pix[:0], w*h)[:w*h]
	distance := g.distance(s)
	sub := 2
	if g.r < 4 {
		sub = 4
	}
	for y := ay; y < by; y++ {
		row := s.pix[(y-ay)*w : (y-ay+1)*w]
		dy := float64(y) + 0.5 - g.y
		for x := range row {
			dx := float64(x+ax) + 0.5 - g.x
			rho2 := dx*dx + dy*dy
			var v float64
			if near := g.reach + 1; rho2 < near*near {
				for j := range sub {
					for i := range sub {
						o := 1 / float64(sub)
						v += g.profile(distance(dx+(float64(i)+0.5)*o-0.5, dy+(float64(j)+0.5)*o-0.5))
					}
				}
				v /= float64(sub * sub)
			}
			if rho2 < g.haloReach*g.haloReach {
				t := g.haloRadius * g.r
				v += g.halo * simd.Exp(-rho2/(2*t*t))
			}
			row[x] = float32(v * g.peak)
		}
	}
	if margin == 0 {
		return s.pix
	}
	return s.blur.inner(s.pix, w, h, g.blur, margin)
}

// profile returns the share of the peak at the squared distance d2 in radii.
func (g *glint) profile(d2 float64) float64 {
	if d2 <= 0 {
		return 1
	}
	return simd.Exp(-math.Ln2 * math.Pow(d2, g.edge))
}

const (
	// starLimit is the longest arm of an irregular outline in radii; ellipses of a radius below smooth are regular.
	starLimit = 1.9
	smooth    = 2.5
	// wormLimit bounds the half-width of a worm, facetExtent is where the envelope of a facet glint ends.
	wormLimit   = 1.4
	facetExtent = 2.2
)

// distance returns the squared distance in radii as a function of the offset from the middle in pixels.
func (g *glint) distance(s *stamper) func(dx, dy float64) float64 {
	sin, cos := math.Sincos(g.angle)
	a, b := 1/(g.r*math.Sqrt(g.aspect)), math.Sqrt(g.aspect)/g.r
	plain := func(dx, dy float64) float64 {
		u, v := (dx*cos+dy*sin)*a, (dy*cos-dx*sin)*b
		return u*u + v*v
	}
	rnd := stream(g.seed, 2)
	switch g.shape {
	case star:
		arms := 3 + rnd.IntN(4)
		return outline(rnd, plainAxes{a, b, sin, cos}, arms, 0.2+0.25*rnd.Float64(), 0.12)
	case worm:
		bend := (rnd.Float64() - 0.5) * 0.8 * g.r * math.Sqrt(g.aspect)
		wave, phase := 1+rnd.Float64()*2, rnd.Float64()*2*math.Pi
		return func(dx, dy float64) float64 {
			u, v := (dx*cos+dy*sin)*a, dy*cos-dx*sin
			v -= bend * (u*u - 0.3)
			v *= b / (1 + 0.3*math.Sin(wave*math.Pi*u+phase))
			return u*u*u*u + v*v
		}
	case facet:
		s.facets.build(g, s.surf)
		return s.facets.at
	case woven:
		c := g.canvas
		// Each crossing shows the crest of the thread on top, which is long along the thread and narrow across it; warp
		// and weft alternate.
		return func(dx, dy float64) float64 {
			u, v := c.threads(g.x+dx, g.y+dy)
			i, j := math.Round(u), math.Round(v)
			u, v = u-i, v-j
			if (int(i)+int(j))&1 != 0 {
				u, v = v, u
			}
			u, v = u/0.45, v/0.3
			return plain(dx, dy) + u*u + v*v
		}
	default:
		if g.r < smooth {
			return plain
		}
		return outline(rnd, plainAxes{a, b, sin, cos}, 2, 0, 0.07)
	}
}

// plainAxes converts an offset to coordinates along and across a glint, in half-axes.
type plainAxes struct{ a, b, sin, cos float64 }

// outline returns the squared distance from the middle in units of r(θ) = 1 + Σ aₖ cos(kθ + φₖ), k = 1…7, scaled to
// the area of the unit disc: one harmonic of amplitude strong makes arms, the others of spread weak make it irregular.
func outline(rnd *rand.Rand, axes plainAxes, arms int, strong, weak float64) func(dx, dy float64) float64 {
	var amplitude, phase [7]float64
	power := 1.0
	for i := range amplitude {
		amplitude[i] = weak * rnd.NormFloat64()
		if i+1 == arms && strong > 0 {
			amplitude[i] = strong
		}
		phase[i] = rnd.Float64() * 2 * math.Pi
		power += amplitude[i] * amplitude[i] / 2
	}
	norm := 1 / math.Sqrt(power)
	return func(dx, dy float64) float64 {
		u, v := (dx*axes.cos+dy*axes.sin)*axes.a, (dy*axes.cos-dx*axes.sin)*axes.b
		t := math.Atan2(v, u)
		r := 1.0
		for i, a := range amplitude {
			r += a * math.Cos(float64(i+1)*t+phase[i])
		}
		r = math.Max(0.3, math.Min(starLimit, r*norm))
		return (u*u + v*v) / (r * r)
	}
}

// facetMap holds the squared distances of a glint with an outline that follows the paint. With micro-facets distributed
// about the surface slope (Beckmann & Spizzichino 1963), the light falls off with the distance between the slope at a
// pixel and the slope that mirrors the lamp, here that at the middle of the glint.
type facetMap struct {
	side, half int
	// fx and fy convert an offset from the glint's middle to one from the middle of the map's central pixel.
	fx, fy float64
	d2     []float64
	order  []float64
	raw    []float32
	blur   blurrer
}

func (m *facetMap) build(g *glint, s *surface) {
	m.half = int(math.Ceil(g.reach)) + 2
	m.side = 2*m.half + 1
	n := m.side + 2
	// Relief finer than the glint itself is roughness, which the lobe already models.
	sigma := math.Max(0.8, 0.5*g.r)
	margin := blurRadius(sigma)
	full := n + 2*margin
	m.raw = slices.Grow(m.raw[:0], full*full)[:full*full]
	m.d2 = slices.Grow(m.d2[:0], m.side*m.side)[:m.side*m.side]
	cx, cy := int(g.x), int(g.y)
	m.fx, m.fy = g.x-float64(cx)-0.5, g.y-float64(cy)-0.5
	for j := range full {
		for i := range full {
			m.raw[j*full+i] = float32(s.height(cx+i-m.half-1-margin, cy+j-m.half-1-margin))
		}
	}
	height := m.blur.inner(m.raw, full, full, sigma, margin)
	slope := func(i, j int) (x, y float64) {
		k := (j+1)*n + i + 1
		return float64(height[k+1] - height[k-1]), float64(height[k+n] - height[k-n])
	}
	var energy float64
	for j := range m.side {
		for i := range m.side {
			x, y := slope(i, j)
			energy += x*x + y*y
		}
	}
	// A relief of the varnish, as large as the glint and as steep as the paint, keeps glints on flat paint from being
	// perfectly round and glints on rough paint in one piece.
	rms := math.Sqrt(energy/float64(m.side*m.side)) + 0.005
	amplitude := rms * g.r
	for j := range n {
		for i := range n {
			x, y := float64(i-m.half-1)/g.r, float64(j-m.half-1)/g.r
			height[j*n+i] += float32(amplitude * (valueNoise(g.seed, x*0.8, y*0.8) +
				0.3*valueNoise(g.seed+1, x*1.9, y*1.9)))
		}
	}
	zx, zy := slope(m.half, m.half)
	m.order = m.order[:0]
	for j := range m.side {
		for i := range m.side {
			x, y := slope(i, j)
			x, y = x-zx, y-zy
			v := x*x + y*y
			m.d2[j*m.side+i] = v
			dx, dy := float64(i-m.half), float64(j-m.half)
			if dx*dx+dy*dy < 4*g.r*g.r {
				m.order = append(m.order, v)
			}
		}
	}
	slices.Sort(m.order)
	// The width of the lobe is chosen so that the lit area equals that of a disc of radius r.
	lobe := m.order[min(int(math.Pi*g.r*g.r), len(m.order)-1)]
	lobe = math.Max(lobe, 1e-12)
	for j := range m.side {
		for i := range m.side {
			dx, dy := float64(i-m.half), float64(j-m.half)
			e := (dx*dx + dy*dy) / (facetExtent * facetExtent * g.r * g.r)
			k := j*m.side + i
			m.d2[k] = m.d2[k]/lobe + e*e*e
		}
	}
}

// at interpolates linearly between pixels.
func (m *facetMap) at(dx, dy float64) float64 {
	x, y := dx+m.fx+float64(m.half), dy+m.fy+float64(m.half)
	x = math.Max(0, math.Min(x, float64(m.side)-1.001))
	y = math.Max(0, math.Min(y, float64(m.side)-1.001))
	i, j := int(x), int(y)
	fx, fy := x-float64(i), y-float64(j)
	k := j*m.side + i
	top := m.d2[k] + (m.d2[k+1]-m.d2[k])*fx
	low := m.d2[k+m.side] + (m.d2[k+m.side+1]-m.d2[k+m.side])*fx
	return top + (low-top)*fy
}

// valueNoise is smooth noise in −1…1 with features of size 1: hashed lattice values, interpolated with the quintic
// of Perlin (2002).
func valueNoise(seed uint64, x, y float64) float64 {
	xf, yf := math.Floor(x), math.Floor(y)
	i, j := int64(xf), int64(yf)
	fade := func(t float64) float64 { return t * t * t * (t*(t*6-15) + 10) }
	fx, fy := fade(x-xf), fade(y-yf)
	at := func(i, j int64) float64 {
		place := uint64(i)*0x9e3779b97f4a7c15 + uint64(j)*0xc2b2ae3d27d4eb4f
		return float64(mix(seed*0xd1342543de82ef95+place)>>11)/(1<<52) - 1
	}
	a := at(i, j) + (at(i+1, j)-at(i, j))*fx
	b := at(i, j+1) + (at(i+1, j+1)-at(i, j+1))*fx
	return a + (b-a)*fy
}
