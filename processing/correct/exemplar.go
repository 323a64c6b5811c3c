package correct

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"blik/internal/simd"
	"blik/processing/internal/patch"

	"blik/processing"
)

// patchRadius is the radius of the patches that exemplar copies: squares of 2·patchRadius + 1 pixels.
const patchRadius = 4

// exemplarShare is how much of the fill comes from patches; the rest is the smooth fill. The two err in different
// places, so that their mean is closer to the hidden paint than either.
const exemplarShare = 0.5

// exemplarPatches is how many of the best patches are averaged: what they have in common is more likely to be right
// than what only one of them has.
const exemplarPatches = 8

// copiedTrust is the weight of a copied pixel in later comparisons.
const copiedTrust = 0.3

// exemplarSources is the largest number of sources that a patch is compared with before the best is refined.
const exemplarSources = 500

// sharedSources is the same for crowded spots.
const sharedSources = 60

// exemplar replaces invented pixels by patches of paint from the window. It goes from the rim inwards, as confidence
// dictates (Criminisi, Pérez & Toyama 2004), in steps of half a patch. A patch is compared by its known and copied
// pixels, and a little by the smooth fill in it, which keeps the colours of both sides apart. The mean of the best
// patches is copied, each weighted by how well it fits. It is shifted to the mean of the fill, and blends with its
// neighbours by weights that fall off to the edges.
func (s *site) exemplar(ctx context.Context) {
	w, ch := s.width(), len(s.pix)
	found := newFinder(s)
	if found == nil {
		s.method = processing.MethodSubtract
		return
	}
	q := &quilt{site: s, guide: make([][]float32, ch), sum: make([][]float32, ch),
		weight: make([]float32, len(s.filled)), trust: make([]float32, len(s.filled))}
	for i, made := range s.filled {
		q.trust[i] = 1 - made
	}
	for k, p := range s.pix {
		q.guide[k], q.sum[k] = slices.Clone(p), make([]float32, len(p))
	}
	last := int32(0) // offset from the last patch to its source
	for _, at := range q.centres() {
		if ctx.Err() != nil {
			return
		}
		x, y := int(at)%w, int(at)/w
		top := found.best(q.guide, q.trust, x, y, at+last)
		if len(top) > 0 {
			last = top[0].at - at
			q.paste(x, y, top)
		}
	}
	for i, made := range s.filled {
		if q.weight[i] == 0 || s.own[i] == free {
			continue
		}
		for k, p := range s.pix {
			p[i] += float32(exemplarShare * made * (q.sum[k][i]/q.weight[i] - p[i]))
		}
	}
	// That much grain came with the patches.
	s.copied = exemplarShare
}

// quilt is a site that patches are copied into.
type quilt struct {
	*site
	// guide is the fill with what was copied so far, trust the weight of its pixels in comparisons.
	guide [][]float32
	trust []float32
	// sum holds the copied values, each times its weight, and weight the sums of these.
	sum    [][]float32
	weight []float32
}

// centres returns the centres of the patches that hold invented pixels, from the rim inwards.
func (q *quilt) centres() []int32 {
	var centres []int32
	for y := 0; y < q.height(); y += patchRadius {
		for x := 0; x < q.width(); x += patchRadius {
			if q.touches(x, y) {
				centres = append(centres, int32(y*q.width()+x))
			}
		}
	}
	hidden := make([]int32, len(q.state))
	for i, state := range q.state {
		if state != processing.StateKnown {
			hidden[i] = 1
		}
	}
	rim := distances(nil, hidden, q.width(), math.MaxInt32)
	slices.SortStableFunc(centres, func(a, b int32) int { return cmp.Compare(rim[a], rim[b]) })
	return centres
}

// touches reports whether the patch around (x, y) holds invented pixels.
func (q *quilt) touches(x, y int) bool {
	w := q.width()
	for v := max(0, y-patchRadius); v <= min(q.height()-1, y+patchRadius); v++ {
		for u := max(0, x-patchRadius); u <= min(w-1, x+patchRadius); u++ {
			if q.filled[v*w+u] > 0.05 {
				return true
			}
		}
	}
	return false
}

