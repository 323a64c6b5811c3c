package synth

import (
	"math"
	"slices"
)

// threadMM is the distance of canvas threads, crackMM the size of the islands between cracks.
const (
	threadMM = 1.1
	crackMM  = 12
)

// surface adds the canvas under the paint to the relief, and the cracks through both.
func (t *tile) surface() {
	// Threads and cracks are not straight: columns and rows are shifted by slow waves.
	for i := range max(t.w, t.h) {
		x, y := (float64(t.x0+i)+0.5)/t.scale, (float64(t.y0+i)+0.5)/t.scale
		t.shiftY[i] = float32(0.5*math.Sin(x/31+1) + 0.25*math.Sin(x/9.7))
		t.shiftX[i] = float32(0.5*math.Sin(y/37) + 0.25*math.Sin(y/8.3+2))
		t.crackX[i] = wander(t.opt.Seed+1, y)
		t.crackY[i] = wander(t.opt.Seed+2, x)
	}
	t.weave()
	// Cracks so fine that a pixel would hold several are part of the tone.
	if !t.opt.Fresh && t.scale*crackMM > 8 {
		t.crack()
	}
}

// wander is the irregular displacement of a crack, in millimetres.
func wander(seed uint64, x float64) float32 {
	return float32(0.9*valueNoise(seed, x/4.3, 0) + 0.45*valueNoise(seed, x/1.3, 9) + 0.15*valueNoise(seed, x/0.4, 21))
}

// weave adds a plain weave, less of it where the paint is thick. Threads closer together than two pixels cannot be
// distinguished: their relief fades before it would alias.
func (t *tile) weave() {
	depth := float32(0.14 * math.Min(1, math.Max(0, (threadMM*t.scale-2)/2)))
	if depth == 0 {
		return
	}
	const perMM = 1 / threadMM
	for y := range t.h {
		relief := t.relief[y*t.side : y*t.side+t.w]
		yMM := float32((float64(t.y0+y)+0.5)/t.scale) + 100*threadMM
		for x := range relief {
			u := (float32((float64(t.x0+x)+0.5)/t.scale) + 100*threadMM + t.shiftX[y]) * perMM
			v := (yMM + t.shiftY[x]) * perMM
			i, j := int(u), int(v)
			fu, fv := 2*(u-float32(i))-1, 2*(v-float32(j))-1
			// The thread on top has a round cross-section and bulges along its length; warp and weft alternate.
			var h float32
			if (i+j)&1 == 0 {
				h = (1 - fu*fu) * (1 - 0.4*fv*fv)
			} else {
				h = (1 - fv*fv) * (1 - 0.4*fu*fu)
			}
			relief[x] += depth * h / (1 + relief[x]*12)
		}
	}
}

// cracks holds one point for each cell of a grid; cracks run along the edges of the points' Voronoi regions.
type cracks struct {
	i0, j0, across int
	x, y           []float32
}

func (c *cracks) build(seed uint64, x0, y0, x1, y1 float64) {
	c.i0, c.j0 = int(math.Floor(x0/crackMM))-1, int(math.Floor(y0/crackMM))-1
	c.across = int(math.Floor(x1/crackMM)) + 2 - c.i0
	down := int(math.Floor(y1/crackMM)) + 2 - c.j0
	n := c.across * down
	c.x = slices.Grow(c.x[:0], n)[:n]
	c.y = slices.Grow(c.y[:0], n)[:n]
	for k := range c.x {
		i, j := c.i0+k%c.across, c.j0+k/c.across
		h := mix(seed ^ mix(uint64(uint32(i))<<32^uint64(uint32(j))^0xc4ac))
		c.x[k] = (float32(i) + float32(h&0xffff)/65536) * crackMM
		c.y[k] = (float32(j) + float32(h>>16&0xffff)/65536) * crackMM
	}
}

// at returns the distance in millimetres to the nearest edge and an identifier of that edge.
func (c *cracks) at(x, y float32) (distance float32, edge uint64) {
	i := int(math.Floor(float64(x)*(1.0/crackMM))) - c.i0
	j := int(math.Floor(float64(y)*(1.0/crackMM))) - c.j0
	near, next := float32(math.MaxFloat32), float32(math.MaxFloat32)
	var a, b int
	for dj := -1; dj <= 1; dj++ {
		k := (j+dj)*c.across + i - 1
		for di := range 3 {
			dx, dy := c.x[k+di]-x, c.y[k+di]-y
			d := dx*dx + dy*dy
			if d < near {
				next, b = near, a
				near, a = d, k+di
			} else if d < next {
				next, b = d, k+di
			}
		}
	}
	dx, dy := c.x[a]-c.x[b], c.y[a]-c.y[b]
	gap := float32(math.Sqrt(float64(dx*dx + dy*dy)))
	if gap == 0 {
		return 0, 0
	}
	// An edge has the same identifier from both sides and from every tile: the sum of its points' positions.
	name := uint64(math.Float32bits(c.x[a]+c.x[b]))<<32 | uint64(math.Float32bits(c.y[a]+c.y[b]))
	return (next - near) / (2 * gap), name
}

