//go:build goexperiment.simd && amd64

package network

import (
	"unsafe"

	"blik/internal/simd"
)

func kernelsOf(level simd.Level) *kernels {
	if level == simd.Plain {
		return plainKernels()
	}
	k := &kernels{block: 32, darkest: darkest256, cells: cells256, exchange: exchange256, factors: factors256,
		planes: planes256, double: double256, halve: halve256, outputs: outputs256}
	switch level {
	case simd.AVX2, simd.AVX512:
		k.block, k.convolve, k.products, k.grouped = 16, convolve256, 2*productsOfPart, true
	case simd.AVXVNNI:
		k.block, k.convolve, k.products = 24, convolveDots(dots256), productsOfPart*4/3
	case simd.VNNI:
		k.convolve, k.products = convolveDots(dots512), productsOfPart
	}
	return k
}

// ones is a vector of 16-bit ones. It is never written.
var ones = [32]int16{
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
}

// aligned returns the first address in j.sums that is aligned to a cache line.
func (j *job) aligned() unsafe.Pointer {
	p := unsafe.Pointer(&j.sums)
	return unsafe.Add(p, -int(uintptr(p))&(line-1))
}
