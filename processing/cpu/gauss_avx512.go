//go:build goexperiment.simd && amd64

package cpu

import (
	"simd/archsimd"
	"unsafe"
)

// The last passes of Gaussians of integers with vectors of 512 bits, which round to samples; the first ones stand in
// gauss_gen.go. Offsets are in samples.

func across8x512(dst []uint8, middle []float32, tap float32, pairs []pair[float32], taps []float32) {
	n := len(dst)
	if n < 32 {
		roundedSymmetric(dst, middle, tap, pairs, taps)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&middle[:n][0])
	first := archsimd.BroadcastFloat32x16(tap)
	half, most := archsimd.BroadcastFloat32x16(0.5), archsimd.BroadcastFloat32x16(255)
	taps = taps[:len(pairs)]
	for i := 0; ; i += 32 {
		i = min(i, n-32)
		s0, s1 := loadF512(from, 4*i).Mul(first), loadF512(from, 4*i+64).Mul(first)
		for k := range pairs {
			a, b, c := unsafe.Pointer(pairs[k].a), unsafe.Pointer(pairs[k].b), archsimd.BroadcastFloat32x16(taps[k])
			s0 = s0.Add(loadF512(a, 4*i).Add(loadF512(b, 4*i)).Mul(c))
			s1 = s1.Add(loadF512(a, 4*i+64).Add(loadF512(b, 4*i+64)).Mul(c))
		}
		s0.Add(half).Min(most).ConvertToInt32().TruncateToInt8().Store((*[16]int8)(unsafe.Add(to, i)))
		s1.Add(half).Min(most).ConvertToInt32().TruncateToInt8().Store((*[16]int8)(unsafe.Add(to, i+16)))
		if i == n-32 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func across16x512(dst []uint16, middle []float32, tap float32, pairs []pair[float32], taps []float32) {
	n := len(dst)
	if n < 32 {
		roundedSymmetric(dst, middle, tap, pairs, taps)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&middle[:n][0])
	first := archsimd.BroadcastFloat32x16(tap)
	half, most := archsimd.BroadcastFloat32x16(0.5), archsimd.BroadcastFloat32x16(65535)
	taps = taps[:len(pairs)]
	for i := 0; ; i += 32 {
		i = min(i, n-32)
		s0, s1 := loadF512(from, 4*i).Mul(first), loadF512(from, 4*i+64).Mul(first)
		for k := range pairs {
			a, b, c := unsafe.Pointer(pairs[k].a), unsafe.Pointer(pairs[k].b), archsimd.BroadcastFloat32x16(taps[k])
			s0 = s0.Add(loadF512(a, 4*i).Add(loadF512(b, 4*i)).Mul(c))
			s1 = s1.Add(loadF512(a, 4*i+64).Add(loadF512(b, 4*i+64)).Mul(c))
		}
		s0.Add(half).Min(most).ConvertToInt32().TruncateToInt16().Store((*[16]int16)(unsafe.Add(to, 2*i)))
		s1.Add(half).Min(most).ConvertToInt32().TruncateToInt16().Store((*[16]int16)(unsafe.Add(to, 2*i+32)))
		if i == n-32 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}
