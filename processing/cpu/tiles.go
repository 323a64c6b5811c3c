package cpu

import (
	"context"

	"blik/processing"
)

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
		c := &cutout{w: r.W, h: r.H, p: scratch[float32](t, r.W*r.H), state: scratch[uint8](t, r.W*r.H)}
		processing.CutTile(c.p, from.data.F32, from.w, r)
		processing.CutTile(c.state, s.data.U8, s.w, r)
		if f(t, i, c) {
			processing.PasteTile(d.data.F32, c.p, d.w, r)
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
	o.index = scratch[int32](t, len(state)-o.known)[:0]
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
	coarse, cs := scratch[float32](t, cw*ch), scratch[uint8](t, cw*ch)
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
