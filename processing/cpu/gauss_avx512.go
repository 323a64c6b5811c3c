//go:build goexperiment.simd && amd64

package cpu

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels of Gaussians of integers with vectors of 512 bits. Offsets are in samples.

// down8x512 adds bytes before it converts them, which is exact. The last step overlaps the one before and begins with
// what that one has not yet changed.
func down8x512(dst []float32, middle []uint8, tap float32, pairs []pair[uint8], taps []float32) {
	n := len(dst)
	if n < 32 {
		symmetric(dst, middle, tap, pairs, taps)
		return
	}
	to, first := unsafe.Pointer(&dst[0]), archsimd.BroadcastFloat32x16(tap)
	taps = taps[:len(pairs)]
	last := n - 32
	end0, end1 := loadF512(to, 4*last), loadF512(to, 4*last+64)
	for i := 0; ; i += 32 {
		s0, s1 := end0, end1
		if i >= last {
			i = last
		} else {
			s0, s1 = loadF512(to, 4*i), loadF512(to, 4*i+64)
		}
		if middle != nil {
			v := load8x256(unsafe.Pointer(&middle[0]), i).ExtendToUint16()
			s0 = v.GetLo().ExtendToUint32().AsInt32x16().ConvertToFloat32().Mul(first)
			s1 = v.GetHi().ExtendToUint32().AsInt32x16().ConvertToFloat32().Mul(first)
		}
		for k := range pairs {
			a, b, c := unsafe.Pointer(pairs[k].a), unsafe.Pointer(pairs[k].b), archsimd.BroadcastFloat32x16(taps[k])
			v := load8x256(a, i).ExtendToUint16().Add(load8x256(b, i).ExtendToUint16())
			s0 = s0.Add(v.GetLo().ExtendToUint32().AsInt32x16().ConvertToFloat32().Mul(c))
			s1 = s1.Add(v.GetHi().ExtendToUint32().AsInt32x16().ConvertToFloat32().Mul(c))
		}
		storeF512(to, 4*i, s0)
		storeF512(to, 4*i+64, s1)
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func down16x512(dst []float32, middle []uint16, tap float32, pairs []pair[uint16], taps []float32) {
	n := len(dst)
	if n < 32 {
		symmetric(dst, middle, tap, pairs, taps)
		return
	}
	to, first := unsafe.Pointer(&dst[0]), archsimd.BroadcastFloat32x16(tap)
	taps = taps[:len(pairs)]
	last := n - 32
	end0, end1 := loadF512(to, 4*last), loadF512(to, 4*last+64)
	for i := 0; ; i += 32 {
		s0, s1 := end0, end1
		if i >= last {
			i = last
		} else {
			s0, s1 = loadF512(to, 4*i), loadF512(to, 4*i+64)
		}
		if middle != nil {
			m := unsafe.Pointer(&middle[0])
			s0 = loadWords16(m, i).ExtendToUint32().AsInt32x16().ConvertToFloat32().Mul(first)
			s1 = loadWords16(m, i+16).ExtendToUint32().AsInt32x16().ConvertToFloat32().Mul(first)
		}
		for k := range pairs {
			a, b, c := unsafe.Pointer(pairs[k].a), unsafe.Pointer(pairs[k].b), archsimd.BroadcastFloat32x16(taps[k])
			u := loadWords16(a, i).ExtendToUint32().Add(loadWords16(b, i).ExtendToUint32())
			v := loadWords16(a, i+16).ExtendToUint32().Add(loadWords16(b, i+16).ExtendToUint32())
			s0 = s0.Add(u.AsInt32x16().ConvertToFloat32().Mul(c))
			s1 = s1.Add(v.AsInt32x16().ConvertToFloat32().Mul(c))
		}
		storeF512(to, 4*i, s0)
		storeF512(to, 4*i+64, s1)
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

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