// crack cuts the cracks into the relief and darkens them.
func (t *tile) crack() {
	const margin = 2
	x0, y0 := float64(t.x0)/t.scale, float64(t.y0)/t.scale
	x1, y1 := float64(t.x0+t.w)/t.scale, float64(t.y0+t.h)/t.scale
	t.cracks.build(t.opt.Seed, x0-margin, y0-margin, x1+margin, y1+margin)
	pixel := float32(1 / t.scale)
	for y := range t.h {
		yMM := float32((float64(t.y0+y) + 0.5) / t.scale)
		for x := range t.w {
			xMM := float32((float64(t.x0+x) + 0.5) / t.scale)
			d, edge := t.cracks.at(xMM+t.shiftX[y]+t.crackX[y], yMM+t.shiftY[x]+t.crackY[x])
			if d > 0.1+pixel {
				continue
			}
			strength := float32(mix(edge)>>40) / (1 << 24)
			if strength < 0.45 {
				continue
			}
			wide := 0.1 * (strength - 0.3)
			// A crack thinner than a pixel darkens it partly.
			reach := max(wide, pixel)
			open := (1 - d/reach) * min(wide/pixel*1.5, 1)
			if open <= 0 {
				continue
			}
			k := y*t.side + x
			t.relief[k] -= 0.05 * open
			dark := 1 - 0.6*open
			t.pix[3*k] *= dark
			t.pix[3*k+1] *= dark
			t.pix[3*k+2] *= dark
		}
	}
}

// develop photographs the tile: light from the upper left, varnish, fall-off towards the corners, noise.
func (t *tile) develop() {
	x1, y1 := t.x0+t.w-tileFrame, t.y0+t.h-tileFrame
	tone, black := [3]float32{1, 1, 1}, [3]float32{}
	if !t.opt.Fresh {
		tone, black = [3]float32{0.86, 0.80, 0.66}, [3]float32{0.006, 0.0045, 0.003}
	}
	grey := t.out.Channels == 1
	key := mix(t.opt.Seed ^ 0x7061696e74)
	slope := float32(0.5 * t.scale)
	cx, cy := float32(t.out.Width)/2, float32(t.out.Height)/2
	corner := 1 / (cx*cx + cy*cy)
	row := t.row
	for y := t.y0 + tileFrame; y < y1; y++ {
		j := y - t.y0
		n := 0
		var bits uint64
		for x := t.x0 + tileFrame; x < x1; x++ {
			k := j*t.side + x - t.x0
			gx := (t.relief[k+1] - t.relief[k-1]) * slope
			gy := (t.relief[k+t.side] - t.relief[k-t.side]) * slope
			// Lambert's law for a lamp at the upper left, 45° high, relative to flat paint, softened by ambient light.
			shade := (0.5*(gx+gy) + 0.707) / (0.707 * float32(math.Sqrt(float64(1+gx*gx+gy*gy))))
			shade = 0.3 + 0.7*min(max(shade, 0), 2)
			dx, dy := float32(x)-cx, float32(y)-cy
			shade *= 1 - 0.14*(dx*dx+dy*dy)*corner - 0.05*(dx+dy)/(cx+cy)
			var l [3]float32
			for c := range l {
				l[c] = t.pix[3*k+c]*shade*tone[c] + black[c]
			}
			values := l[:]
			if grey {
				l[0] = luma(l[:], 3)
				values = l[:1]
			}
			if t.normals != nil {
				bits = mix(key ^ uint64(y)<<32 ^ uint64(x))
			}
			for _, v := range values {
				if t.normals != nil {
					v = min(max(v, 0), 1)
					v += t.normals[bits&0xffff] * float32(math.Sqrt(float64(1.2e-4*v+1.6e-7)))
					bits >>= 16
				}
				row[n] = v
				n++
			}
		}
		t.curve.encodeAt(t.out, (y*t.out.Width+t.x0+tileFrame)*t.out.Channels, row[:n])
	}
}
