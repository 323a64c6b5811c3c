package cpu

import (
	"context"
	"math"

	"blik/processing"
)

// lift copies a tile out of a plane, into rows without padding.
func lift[T sample](dst, src []T, stride int, r processing.Tile) {
	for y := range r.H {
		copy(dst[y*r.W:(y+1)*r.W], src[(r.Y+y)*stride+r.X:])
	}
}

// lower is the inverse of lift.
func lower[T sample](dst, src []T, stride int, r processing.Tile) {
	for y := range r.H {
		copy(dst[(r.Y+y)*stride+r.X:][:r.W], src[y*r.W:(y+1)*r.W])
	}
}

// cutout is a tile lifted out of its planes.
type cutout struct {
	w, h int
	// p are the samples, state the State values.
	p     []float32
	state []uint8
}

// onTiles lifts each tile out of src and state and calls f with its number; the samples go to dst where f says so.
func (b *Backend) onTiles(ctx context.Context, tiles []processing.Tile, dst, src, state processing.Plane,
	f func(t *worker, i int, c *cutout) (changed bool)) error {
	d, from, s := dst.(*plane), src.(*plane), state.(*plane)
	return b.each(ctx, len(tiles), func(t *worker, i int) {
		r := tiles[i]
		c := &cutout{w: r.W, h: r.H, p: take[float32](t, r.W*r.H), state: take[uint8](t, r.W*r.H)}
		lift(c.p, from.data.F32, from.w, r)
		lift(c.state, s.data.U8, s.w, r)
		if f(t, i, c) {
			lower(d.data.F32, c.p, d.w, r)
		}
	})
}

// hole lists the unknown pixels of a tile, those with even x + y first.
type hole struct {
	w, h  int
	known int
	index []int32
}

func holeOf(t *worker, state []uint8, w, h int) hole {
	o := hole{w: w, h: h}
	for _, s := range state {
		if s == processing.StateKnown {
			o.known++
		}
	}
	o.index = take[int32](t, len(state)-o.known)[:0]
	for parity := range 2 {
		for y := range h {
			row := state[y*w : (y+1)*w]
			for x := (y + parity) & 1; x < w; x += 2 {
				if row[x] != processing.StateKnown {
					o.index = append(o.index, int32(y*w+x))
				}
			}
		}
	}
	return o
}

// around returns the sum over the neighbours of pixel i and their number.
func (o *hole) around(p []float32, i int) (sum float32, n int) {
	x, y := i%o.w, i/o.w
	if x > 0 && y > 0 && x < o.w-1 && y < o.h-1 {
		return (p[i-1] + p[i+1]) + (p[i-o.w] + p[i+o.w]), 4
	}
	var l, r, u, d float32
	if x > 0 {
		l = p[i-1]
		n++
	}
	if x < o.w-1 {
		r = p[i+1]
		n++
	}
	if y > 0 {
		u = p[i-o.w]
		n++
	}
	if y < o.h-1 {
		d = p[i+o.w]
		n++
	}
	return (l + r) + (u + d), n
}

// reciprocals of the possible numbers of neighbours; a tile of one pixel has none.
func reciprocals() [5]float32 { return [5]float32{0, 1, 1.0 / 2, 1.0 / 3, 1.0 / 4} }

