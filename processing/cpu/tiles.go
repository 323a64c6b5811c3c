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

// hole lists the pixels of a tile that are not known, those with even x + y first.
type hole struct {
	w, h  int
	known int
	index []int32
	even  int
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
		if parity == 0 {
			o.even = len(o.index)
		}
	}
	return o
}

// around returns the sum over the neighbours of pixel i and how many there are.
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

// convolve fills the pixels that are not known by normalised convolution.
func (b *Backend) convolve(ctx context.Context, op processing.Convolve) error {
	d, s := op.Dst.(*plane), op.State.(*plane)
	return b.each(ctx, len(op.Tiles), func(t *worker, i int) {
		r := op.Tiles[i]
		n := r.W * r.H
		p, st := take[float32](t, n), take[uint8](t, n)
		lift(p, d.data.F32, d.w, r)
		lift(st, s.data.U8, s.w, r)
		g := bell(t, op.Sigmas[i], max(r.W, r.H))
		value, weight := take[float32](t, n), take[float32](t, n)
		for y := range r.H {
			if t.stopped() {
				return
			}
			for x := range r.W {
				var v, m float32
				for u := max(0, x-len(g)+1); u < min(r.W, x+len(g)); u++ {
					if st[y*r.W+u] == processing.StateKnown {
						k := g[abs(x-u)]
						v += float32(k * p[y*r.W+u])
						m += k
					}
				}
				value[y*r.W+x], weight[y*r.W+x] = v, m
			}
		}
		for y := range r.H {
			if t.stopped() {
				return
			}
			for x := range r.W {
				if st[y*r.W+x] == processing.StateKnown {
					continue
				}
				var v, m float32
				for u := max(0, y-len(g)+1); u < min(r.H, y+len(g)); u++ {
					k := g[abs(y-u)]
					v += float32(k * value[u*r.W+x])
					m += float32(k * weight[u*r.W+x])
				}
				if m > 0 {
					p[y*r.W+x] = v / m
				}
			}
		}
		lower(d.data.F32, p, d.w, r)
	})
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

// bell returns exp(−d²/2σ²) for d = 0, 1, 2… up to ⌈6σ⌉, at most most−1.
func bell(t *worker, sigma float64, most int) []float32 {
	g := take[float32](t, int(min(math.Ceil(6*sigma), float64(most-1)))+1)
	for d := range g {
		g[d] = float32(math.Exp(-float64(d*d) / (2 * sigma * sigma)))
	}
	return g
}

// harmonic solves Laplace's equation where state is not known.
func (b *Backend) harmonic(ctx context.Context, op processing.Harmonic) error {
	d, s := op.Dst.(*plane), op.State.(*plane)
	return b.each(ctx, len(op.Tiles), func(t *worker, i int) {
		r := op.Tiles[i]
		n := r.W * r.H
		p, st := take[float32](t, n), take[uint8](t, n)
		lift(p, d.data.F32, d.w, r)
		lift(st, s.data.U8, s.w, r)
		o := holeOf(t, st, r.W, r.H)
		if o.known == 0 || o.known == n {
			return
		}
		pullPush(p, st, r.W, r.H)
		part, omega := reciprocals(), op.Omegas[i]
		for range op.Sweeps[i] {
			if t.stopped() {
				return
			}
			for _, j := range o.index {
				sum, k := o.around(p, int(j))
				p[j] += float32(omega * (float32(sum*part[k]) - p[j]))
			}
		}
		lower(d.data.F32, p, d.w, r)
	})
}

// pullPush fills the pixels that are not known with the mean of the known ones of the smallest 2ᵏ × 2ᵏ block around
// them that has any.
func pullPush(p []float32, state []uint8, w, h int) {
	if w == 1 && h == 1 {
		return
	}
	cw, ch := (w+1)/2, (h+1)/2
	coarse, cs := make([]float32, cw*ch), make([]uint8, cw*ch)
	missing := false
	for y := range ch {
		for x := range cw {
			var row [2]float32
			var n [2]int
			// Diagonal pairs are added first, so that a transposed picture gives the same sum.
			var v [4]float32
			for j := range 4 {
				u, z := 2*x+j&1, 2*y+j>>1
				if u < w && z < h && state[z*w+u] == processing.StateKnown {
					v[j] = p[z*w+u]
					n[j&1^j>>1]++
				}
			}
			row[0], row[1] = v[0]+v[3], v[1]+v[2]
			if k := n[0] + n[1]; k > 0 {
				coarse[y*cw+x] = (row[0] + row[1]) / float32(k)
			} else {
				cs[y*cw+x] = processing.StateUnclipped
				missing = true
			}
		}
	}
	if missing {
		pullPush(coarse, cs, cw, ch)
	}
	for y := range h {
		for x := range w {
			if i := y*w + x; state[i] != processing.StateKnown {
				p[i] = coarse[y/2*cw+x/2]
			}
		}
	}
}

// biharmonic solves Δ²u = 0 where state is not known.
func (b *Backend) biharmonic(ctx context.Context, op processing.Biharmonic) error {
	d, s := op.Dst.(*plane), op.State.(*plane)
	return b.each(ctx, len(op.Tiles), func(t *worker, i int) {
		r := op.Tiles[i]
		n := r.W * r.H
		p, st := take[float32](t, n), take[uint8](t, n)
		lift(p, d.data.F32, d.w, r)
		lift(st, s.data.U8, s.w, r)
		o := holeOf(t, st, r.W, r.H)
		if o.known == 0 || o.known == n {
			return
		}
		q := take[float32](t, n)
		copy(q, p)
		lap := take[float32](t, n)
		if !o.bend(t, p, lap, op.Sweeps[i], op.Omega, false) || !o.bend(t, q, lap, op.Sweeps[i], op.Omega, true) {
			return
		}
		for j := range p {
			if st[j] != processing.StateKnown {
				p[j] = (p[j] + q[j]) / 2
			}
		}
		lower(d.data.F32, p, d.w, r)
	})
}

// bend relaxes the pixels of the hole towards the least sum of squared Laplacians, which it keeps in lap. It returns
// false when it was stopped.
func (o *hole) bend(t *worker, p, lap []float32, sweeps int, omega float32, across bool) bool {
	w, h := o.w, o.h
	for i := range lap {
		sum, n := o.around(p, i)
		lap[i] = sum - float32(float32(n)*p[i])
	}
	// Pixels of a class are at least three apart in x or y, so that none sees another's Laplacian.
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
				x, y := i%w, i/w
				var l, r, u, d float32
				n := 0
				if x > 0 {
					l = lap[i-1]
					n++
				}
				if x < w-1 {
					r = lap[i+1]
					n++
				}
				if y > 0 {
					u = lap[i-w]
					n++
				}
				if y < h-1 {
					d = lap[i+w]
					n++
				}
				if n == 0 {
					continue
				}
				k := float32(n)
				step := float32(omega * ((float32(k*lap[i]) - ((l + r) + (u + d))) / float32(float32(k*k)+k)))
				p[i] += step
				lap[i] -= float32(k * step)
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

// detail writes the two finest bands of the starlet transform of the known pixels, 0 elsewhere.
func (b *Backend) detail(ctx context.Context, op processing.Detail) error {
	d, p, s := op.Dst.(*plane), op.Src.(*plane), op.State.(*plane)
	return b.each(ctx, len(op.Tiles), func(t *worker, i int) {
		r := op.Tiles[i]
		n := r.W * r.H
		fine, st := take[float32](t, n), take[uint8](t, n)
		lift(fine, p.data.F32, p.w, r)
		lift(st, s.data.U8, s.w, r)
		smooth, tmp := take[float32](t, n), take[float32](t, 2*n)
		copy(smooth, fine)
		for _, gap := range [2]int{1, 2} {
			if t.stopped() {
				return
			}
			smoothKnown(smooth, tmp, st, r.W, r.H, gap)
		}
		for j := range fine {
			if st[j] == processing.StateKnown {
				fine[j] -= smooth[j]
			} else {
				fine[j] = 0
			}
		}
		lower(d.data.F32, fine, d.w, r)
	})
}

// smoothKnown smooths the known pixels with [1 4 6 4 1] at the given gap, first along rows, then along columns, and divides by the
// weights that were met.
func smoothKnown(p, tmp []float32, state []uint8, w, h, gap int) {
	value, weight := tmp[:w*h], tmp[w*h:]
	taps := [5]float32{1, 4, 6, 4, 1}
	for y := range h {
		for x := range w {
			var v, m float32
			for k, c := range taps {
				u := x + (k-2)*gap
				if u >= 0 && u < w && state[y*w+u] == processing.StateKnown {
					v += float32(c * p[y*w+u])
					m += c
				}
			}
			value[y*w+x], weight[y*w+x] = v, m
		}
	}
	for y := range h {
		for x := range w {
			if state[y*w+x] != processing.StateKnown {
				continue
			}
			var v, m float32
			for k, c := range taps {
				u := y + (k-2)*gap
				if u >= 0 && u < h {
					v += float32(c * value[u*w+x])
					m += float32(c * weight[u*w+x])
				}
			}
			p[y*w+x] = v / m
		}
	}
}
