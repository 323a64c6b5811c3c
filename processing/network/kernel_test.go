package network

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"blik/internal/simd"
)

// extremes returns bytes, many of which are the smallest or the largest.
func extremes(r *rand.Rand, n, most int) []uint8 {
	s := make([]uint8, n)
	kind := r.IntN(3)
	for i := range s {
		switch {
		case kind == 0 || r.IntN(4) == 0:
			s[i] = uint8(r.IntN(most + 1))
		case kind == 1 || r.IntN(2) == 0:
			s[i] = uint8(most)
		}
	}
	return s
}

// All kernels compute the same row of four channels, for any number of taps and blocks, at any position, with
// activations and weights up to the limits.
func TestConvolveKernels(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 11))
		var quads []quad
		for range r.IntN(30) {
			q := quad{tap: tap{block: r.IntN(5), column: r.IntN(19) - 9}}
			for i := range q.weights {
				q.weights[i] = []int8{-127, 127, 0, int8(r.IntN(255) - 127)}[r.IntN(4)]
			}
			quads = append(quads, q)
		}
		var bias, shift [4]int32
		for o := range bias {
			bias[o], shift[o] = int32(r.IntN(1<<20)-1<<19), int32(r.IntN(14))
		}
		width := 1 + r.IntN(130)
		segment := 4 * (width + 100)
		memory := aligned(16 + 8*segment)[r.IntN(4)*4:]
		for i, v := range extremes(r, 6*segment, Top) {
			memory[i] = int8(v)
		}
		add, top := int32(r.IntN(200)), []int32{Top, 255}[r.IntN(2)]
		var want []int8
		for _, level := range simd.Levels() {
			k := kernelsOf(level)
			p := pack{bias: bias, shift: shift}
			list := slices.Clone(quads)
			if k.grouped {
				list, p.sizes = group(list)
			}
			p.add(list)
			j := &job{memory: slices.Clone(memory), pack: &p, dst: 6 * segment, blocks: (width + k.block - 1) / k.block,
				add: add, top: top}
			for _, q := range p.taps {
				j.taps = append(j.taps, int32(q.block*segment+4*(20+q.column)))
			}
			k.convolve(j)
			got := j.memory[j.dst : j.dst+4*width]
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, %v: another row than with plain kernels", seed, level)
			}
			if !slices.Equal(j.memory[:6*segment], memory[:6*segment]) {
				t.Fatalf("seed %d, %v: the input was changed", seed, level)
			}
		}
	}
}

// All kernels double and halve rows of cells, and take results apart, in the same way, for any lengths.
func TestCellKernels(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 18))
	for n := range 70 {
		src, lower := make([]uint32, 2*n), make([]uint32, 2*n)
		for i := range src {
			src[i], lower[i] = r.Uint32(), r.Uint32()
			if r.IntN(2) == 0 {
				src[i] &= 0xff // equal logits of kinds
			}
			src[i], lower[i] = src[i]&[]uint32{^uint32(0), 0x7f7f7f7f, 0xffff}[r.IntN(3)], lower[i]&0x7f7f7f7f
		}
		upper := make([]uint32, 2*n)
		for i, v := range src {
			upper[i] = v & 0x7f7f7f7f
		}
		var doubled, halved []uint32
		var logits, kinds []uint8
		for i := range n {
			doubled = append(doubled, src[i/2])
			mean := uint32(0)
			for s := 0; s < 32; s += 8 {
				sum := upper[2*i]>>s&0xff + upper[2*i+1]>>s&0xff + lower[2*i]>>s&0xff + lower[2*i+1]>>s&0xff
				mean |= (sum + 2) / 4 << s
			}
			halved = append(halved, mean)
			v := src[i]
			logits = append(logits, uint8(v))
			kinds = append(kinds, KindOf([Outputs]int32{0, int32(v >> 8 & 0xff), int32(v >> 16 & 0xff), int32(v >> 24)}))
		}
		for _, level := range simd.Levels() {
			k := kernelsOf(level)
			got := make([]uint32, n)
			k.double(got, src[:(n+1)/2])
			if !slices.Equal(got, doubled) {
				t.Fatalf("%d cells, %v: doubled %v, want %v", n, level, got, doubled)
			}
			k.halve(got, upper, lower)
			if !slices.Equal(got, halved) {
				t.Fatalf("%d cells, %v: halved %v, want %v", n, level, got, halved)
			}
			for _, gotKinds := range [][]uint8{nil, make([]uint8, n)} {
				gotLogits := make([]uint8, n)
				k.outputs(gotLogits, gotKinds, src[:n])
				if !slices.Equal(gotLogits, logits) || gotKinds != nil && !slices.Equal(gotKinds, kinds) {
					t.Fatalf("%d cells, %v: logits %v, want %v; kinds %v, want %v", n, level, gotLogits, logits, gotKinds, kinds)
				}
			}
		}
	}
}

// The groups of all packs add up within 16 bits for any activations.
func TestGroups(t *testing.T) {
	t.Parallel()
	m := defaultModel(t)
	for _, level := range simd.Levels() {
		for i, n := range NewEngine(m, level).nodes {
			for b, p := range n.packed {
				wantGroups(t, fmt.Sprintf("%v, node %d, block %d", level, i, b), &p)
			}
		}
	}
}

// wantGroups checks the groups of a pack.
func wantGroups(t *testing.T, what string, p *pack) {
	t.Helper()
	k := 0
	for _, size := range p.sizes {
		var sums [16]int
		for range size {
			for o, w := range p.weights[4*k : 4*k+4] {
				for lane := range 4 {
					v := int(int8(w >> (8 * lane)))
					sums[4*o+lane/2*2] += max(v, 0)
					sums[4*o+lane/2*2+1] -= min(v, 0)
				}
			}
			k++
		}
		if most := slices.Max(sums[:]); most*Top > 1<<15-1 {
			t.Errorf("%s: a sum of %d", what, most*Top)
		}
	}
	if p.sizes != nil && k != len(p.taps) || len(p.weights) != 4*len(p.taps) {
		t.Errorf("%s: %d taps and %d weights in groups of %d", what, len(p.taps), len(p.weights), k)
	}
}

// All kernels of the input give the planes of the definition, for any width and samples.
func TestInputKernels(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 13))
		w, h := 1+r.IntN(80), 1+r.IntN(60)
		pic := Picture{extremes(r, w*h, 255), extremes(r, w*h, 255), extremes(r, w*h, 255), w, h}
		input := Planes(pic.Red, pic.Green, pic.Blue, w, h)
		from := r.IntN(input.W) &^ 1
		columns, rows := span{from, from + 1 + r.IntN(input.W-from)}, span{r.IntN(input.H), input.H}
		n := columns.to - columns.from
		segment := 4 * (n + 1 + 2*inputLanes)
		for _, level := range simd.Levels() {
			var p inputRows
			p.begin(kernelsOf(level), pic, rows, columns)
			dst := make([]int8, Inputs/4*segment)
			for y := rows.from; y < rows.to; y++ {
				p.pixelRow(dst, segment, y)
				for c := range Inputs {
					for x := range n {
						got, want := uint8(dst[c/4*segment+4*x+c%4]), input.row(c, y)[columns.from+x]
						if got != want {
							t.Fatalf("seed %d, %v: plane %d of pixel (%d, %d) is %d, want %d", seed, level, c, columns.from+x, y,
								got, want)
						}
					}
				}
			}
		}
	}
}