// Convolve fills the unknown pixels by normalised convolution.
func (b executor) Convolve(ctx context.Context, op processing.Convolve) error {
	return b.onTiles(ctx, op.Tiles, op.Dst, op.Dst, op.State, func(t *worker, i int, c *cutout) bool {
		g := gaussianWeights(t, op.Sigmas[i], max(c.w, c.h))
		value, weight := take[float32](t, c.w*c.h), take[float32](t, c.w*c.h)
		for y := range c.h {
			if t.stopped() {
				return false
			}
			for x := range c.w {
				var v, m float32
				for u := max(0, x-len(g)+1); u < min(c.w, x+len(g)); u++ {
					if c.state[y*c.w+u] == processing.StateKnown {
						k := g[abs(x-u)]
						v += float32(k * c.p[y*c.w+u])
						m += k
					}
				}
				value[y*c.w+x], weight[y*c.w+x] = v, m
			}
		}
		for y := range c.h {
			if t.stopped() {
				return false
			}
			for x := range c.w {
				if c.state[y*c.w+x] == processing.StateKnown {
					continue
				}
				var v, m float32
				for u := max(0, y-len(g)+1); u < min(c.h, y+len(g)); u++ {
					k := g[abs(y-u)]
					v += float32(k * value[u*c.w+x])
					m += float32(k * weight[u*c.w+x])
				}
				if m > 0 {
					c.p[y*c.w+x] = v / m
				}
			}
		}
		return true
	})
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

// gaussianWeights returns exp(−d²/2σ²) for d = 0, 1, 2… up to ⌈6σ⌉, at most most−1.
func gaussianWeights(t *worker, sigma float64, most int) []float32 {
	g := take[float32](t, int(min(math.Ceil(6*sigma), float64(most-1)))+1)
	for d := range g {
		g[d] = float32(math.Exp(-float64(d*d) / (2 * sigma * sigma)))
	}
	return g
}

// Harmonic solves Laplace's equation where state is not known.
func (b executor) Harmonic(ctx context.Context, op processing.Harmonic) error {
	return b.onTiles(ctx, op.Tiles, op.Dst, op.Dst, op.State, func(t *worker, i int, c *cutout) bool {
		return b.harmonic(t, [][]float32{c.p}, c.state, c.w, c.h, op.Sweeps[i], op.Omegas[i])
	})
}

// harmonic solves a tile in several planes. It returns false if there is nothing to write back.
func (b *Backend) harmonic(t *worker, planes [][]float32, state []uint8, w, h, sweeps int, omega float32) bool {
	t.grid.Reset(b.level, state, w, h, false)
	if n := t.grid.Pixels(); n == 0 || n == len(state) {
		return false
	}
	for _, p := range planes {
		pullPush(t, p, state, w, h)
		if !t.grid.Harmonic(p, omega, sweeps, t.stopped) {
			return false
		}
	}
	return true
}

// pullPush fills the unknown pixels with the mean of the known ones in the smallest 2ᵏ × 2ᵏ block around them that has
// any.
func pullPush(t *worker, p []float32, state []uint8, w, h int) {
	if w == 1 && h == 1 {
		return
	}
	cw, ch := (w+1)/2, (h+1)/2
	coarse, cs := take[float32](t, cw*ch), take[uint8](t, cw*ch)
	missing := false
	for y := range ch {
		means, states := coarse[y*cw:(y+1)*cw], cs[y*cw:(y+1)*cw]
		x := 0
		if 2*y+1 < h {
			s0, s1 := state[2*y*w:(2*y+1)*w], state[(2*y+1)*w:(2*y+2)*w]
			p0, p1 := p[2*y*w:(2*y+1)*w], p[(2*y+1)*w:(2*y+2)*w]
			for ; 2*x+1 < w; x++ {
				i := 2 * x
				if s0[i]|s0[i+1]|s1[i]|s1[i+1] != processing.StateKnown {
					means[x], states[x] = knownMean(p, state, w, h, x, y)
					missing = missing || states[x] != processing.StateKnown
					continue
				}
				means[x], states[x] = ((p0[i]+p1[i+1])+(p0[i+1]+p1[i]))/4, processing.StateKnown
			}
		}
		for ; x < cw; x++ {
			means[x], states[x] = knownMean(p, state, w, h, x, y)
			missing = missing || states[x] != processing.StateKnown
		}
	}
	if missing {
		pullPush(t, coarse, cs, cw, ch)
	}
	for y := range h {
		row, known, means := p[y*w:(y+1)*w], state[y*w:(y+1)*w], coarse[y/2*cw:]
		for x, s := range known {
			if s != processing.StateKnown {
				row[x] = means[x/2]
			}
		}
	}
}

// knownMean returns the mean of the known pixels of a block of 2 × 2. Diagonal pairs are added first, so that a
// transposed picture gives the same sum.
func knownMean(p []float32, state []uint8, w, h, x, y int) (float32, uint8) {
	var v [4]float32
	n := 0
	for j := range 4 {
		u, z := 2*x+j&1, 2*y+j>>1
		if u < w && z < h && state[z*w+u] == processing.StateKnown {
			v[j] = p[z*w+u]
			n++
		}
	}
	if n == 0 {
		return 0, processing.StateUnclipped
	}
	return ((v[0] + v[3]) + (v[1] + v[2])) / float32(n), processing.StateKnown
}

// Biharmonic solves Δ²u = 0 where state is not known.
func (b executor) Biharmonic(ctx context.Context, op processing.Biharmonic) error {
	return b.onTiles(ctx, op.Tiles, op.Dst, op.Dst, op.State, func(t *worker, i int, c *cutout) bool {
		o := holeOf(t, c.state, c.w, c.h)
		if o.known == 0 || o.known == len(c.p) {
			return false
		}
		q, laplacian := take[float32](t, len(c.p)), take[float32](t, len(c.p))
		copy(q, c.p)
		if !o.relaxBiharmonic(t, c.p, laplacian, op.Sweeps[i], op.Omega, false) ||
			!o.relaxBiharmonic(t, q, laplacian, op.Sweeps[i], op.Omega, true) {
			return false
		}
		for j := range c.p {
			if c.state[j] != processing.StateKnown {
				c.p[j] = (c.p[j] + q[j]) / 2
			}
		}
		return true
	})
}

// relaxBiharmonic relaxes the pixels of the hole towards the least sum of squared Laplacians, which it keeps in lap. It
// returns false if it was stopped.
func (o *hole) relaxBiharmonic(t *worker, p, lap []float32, sweeps int, omega float32, across bool) bool {
	w, h := o.w, o.h
	for i := range lap {
		sum, n := o.around(p, i)
		lap[i] = sum - float32(float32(n)*p[i])
	}
	// Pixels of a class are at least three apart in x or y, so that none changes a Laplacian that another reads.
	var classes [9][]int32
	for _, j := range o.index {
		x, y := int(j)%w, int(j)/w
		k := y%3*3 + x%3
		if across {
			k = x%3*3 + y%3
		}
		classes[k] = append(classes[k], j)
	}
	for range sweeps {
		if t.stopped() {
			return false
		}
		for _, class := range classes {
			for _, j := range class {
				i := int(j)
				sum, n := o.around(lap, i)
				if n == 0 {
					continue
				}
				k := float32(n)
				step := float32(omega * ((float32(k*lap[i]) - sum) / float32(float32(k*k)+k)))
				p[i] += step
				lap[i] -= float32(k * step)
				x, y := i%w, i/w
				if x > 0 {
					lap[i-1] += step
				}
				if x < w-1 {
					lap[i+1] += step
				}
				if y > 0 {
					lap[i-w] += step
				}
				if y < h-1 {
					lap[i+w] += step
				}
			}
		}
	}
	return true
}
