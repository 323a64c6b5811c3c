//go:build goexperiment.simd && amd64

package network

import (
	"unsafe"

	"blik/internal/simd"
)

// kernelsOf returns the kernels of a level.
func kernelsOf(level simd.Level) *kernels {
	switch level {
	case simd.AVX512:
		return &kernels{lanes: 16, convolve: convolve512}
	case simd.AVX2:
		return &kernels{lanes: 8, convolve: convolve256}
	}
	return plainKernels()
}

// ones is a vector of 16-bit ones. It is never written.
var ones = [32]int16{
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
}

// aligned is the first cache line of j.sums.
func (j *job) aligned() unsafe.Pointer {
	p := unsafe.Pointer(&j.sums)
	return unsafe.Add(p, -int(uintptr(p))&(line-1))
}
