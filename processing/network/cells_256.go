//go:build goexperiment.simd && amd64

package network

import "simd/archsimd"

// Permutations of eight cells: the first or last four cells, each twice. They are never written.
var (
	firstTwice = [8]uint32{0, 0, 1, 1, 2, 2, 3, 3}
	lastTwice  = [8]uint32{4, 4, 5, 5, 6, 6, 7, 7}
)

func double256(dst, src []uint32) {
	low, high := archsimd.LoadUint32x8(&firstTwice), archsimd.LoadUint32x8(&lastTwice)
	for len(dst) >= 16 {
		v := archsimd.LoadUint32x8((*[8]uint32)(src))
		v.Permute(low).Store((*[8]uint32)(dst))
		v.Permute(high).Store((*[8]uint32)(dst[8:]))
		dst, src = dst[16:], src[8:]
	}
	archsimd.ClearAVXUpperBits()
	doublePlain(dst, src)
}
