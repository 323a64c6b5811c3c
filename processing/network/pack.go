package network

import (
	"slices"
	"unsafe"
)

// tap locates the four channels that one step of a convolution multiplies: a block of the node From[source], a row of
// weights, and a column of the source relative to that of the result.
type tap struct{ source, block, row, column int }

// pack is the work of a convolution for four output channels: a list of taps, each with four weights per channel.
type pack struct {
	taps []tap
	// sizes holds the number of taps of each group in which the sums of two adjacent products fit into 16 bits; nil for
	// kernels that need no groups.
	sizes []int32
	// weights are in the order tap, output; each packs the bytes of four inputs.
	weights []int32
	// bias includes half of the divisor, for rounding.
	bias  [4]int32
	shift [4]int32
}

// pairLimit bounds the sum of the positive, and of the negative, weights of a pair of inputs in a group: 127 · 258 fits
// into 16 bits.
const pairLimit = 258

// quad is a tap with weights for four outputs and four inputs.
type quad struct {
	tap
	weights [16]int8
}

// load returns the sums of the positive and of the negative weights, for each output and pair of inputs.
func (q *quad) load() (sums [16]int) {
	for i, w := range q.weights {
		if w > 0 {
			sums[i/2*2] += int(w)
		} else {
			sums[i/2*2+1] -= int(w)
		}
	}
	return sums
}

// packs returns the packed work of a node's layer.
func (n *node) packs(nodes []node, grouped bool) []pack {
	l := n.layer
	side := l.Kind.Side()
	list := make([]pack, (l.Out+3)/4)
	for b := range list {
		p := &list[b]
		var quads []quad
		for s, first := range n.first {
			count := nodes[n.from[s]].channels(nodes)
			for block := range (count + 3) / 4 {
				for row := range side {
					for column := range side {
						q := quad{tap: tap{s, block, row, l.Dilation*column - l.reach()}}
						for o := range 4 {
							for i := range min(4, count-4*block) {
								q.weights[4*o+i] = l.weight(4*b+o, first+4*block+i, row, column)
							}
						}
						if q.weights != [16]int8{} {
							quads = append(quads, q)
						}
					}
				}
			}
		}
		if grouped {
			quads, p.sizes = group(quads)
		}
		p.add(quads)
		for o := range min(4, l.Out-4*b) {
			p.shift[o] = int32(l.Shift[4*b+o])
			p.bias[o] = l.Bias[4*b+o] + int32(1)<<p.shift[o]>>1
		}
	}
	return list
}

// channels returns the number of channels of a node; a repeated one has as many as its source.
func (n *node) channels(nodes []node) int {
	switch n.kind {
	case input:
		return Inputs
	case convolve, pool:
		return n.layer.Out
	}
	return nodes[n.from[0]].channels(nodes)
}

// weight returns the weight of an output for an input, 0 if it has none.
func (l *Layer) weight(out, in, row, column int) int8 {
	if out >= l.Out {
		return 0
	}
	side := l.Kind.Side()
	return l.Weights[((out*l.In+in)*side+row)*side+column]
}

// add appends taps.
func (p *pack) add(quads []quad) {
	for _, q := range quads {
		p.taps = append(p.taps, q.tap)
		for o := 0; o < 16; o += 4 {
			p.weights = append(p.weights, int32(uint32(uint8(q.weights[o]))|uint32(uint8(q.weights[o+1]))<<8|
				uint32(uint8(q.weights[o+2]))<<16|uint32(uint8(q.weights[o+3]))<<24))
		}
	}
}

// group sorts taps into groups, largest weights first, each into the group that it fills best, and returns the sizes of
// the groups.
func group(quads []quad) (sorted []quad, sizes []int32) {
	type bin struct {
		quads []quad
		sums  [16]int
	}
	most := func(q *quad) int {
		sums := q.load()
		return slices.Max(sums[:])
	}
	slices.SortStableFunc(quads, func(a, b quad) int { return most(&b) - most(&a) })
	var bins []bin
	for _, q := range quads {
		load := q.load()
		best, fullest := -1, -1
		for i := range bins {
			top := 0
			for k, s := range bins[i].sums {
				top = max(top, s+load[k])
			}
			if top <= pairLimit && top > fullest {
				best, fullest = i, top
			}
		}
		if best < 0 {
			best = len(bins)
			bins = append(bins, bin{})
		}
		bins[best].quads = append(bins[best].quads, q)
		for k, v := range load {
			bins[best].sums[k] += v
		}
	}
	// The number of taps changes rarely, so that the processor predicts the ends of most groups.
	slices.SortStableFunc(bins, func(a, b bin) int { return len(b.quads) - len(a.quads) })
	for _, b := range bins {
		sorted = append(sorted, b.quads...)
		sizes = append(sizes, int32(len(b.quads)))
	}
	return sorted, sizes
}

// line is the size of a cache line, and of the largest vector.
const line = 64

// aligned returns n bytes that start at a cache line.
func aligned(n int) []int8 {
	s := make([]int8, n+line)
	shift := -int(uintptr(unsafe.Pointer(unsafe.SliceData(s)))) & (line - 1)
	return s[shift : shift+n : shift+n]
}
