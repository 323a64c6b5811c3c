package synth

import "math"

// stroke is one stroke of the brush. Lengths are in millimetres.
type stroke struct {
	// (x, y) is the middle and angle the direction there; half is half the length, wide half the width, bend the
	// curvature.
	x, y, angle, half, wide, bend float64
	colour                        [3]float32
	// thick is the height of the relief that it leaves; dry, 0…1, is how far the brush runs out of paint towards the
	// end; streak is how unevenly the bristles carry pigment.
	thick, dry, streak float64
	// order sorts strokes of a layer from first to last, and seeds the bristles.
	order uint64
	// round makes it a dab: an ellipse of even paint. taper narrows it towards both ends, as a touch of a pointed
	// brush.
	round, taper bool
}

// extent returns the half-sides of a bounding box of the stroke.
func (s *stroke) extent() (ex, ey float64) {
	sin, cos := math.Sincos(s.angle)
	sag := s.wide + math.Abs(s.bend)*s.half*s.half/2
	return math.Abs(cos)*s.half + math.Abs(sin)*sag, math.Abs(sin)*s.half + math.Abs(cos)*sag
}

// touches reports whether the stroke may reach the tile.
func (t *tile) touches(s *stroke) bool {
	ex, ey := s.extent()
	edge := 1 / t.scale
	x0, y0 := float64(t.x0)/t.scale-edge, float64(t.y0)/t.scale-edge
	x1, y1 := float64(t.x0+t.w)/t.scale+edge, float64(t.y0+t.h)/t.scale+edge
	return s.x+ex > x0 && s.x-ex < x1 && s.y+ey > y0 && s.y-ey < y1
}

// bristles is a periodic texture of bristle marks, 0…1, long in the first direction.
type bristles struct {
	pix [bristleSide * bristleSide]float32
}

const bristleSide = 256

func newBristles(seed uint64) *bristles {
	b := new(bristles)
	rnd := stream(seed, 11)
	var deep [bristleSide]float64
	for v := range deep {
		deep[v] = rnd.Float64()
	}
	for v := range bristleSide {
		// Each bristle has its own depth and wanders a little along the stroke.
		p1, p2 := rnd.Float64()*2*math.Pi, rnd.Float64()*2*math.Pi
		k1, k2 := float64(1+rnd.IntN(3)), float64(4+rnd.IntN(5))
		d := 0.5*deep[v] + 0.25*deep[(v+1)%bristleSide] + 0.25*deep[(v+bristleSide-1)%bristleSide]
		for u := range bristleSide {
			a := 2 * math.Pi * float64(u) / bristleSide
			x := d + 0.13*math.Sin(k1*a+p1) + 0.08*math.Sin(k2*a+p2) + 0.06*(rnd.Float64()-0.5)
			b.pix[v*bristleSide+u] = float32(math.Max(0, math.Min(1, x)))
		}
	}
	return b
}

// at interpolates between texels; u and v must not be negative.
func (b *bristles) at(u, v float32) float32 {
	const mask = bristleSide - 1
	i, j := int(u), int(v)
	fu, fv := u-float32(i), v-float32(j)
	i0, i1, j0, j1 := i&mask, (i+1)&mask, j&mask*bristleSide, (j+1)&mask*bristleSide
	top := b.pix[j0+i0] + (b.pix[j0+i1]-b.pix[j0+i0])*fu
	low := b.pix[j1+i0] + (b.pix[j1+i1]-b.pix[j1+i0])*fu
	return top + (low-top)*fv
}

// imprint is how a stroke covers the paint under it, with the numbers that all its pixels share.
type imprint struct {
	bristles     *bristles
	round, taper bool
	half, wide   float64
	// A pixel at u, v along and across the stroke, in millimetres, lies at u·along + shiftU, v·across + shiftV in the
	// texture of the bristles.
	along, across, shiftU, shiftV float32
	invHalf, invWide              float32
	// soften and softenEnd are how steeply the paint ends at the sides and at the ends; ragged is how far single
	// bristles fall short there.
	soften, softenEnd, ragged   float32
	opacity, thick, dry, streak float32
}

// imprint returns the imprint of a stroke in pixels of the tile's scale.
func (t *tile) imprint(s *stroke) imprint {
	// A stroke thinner than a pixel covers it partly.
	thinnest, cover := 0.5/t.scale, 1.0
	wide, half := s.wide, s.half
	if wide < thinnest {
		cover = wide / thinnest
		wide = thinnest
	}
	if half < thinnest {
		cover *= half / thinnest
		half = thinnest
	}
	// Bristles are 0.1 mm apart, but never finer than the pixels can show.
	texel := math.Max(0.1, 0.7/t.scale)
	m := imprint{
		bristles: t.bristles, round: s.round, taper: s.taper, half: half, wide: wide,
		along: float32(1 / (8 * texel)), across: float32(1 / texel),
		shiftU:  float32(s.order&0xff) + bristleSide*4,
		shiftV:  float32(s.order>>8&0xff) + bristleSide*4,
		invHalf: float32(1 / half), invWide: float32(1 / wide),
		soften:    float32(math.Max(1.2, math.Min(wide*t.scale, 5))),
		softenEnd: float32(math.Max(1.2, math.Min(half*t.scale, 8))),
		ragged:    0.28,
		opacity:   float32(cover), thick: float32(s.thick), dry: float32(s.dry), streak: float32(s.streak),
	}
	if s.taper {
		m.ragged = 0.1
	}
	return m
}

