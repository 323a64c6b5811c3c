//go:build goexperiment.simd && amd64

package network

import "unsafe"

// productsOfPart is the number of blocks of 32 cells times taps in a part of a row: the sources and weights of a layer
// with 48 input and output channels then take about 40 KB.
const productsOfPart = 108 * blocksOfPart

// dots512 computes a row of four channels in blocks of 32 cells, from n taps. One instruction (vpdpbusd) adds four
// products of bytes to a 32-bit sum; the sums of three blocks stay in registers. shared, apart and raw are those of
// job.
//
//go:noescape
func dots512(dst, src unsafe.Pointer, taps, weights *int32, n int, bias, shift *[4]int32, add, top int32, blocks int,
	shared unsafe.Pointer, apart int, raw bool)

// dots256 is dots512 with vectors of 256 bits and blocks of 24 cells, on processors without AVX-512.
//
//go:noescape
func dots256(dst, src unsafe.Pointer, taps, weights *int32, n int, bias, shift *[4]int32, add, top int32, blocks int,
	shared unsafe.Pointer, apart int, raw bool)

// convolveDots returns a function that computes a row of four channels as convolvePlain does, with dots512 or dots256.
// They are in assembly, because Go's vector package lacks this instruction.
func convolveDots(dots func(dst, src unsafe.Pointer, taps, weights *int32, n int, bias, shift *[4]int32, add, top int32,
	blocks int, shared unsafe.Pointer, apart int, raw bool)) func(j *job) {
	return func(j *job) {
		p := j.pack
		memory := unsafe.Pointer(unsafe.SliceData(j.memory))
		dots(unsafe.Add(memory, j.dst), memory, unsafe.SliceData(j.taps), unsafe.SliceData(p.weights), len(j.taps),
			&p.bias, &p.shift, j.add, j.top, j.blocks, unsafe.Pointer(unsafe.SliceData(j.shared)), j.apart, j.raw)
	}
}
