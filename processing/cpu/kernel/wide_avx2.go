//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels for running sums of squares with 256-bit vectors, like those of sums_avx2.go.

func load4x64(p unsafe.Pointer, at int) archsimd.Uint64x4 {
	return archsimd.LoadUint64x4((*[4]uint64)(unsafe.Add(p, 8*at)))
}

func store4x64(p unsafe.Pointer, at int, v archsimd.Uint64x4) {
	v.Store((*[4]uint64)(unsafe.Add(p, 8*at)))
}

// storeSixteen writes sixteen sums.
func storeSixteen(p unsafe.Pointer, at int, a, b, c, d archsimd.Uint64x4) {
	store4x64(p, at, a)
	store4x64(p, at+4, b)
	store4x64(p, at+8, c)
	store4x64(p, at+12, d)
}