// sourcesOf returns the centres of the patches that hold nothing but paint, ascending.
func sourcesOf(s *site) []int32 {
	w, h := s.width(), s.height()
	const side = 2*patchRadius + 1
	run := make([]int, w) // known pixels up to this row, in each column
	var out []int32
	for y := range h {
		across := 0
		for x := range w {
			if s.state[y*w+x] == processing.StateKnown {
				run[x]++
			} else {
				run[x] = 0
			}
			if run[x] >= side {
				across++
			} else {
				across = 0
			}
			if across >= side {
				out = append(out, int32((y-patchRadius)*w+x-patchRadius))
			}
		}
	}
	return out
}

// finder looks for the sources that fit a patch best.
type finder struct {
	*site
	stride int
	source []bool // by pixel
	// fine has steps of one pixel, coarse of stride, or of one if no source lies on that grid.
	fine, coarse         *patch.Places
	compare              *patch.Comparer
	patch                patch.Patch
	fineOffsets, offsets []int32
	top                  matches
	costs                [patch.Lanes]float32
}

// newFinder returns nil if there is no source.
func newFinder(s *site) *finder {
	w, h, sources := s.width(), s.height(), sourcesOf(s)
	if len(sources) == 0 {
		return nil
	}
	f := &finder{site: s, stride: 1, source: make([]bool, w*h), compare: patch.NewComparer(simd.Chosen())}
	for _, j := range sources {
		f.source[j] = true
	}
	most := exemplarSources
	if s.group.shared {
		most = sharedSources
	}
	for len(sources)/(f.stride*f.stride) > most {
		f.stride++
	}
	var coarse []int32
	for _, j := range sources {
		if int(j)%w%f.stride == 0 && int(j)/w%f.stride == 0 {
			coarse = append(coarse, j)
		}
	}
	step := f.stride
	if len(coarse) == 0 || len(coarse) == len(sources) {
		coarse, step = sources, 1
	}
	f.fine = patch.NewPlaces(s.pix, w, h, 1, nil)
	f.coarse = patch.NewPlaces(s.pix, w, h, step, coarse)
	return f
}

// best returns the sources that fit the patch around (x, y) best; it tries also first, if that is a source.
func (f *finder) best(guide [][]float32, trust []float32, x, y int, also int32) matches {
	w, h := f.width(), f.height()
	f.setPatch(guide, trust, x, y)
	f.fineOffsets = f.patch.Offsets(f.fine, h, f.fineOffsets)
	f.offsets = f.patch.Offsets(f.coarse, h, f.offsets)
	f.top = f.top[:0]
	// The neighbour of the last patch's source often fits (Barnes et al. 2009), and a low cost cuts the others short.
	if also >= 0 && int(also) < w*h && f.source[also] {
		f.try(f.fine, f.fine.At(also, 1), f.fineOffsets)
	}
	for _, g := range f.coarse.Groups() {
		f.try(f.coarse, g, f.offsets)
	}
	if f.stride > 1 && len(f.top) > 0 {
		bx, by := int(f.top[0].at)%w, int(f.top[0].at)/w
		u0, u1 := max(0, bx-f.stride+1), min(w, bx+f.stride)
		for v := max(0, by-f.stride+1); v < min(h, by+f.stride); v++ {
			for u := u0; u < u1; u++ {
				if !f.source[v*w+u] {
					continue
				}
				mask := uint16(0)
				for k, ok := range f.source[v*w+u : v*w+min(u+patch.Lanes, u1)] {
					if ok {
						mask |= 1 << k
					}
				}
				f.try(f.fine, f.fine.At(int32(v*w+u), mask), f.fineOffsets)
				u += patch.Lanes - 1
			}
		}
	}
	return f.top
}

