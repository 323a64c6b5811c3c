//go:build goexperiment.simd && amd64

package cpu

import (
	"simd/archsimd"
	"unsafe"
)

// Conversions between samples with vectors of 256 bits. Offsets are in samples.

func loadBytes16(p unsafe.Pointer, at int) archsimd.Uint8x16 {
	return archsimd.LoadUint8x16((*[16]uint8)(unsafe.Add(p, at)))
}

func loadWords16(p unsafe.Pointer, at int) archsimd.Uint16x16 {
	return archsimd.LoadUint16x16((*[16]uint16)(unsafe.Add(p, 2*at)))
}

func storeFloats8(p unsafe.Pointer, at int, v archsimd.Float32x8) {
	v.Store((*[8]float32)(unsafe.Add(p, 4*at)))
}

func loadFloats8(p unsafe.Pointer, at int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(p, 4*at)))
}

func toFloats8x256(dst []float32, src []uint8) {
	n := len(dst)
	if n < 16 {
		toFloats(dst, src)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[:n][0])
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		v := loadBytes16(from, i).ExtendToUint16()
		storeFloats8(to, i, v.GetLo().ExtendToUint32().AsInt32x8().ConvertToFloat32())
		storeFloats8(to, i+8, v.GetHi().ExtendToUint32().AsInt32x8().ConvertToFloat32())
		if i == n-16 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func toFloats16x256(dst []float32, src []uint16) {
	n := len(dst)
	if n < 16 {
		toFloats(dst, src)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[:n][0])
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		v := loadWords16(from, i)
		storeFloats8(to, i, v.GetLo().ExtendToUint32().AsInt32x8().ConvertToFloat32())
		storeFloats8(to, i+8, v.GetHi().ExtendToUint32().AsInt32x8().ConvertToFloat32())
		if i == n-16 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// rounded returns eight samples to nearest.
func rounded(p unsafe.Pointer, at int, half, most archsimd.Float32x8) archsimd.Int32x8 {
	return loadFloats8(p, at).Add(half).Min(most).ConvertToInt32()
}

// byteOrder returns how 32 samples that were packed to words become bytes: the low bytes of words go to the beginning and
// to the end of each half of a vector; both packings work on halves, so that fours have to be put in order.
func byteOrder() (low, high archsimd.Int8x32, order archsimd.Uint32x8) {
	low = archsimd.LoadInt8x32(&[32]int8{0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1,
		0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1})
	high = archsimd.LoadInt8x32(&[32]int8{-1, -1, -1, -1, -1, -1, -1, -1, 0, 2, 4, 6, 8, 10, 12, 14,
		-1, -1, -1, -1, -1, -1, -1, -1, 0, 2, 4, 6, 8, 10, 12, 14})
	return low, high, archsimd.LoadUint32x8(&[8]uint32{0, 4, 1, 5, 2, 6, 3, 7})
}

// lowByteOrder returns what lowBytes needs.
func lowByteOrder() (even, odd archsimd.Int8x16) {
	return archsimd.LoadInt8x16(&[16]int8{0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1}),
		archsimd.LoadInt8x16(&[16]int8{-1, -1, -1, -1, -1, -1, -1, -1, 0, 2, 4, 6, 8, 10, 12, 14})
}

// lowBytes returns the low bytes of 16 words.
func lowBytes(v archsimd.Uint16x16, even, odd archsimd.Int8x16) archsimd.Uint8x16 {
	return v.GetLo().AsUint8x16().PermuteOrZero(even).Or(v.GetHi().AsUint8x16().PermuteOrZero(odd))
}

func round8x256(dst []uint8, src []float32) {
	n := len(dst)
	if n < 32 {
		roundRow(dst, src)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[:n][0])
	half, most := archsimd.BroadcastFloat32x8(0.5), archsimd.BroadcastFloat32x8(255)
	low, high, order := byteOrder()
	for i := 0; ; i += 32 {
		i = min(i, n-32)
		a := rounded(from, i, half, most).SaturateToUint16ConcatGrouped(rounded(from, i+8, half, most))
		b := rounded(from, i+16, half, most).SaturateToUint16ConcatGrouped(rounded(from, i+24, half, most))
		v := a.AsUint8x32().PermuteOrZeroGrouped(low).Or(b.AsUint8x32().PermuteOrZeroGrouped(high))
		v.AsUint32x8().Permute(order).AsUint8x32().Store((*[32]uint8)(unsafe.Add(to, i)))
		if i == n-32 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func round16x256(dst []uint16, src []float32) {
	n := len(dst)
	if n < 16 {
		roundRow(dst, src)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[:n][0])
	half, most := archsimd.BroadcastFloat32x8(0.5), archsimd.BroadcastFloat32x8(65535)
	// The packing works on halves.
	order := archsimd.LoadUint32x8(&[8]uint32{0, 1, 4, 5, 2, 3, 6, 7})
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		v := rounded(from, i, half, most).SaturateToUint16ConcatGrouped(rounded(from, i+8, half, most))
		v.AsUint32x8().Permute(order).AsUint16x16().Store((*[16]uint16)(unsafe.Add(to, 2*i)))
		if i == n-16 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}
