//go:build goexperiment.simd && amd64

package network

import "unsafe"

// pairs256 computes a row of four channels in blocks of 16 cells. Products of unsigned activations and signed weights
// are added in pairs in 16 bits (vpmaddubsw), then over a group of taps, still in 16 bits, and only then in 32 bits
// (vpmaddwd) to the sums of the block; sizes holds the number of taps of each of the groups. shared, apart and raw are
// those of job.
//
//go:noescape
func pairs256(dst, src unsafe.Pointer, taps, weights, sizes *int32, groups int, sums unsafe.Pointer,
	bias, shift *[4]int32, add, top int32, blocks int, shared unsafe.Pointer, apart int, raw bool)

// convolve256 computes a row of four channels with AVX2, as convolvePlain does. It is in assembly, because the compiler
// spills loop-carried vectors, and each group would load and store all its sums and expanded weights.
func convolve256(j *job) {
	p := j.pack
	memory := unsafe.Pointer(unsafe.SliceData(j.memory))
	pairs256(unsafe.Add(memory, j.dst), memory, unsafe.SliceData(j.taps), unsafe.SliceData(p.weights),
		unsafe.SliceData(p.sizes), len(p.sizes), j.aligned(), &p.bias, &p.shift, j.add, j.top, j.blocks,
		unsafe.Pointer(unsafe.SliceData(j.shared)), j.apart, j.raw)
}
