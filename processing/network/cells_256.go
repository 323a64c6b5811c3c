//go:build goexperiment.simd && amd64

package network

import "simd/archsimd"

// Permutations of eight cells: the first or last four cells, each twice, and the halves of two vectors combined. They
// are never written.
var (
	firstTwice = [8]uint32{0, 0, 1, 1, 2, 2, 3, 3}
	lastTwice  = [8]uint32{4, 4, 5, 5, 6, 6, 7, 7}
	halves     = [8]uint32{0, 1, 4, 5, 2, 3, 6, 7}
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

func part256(even, odd, src []uint32) {
	order := archsimd.LoadUint32x8(&halves)
	for len(even) >= 8 {
		a, b := archsimd.LoadUint32x8((*[8]uint32)(src)), archsimd.LoadUint32x8((*[8]uint32)(src[8:]))
		a.SelectFromPairGrouped(0, 2, 4, 6, b).Permute(order).Store((*[8]uint32)(even))
		a.SelectFromPairGrouped(1, 3, 5, 7, b).Permute(order).Store((*[8]uint32)(odd))
		even, odd, src = even[8:], odd[8:], src[16:]
	}
	archsimd.ClearAVXUpperBits()
	partPlain(even, odd, src)
}
