//go:build goexperiment.simd && amd64

package cpu

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels of Gaussians of integers with vectors of 256 bits. Offsets are in samples.

// down8x256 adds bytes before it converts them, which is exact. The last step overlaps the one before and begins with
// what that one has not yet changed.
func down8x256(dst []float32, middle []uint8, tap float32, pairs []pair[uint8], taps []float32) {
	n := len(dst)
	if n < 16 {
		symmetric(dst, middle, tap, pairs, taps)
		return
	}
	to, first := unsafe.Pointer(&dst[0]), archsimd.BroadcastFloat32x8(tap)
	taps = taps[:len(pairs)]
	last := n - 16
	end0, end1 := loadF256(to, 4*last), loadF256(to, 4*last+32)
	for i := 0; ; i += 16 {
		s0, s1 := end0, end1
		if i >= last {
			i = last
		} else {
			s0, s1 = loadF256(to, 4*i), loadF256(to, 4*i+32)
		}
		if middle != nil {
			v := loadBytes16(unsafe.Pointer(&middle[0]), i).ExtendToUint16()
			s0 = v.GetLo().ExtendToUint32().AsInt32x8().ConvertToFloat32().Mul(first)
			s1 = v.GetHi().ExtendToUint32().AsInt32x8().ConvertToFloat32().Mul(first)
		}
		for k := range pairs {
			a, b, c := unsafe.Pointer(pairs[k].a), unsafe.Pointer(pairs[k].b), archsimd.BroadcastFloat32x8(taps[k])
			v := loadBytes16(a, i).ExtendToUint16().Add(loadBytes16(b, i).ExtendToUint16())
			s0 = s0.Add(v.GetLo().ExtendToUint32().AsInt32x8().ConvertToFloat32().Mul(c))
			s1 = s1.Add(v.GetHi().ExtendToUint32().AsInt32x8().ConvertToFloat32().Mul(c))
		}
		storeF256(to, 4*i, s0)
		storeF256(to, 4*i+32, s1)
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func down16x256(dst []float32, middle []uint16, tap float32, pairs []pair[uint16], taps []float32) {
	n := len(dst)
	if n < 16 {
		symmetric(dst, middle, tap, pairs, taps)
		return
	}
	to, first := unsafe.Pointer(&dst[0]), archsimd.BroadcastFloat32x8(tap)
	taps = taps[:len(pairs)]
	last := n - 16
	end0, end1 := loadF256(to, 4*last), loadF256(to, 4*last+32)
	for i := 0; ; i += 16 {
		s0, s1 := end0, end1
		if i >= last {
			i = last
		} else {
			s0, s1 = loadF256(to, 4*i), loadF256(to, 4*i+32)
		}
		if middle != nil {
			m := unsafe.Pointer(&middle[0])
			s0 = loadWords8(m, i).ExtendToUint32().AsInt32x8().ConvertToFloat32().Mul(first)
			s1 = loadWords8(m, i+8).ExtendToUint32().AsInt32x8().ConvertToFloat32().Mul(first)
		}
		for k := range pairs {
			a, b, c := unsafe.Pointer(pairs[k].a), unsafe.Pointer(pairs[k].b), archsimd.BroadcastFloat32x8(taps[k])
			u := loadWords8(a, i).ExtendToUint32().Add(loadWords8(b, i).ExtendToUint32())
			v := loadWords8(a, i+8).ExtendToUint32().Add(loadWords8(b, i+8).ExtendToUint32())
			s0 = s0.Add(u.AsInt32x8().ConvertToFloat32().Mul(c))
			s1 = s1.Add(v.AsInt32x8().ConvertToFloat32().Mul(c))
		}
		storeF256(to, 4*i, s0)
		storeF256(to, 4*i+32, s1)
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func across8x256(dst []uint8, middle []float32, tap float32, pairs []pair[float32], taps []float32) {
	n := len(dst)
	if n < 16 {
		roundedSymmetric(dst, middle, tap, pairs, taps)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&middle[:n][0])
	first := archsimd.BroadcastFloat32x8(tap)
	half, most := archsimd.BroadcastFloat32x8(0.5), archsimd.BroadcastFloat32x8(255)
	order := places32(twos)
	even, odd := lowByteOrder()
	taps = taps[:len(pairs)]
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		s0, s1 := loadF256(from, 4*i).Mul(first), loadF256(from, 4*i+32).Mul(first)
		for k := range pairs {
			a, b, c := unsafe.Pointer(pairs[k].a), unsafe.Pointer(pairs[k].b), archsimd.BroadcastFloat32x8(taps[k])
			s0 = s0.Add(loadF256(a, 4*i).Add(loadF256(b, 4*i)).Mul(c))
			s1 = s1.Add(loadF256(a, 4*i+32).Add(loadF256(b, 4*i+32)).Mul(c))
		}
		u := s0.Add(half).Min(most).ConvertToInt32().
			SaturateToUint16ConcatGrouped(s1.Add(half).Min(most).ConvertToInt32())
		v := u.AsUint32x8().Permute(order).AsUint16x16()
		lowBytes(v, even, odd).Store((*[16]uint8)(unsafe.Add(to, i)))
		if i == n-16 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func across16x256(dst []uint16, middle []float32, tap float32, pairs []pair[float32], taps []float32) {
	n := len(dst)
	if n < 16 {
		roundedSymmetric(dst, middle, tap, pairs, taps)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&middle[:n][0])
	first := archsimd.BroadcastFloat32x8(tap)
	half, most := archsimd.BroadcastFloat32x8(0.5), archsimd.BroadcastFloat32x8(65535)
	order := places32(twos)
	taps = taps[:len(pairs)]
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		s0, s1 := loadF256(from, 4*i).Mul(first), loadF256(from, 4*i+32).Mul(first)
		for k := range pairs {
			a, b, c := unsafe.Pointer(pairs[k].a), unsafe.Pointer(pairs[k].b), archsimd.BroadcastFloat32x8(taps[k])
			s0 = s0.Add(loadF256(a, 4*i).Add(loadF256(b, 4*i)).Mul(c))
			s1 = s1.Add(loadF256(a, 4*i+32).Add(loadF256(b, 4*i+32)).Mul(c))
		}
		u := s0.Add(half).Min(most).ConvertToInt32().
			SaturateToUint16ConcatGrouped(s1.Add(half).Min(most).ConvertToInt32())
		v := u.AsUint32x8().Permute(order).AsUint16x16()
		v.Store((*[16]uint16)(unsafe.Add(to, 2*i)))
		if i == n-16 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}