// at returns the opacity of the paint at u, v along and across the stroke, in millimetres, the height of its relief as
// a share of thick, and the share of the colour that it shows.
func (m *imprint) at(u, v float32) (alpha, rise, tint float32) {
	p, q := u*m.invHalf, v*m.invWide
	if m.round {
		d := 1 - float32(math.Sqrt(float64(p*p+q*q)))
		return min(max(d*m.soften, 0), 1) * m.opacity, min(d*2, 1), 1
	}
	if p < 0 {
		alpha = 1 + p
	} else {
		alpha = 1 - p
	}
	if q < 0 {
		q = -q
	}
	if m.taper {
		q += p * p * 0.9
	}
	if alpha <= 0 || q >= 1 {
		return 0, 0, 0
	}
	mark := m.bristles.at(u*m.along+m.shiftU, v*m.across+m.shiftV)
	// Bristles set down and lift off one after the other, so that the ends are ragged.
	alpha = min(max((alpha-m.ragged*mark)*m.softenEnd, 0), 1) * min((1-q)*m.soften, 1)
	// The brush runs dry: towards the end only the longest bristles still leave paint.
	lack := m.dry * (p + 1) * 0.5
	alpha *= min(max((mark-lack*0.9)*5+0.6, 0), 1) * m.opacity
	ridge := max(0, 1-8*abs32(q-0.86))
	return alpha, 0.35 + 0.9*mark + 0.5*ridge, 1 + m.streak*(mark-0.5)
}

// brush paints one stroke into the tile.
func (t *tile) brush(s *stroke) {
	if !t.touches(s) {
		return
	}
	m, scale := t.imprint(s), t.scale
	_, ey := s.extent()
	ey += 1 / scale
	sin64, cos64 := math.Sincos(s.angle)
	sin, cos := float32(sin64), float32(cos64)
	sag := m.wide + math.Abs(s.bend)*m.half*m.half/2
	ya := max(int(math.Floor((s.y-ey)*scale))-t.y0, 0)
	yb := min(int(math.Ceil((s.y+ey)*scale))-t.y0, t.h)
	bend := float32(s.bend / 2)
	pixel, left := float32(1/scale), float32((float64(t.x0)+0.5)/scale-s.x)
	for y := ya; y < yb; y++ {
		dy := (float64(t.y0+y)+0.5)/scale - s.y
		xa, xb := rowSpan(dy, cos64, sin64, m.half, sag)
		a := max(int(math.Floor((s.x+xa)*scale))-t.x0, 0)
		b := min(int(math.Ceil((s.x+xb)*scale))+1-t.x0, t.w)
		row := t.pix[3*y*t.side : 3*(y*t.side+t.w)]
		relief := t.relief[y*t.side : y*t.side+t.w]
		uy, vy := float32(dy)*sin, float32(dy)*cos
		for x := a; x < b; x++ {
			dx := float32(x)*pixel + left
			u := dx*cos + uy
			alpha, rise, tint := m.at(u, vy-dx*sin-bend*u*u)
			if alpha <= 0 {
				continue
			}
			at := row[3*x : 3*x+3 : 3*x+3]
			at[0] += alpha * (s.colour[0]*tint - at[0])
			at[1] += alpha * (s.colour[1]*tint - at[1])
			at[2] += alpha * (s.colour[2]*tint - at[2])
			relief[x] += alpha * (m.thick*rise - 0.55*relief[x])
		}
	}
}

func abs32(x float32) float32 {
	if x < 0 {
		return -x
	}
	return x
}

// rowSpan returns the part of the row at distance dy from the middle that lies inside the rectangle of the given
// half-sides.
func rowSpan(dy, cos, sin, half, wide float64) (a, b float64) {
	a, b = -half-wide, half+wide
	clip := func(slope, offset, limit float64) {
		// |slope·dx + offset| ≤ limit
		if math.Abs(slope) < 1e-9 {
			if math.Abs(offset) > limit {
				b = a
			}
			return
		}
		lo, hi := (-limit-offset)/slope, (limit-offset)/slope
		a, b = math.Max(a, math.Min(lo, hi)), math.Min(b, math.Max(lo, hi))
	}
	clip(cos, dy*sin, half)
	clip(-sin, dy*cos, wide)
	return a, b
}