// try compares the patch with the sources of a group.
func (f *finder) try(places *patch.Places, g patch.Group, offsets []int32) {
	limit := f.top.limit()
	f.compare.Costs(&f.costs, &f.patch, places, g, offsets, limit)
	for left := g.Mask; left != 0; left &= left - 1 {
		k := bits.TrailingZeros16(left)
		if v := f.costs[k]; v < limit {
			if j := places.Place(g, k); !f.top.has(j) {
				f.top = f.top.with(match{j, v})
				limit = f.top.limit()
			}
		}
	}
}

// setPatch sets the patch to compare to that around (x, y). Certain pixels come first, so that a bad fit shows early.
func (f *finder) setPatch(guide [][]float32, trust []float32, x, y int) {
	w, h := f.width(), f.height()
	f.patch.Reset(len(guide))
	const least, sure = 0.1, 0.75
	for _, certain := range []bool{true, false} {
		for v := max(0, y-patchRadius); v <= min(h-1, y+patchRadius); v++ {
			for u := max(0, x-patchRadius); u <= min(w-1, x+patchRadius); u++ {
				i := v*w + u
				if trust[i] >= sure != certain {
					continue
				}
				var p [4]float32
				for k := range guide {
					p[k] = guide[k][i]
				}
				f.patch.Add(u-x, v-y, &p, max(trust[i], least))
			}
		}
	}
}

// match is a source, the centre of its patch, and its cost.
type match struct {
	at   int32
	cost float32
}

// matches are the best sources so far, the best first; among equals, the one tried first.
type matches []match

// limit is the cost that another source must be below.
func (t matches) limit() float32 {
	if len(t) < exemplarPatches {
		return float32(math.Inf(1))
	}
	return t[len(t)-1].cost
}

func (t matches) has(at int32) bool {
	for i := range t {
		if t[i].at == at {
			return true
		}
	}
	return false
}

// with inserts a source whose cost is below the limit.
func (t matches) with(m match) matches {
	if len(t) < exemplarPatches {
		t = append(t, m)
	}
	k := len(t) - 1
	for ; k > 0 && t[k-1].cost > m.cost; k-- {
		t[k] = t[k-1]
	}
	t[k] = m
	return t
}

// paste adds the mean of the patches at (x, y), shifted to the mean of the guide there, and updates the guide.
func (q *quilt) paste(x, y int, top matches) {
	w, h := q.width(), q.height()
	const side = 2*patchRadius + 1
	var share [exemplarPatches]float32
	var all float32
	for i := range top {
		share[i] = 1 / (top[i].cost + top[0].cost + 1e-6)
		all += share[i]
	}
	var mean [side * side][4]float32
	var lift [4]float32
	n := float32(0)
	each := func(f func(i, at int)) {
		for v := max(0, y-patchRadius); v <= min(h-1, y+patchRadius); v++ {
			for u := max(0, x-patchRadius); u <= min(w-1, x+patchRadius); u++ {
				f(v*w+u, (v-y+patchRadius)*side+u-x+patchRadius)
			}
		}
	}
	each(func(i, at int) {
		from := i - (y*w + x)
		for k, p := range q.pix {
			var m float32
			for t := range top {
				m += float32(share[t] * p[int(top[t].at)+from])
			}
			mean[at][k] = m / all
			lift[k] += q.guide[k][i] - mean[at][k]
		}
		n++
	})
	each(func(i, at int) {
		if q.own[i] == free {
			return
		}
		a := float32(patchRadius+1-max(at%side-patchRadius, patchRadius-at%side)) / (patchRadius + 1)
		b := float32(patchRadius+1-max(at/side-patchRadius, patchRadius-at/side)) / (patchRadius + 1)
		hat := a * b
		q.weight[i] += float32(hat)
		for k := range q.pix {
			q.sum[k][i] += float32(hat * (mean[at][k] + lift[k]/n))
			q.guide[k][i] += float32(q.filled[i] * (q.sum[k][i]/q.weight[i] - q.guide[k][i]))
		}
		q.trust[i] = max(q.trust[i], copiedTrust)
	})
}
