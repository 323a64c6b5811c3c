//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels for Gaussians of integers with 512-bit vectors. Offsets are in samples.

// Indices into two vectors, one with the lower and one with the upper four of each eight samples: for the first and the
// second half in order, and back.
const (
	firstHalf = "\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00" +
		"\x10\x00\x00\x00\x11\x00\x00\x00\x12\x00\x00\x00\x13\x00\x00\x00" +
		"\x04\x00\x00\x00\x05\x00\x00\x00\x06\x00\x00\x00\x07\x00\x00\x00" +
		"\x14\x00\x00\x00\x15\x00\x00\x00\x16\x00\x00\x00\x17\x00\x00\x00"
	secondHalf = "\x08\x00\x00\x00\x09\x00\x00\x00\x0a\x00\x00\x00\x0b\x00\x00\x00" +
		"\x18\x00\x00\x00\x19\x00\x00\x00\x1a\x00\x00\x00\x1b\x00\x00\x00" +
		"\x0c\x00\x00\x00\x0d\x00\x00\x00\x0e\x00\x00\x00\x0f\x00\x00\x00" +
		"\x1c\x00\x00\x00\x1d\x00\x00\x00\x1e\x00\x00\x00\x1f\x00\x00\x00"
	lowerFours = "\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00" +
		"\x08\x00\x00\x00\x09\x00\x00\x00\x0a\x00\x00\x00\x0b\x00\x00\x00" +
		"\x10\x00\x00\x00\x11\x00\x00\x00\x12\x00\x00\x00\x13\x00\x00\x00" +
		"\x18\x00\x00\x00\x19\x00\x00\x00\x1a\x00\x00\x00\x1b\x00\x00\x00"
	upperFours = "\x04\x00\x00\x00\x05\x00\x00\x00\x06\x00\x00\x00\x07\x00\x00\x00" +
		"\x0c\x00\x00\x00\x0d\x00\x00\x00\x0e\x00\x00\x00\x0f\x00\x00\x00" +
		"\x14\x00\x00\x00\x15\x00\x00\x00\x16\x00\x00\x00\x17\x00\x00\x00" +
		"\x1c\x00\x00\x00\x1d\x00\x00\x00\x1e\x00\x00\x00\x1f\x00\x00\x00"
)

func loadF512(p unsafe.Pointer, at int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(p, at)))
}

func storeF512(p unsafe.Pointer, at int, v archsimd.Float32x16) {
	v.Store((*[16]float32)(unsafe.Add(p, at)))
}

// down8x512 adds bytes before it converts them, which is exact. A sum v in the low bits of the float 2²³ makes it 2²³ +
// v; times c minus 2²³·c, rounded once, gives v·c. The last step overlaps the one before, and begins with what that one
// has not changed yet.
func down8x512(dst []float32, middle []uint8, tap float32, pairs []Pair[uint8], taps []float32) {
	n := len(dst)
	if n < 64 {
		down8x256(dst, middle, tap, pairs, taps)
		return
	}
	to := unsafe.Pointer(&dst[0])
	upper, offset := archsimd.BroadcastUint16x32(0x4b00), archsimd.BroadcastFloat32x16(-1<<23)
	taps = taps[:len(pairs)]
	last := n - 64
	var end [64]float32
	copy(end[:], dst[last:])
	for i := 0; ; i += 64 {
		i = min(i, last)
		var s0, s1, s2, s3 archsimd.Float32x16
		if middle != nil {
			c := archsimd.BroadcastFloat32x16(tap)
			less := c.Mul(offset)
			m := unsafe.Pointer(&middle[0])
			v := load8x256(m, i).ExtendToUint16()
			s0 = v.InterleaveLoGrouped(upper).AsFloat32x16().MulAdd(c, less)
			s1 = v.InterleaveHiGrouped(upper).AsFloat32x16().MulAdd(c, less)
			v = load8x256(m, i+32).ExtendToUint16()
			s2 = v.InterleaveLoGrouped(upper).AsFloat32x16().MulAdd(c, less)
			s3 = v.InterleaveHiGrouped(upper).AsFloat32x16().MulAdd(c, less)
		} else {
			from := unsafe.Add(to, 4*i)
			if i == last {
				from = unsafe.Pointer(&end)
			}
			s0, s1 = loadFours512(from, 0)
			s2, s3 = loadFours512(from, 32)
		}
		for k := range pairs {
			a, b, c := unsafe.Pointer(pairs[k].A), unsafe.Pointer(pairs[k].B), archsimd.BroadcastFloat32x16(taps[k])
			less := c.Mul(offset)
			v := load8x256(a, i).ExtendToUint16().Add(load8x256(b, i).ExtendToUint16())
			s0 = s0.Add(v.InterleaveLoGrouped(upper).AsFloat32x16().MulAdd(c, less))
			s1 = s1.Add(v.InterleaveHiGrouped(upper).AsFloat32x16().MulAdd(c, less))
			v = load8x256(a, i+32).ExtendToUint16().Add(load8x256(b, i+32).ExtendToUint16())
			s2 = s2.Add(v.InterleaveLoGrouped(upper).AsFloat32x16().MulAdd(c, less))
			s3 = s3.Add(v.InterleaveHiGrouped(upper).AsFloat32x16().MulAdd(c, less))
		}
		storeFours512(to, i, s0, s1)
		storeFours512(to, i+32, s2, s3)
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// loadFours512 loads 32 samples as the lower and the upper fours of each eight, storeFours512 stores them.
func loadFours512(p unsafe.Pointer, at int) (low, high archsimd.Float32x16) {
	a, b := loadF512(p, 4*at), loadF512(p, 4*at+64)
	return a.ConcatPermute(b, places16(lowerFours)), a.ConcatPermute(b, places16(upperFours))
}

func storeFours512(p unsafe.Pointer, at int, low, high archsimd.Float32x16) {
	storeF512(p, 4*at, low.ConcatPermute(high, places16(firstHalf)))
	storeF512(p, 4*at+64, low.ConcatPermute(high, places16(secondHalf)))
}

func across8x512(dst []uint8, middle []float32, tap float32, pairs []Pair[float32], taps []float32) {
	n := len(dst)
	if n < 64 {
		across8x256(dst, middle, tap, pairs, taps)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&middle[:n][0])
	first, half := archsimd.BroadcastFloat32x16(tap), archsimd.BroadcastFloat32x16(0.5)
	taps = taps[:len(pairs)]
	for i := 0; ; i += 64 {
		i = min(i, n-64)
		s0, s1 := loadF512(from, 4*i).Mul(first), loadF512(from, 4*i+64).Mul(first)
		s2, s3 := loadF512(from, 4*i+128).Mul(first), loadF512(from, 4*i+192).Mul(first)
		for k := range pairs {
			a, b, c := unsafe.Pointer(pairs[k].A), unsafe.Pointer(pairs[k].B), archsimd.BroadcastFloat32x16(taps[k])
			s0 = s0.Add(loadF512(a, 4*i).Add(loadF512(b, 4*i)).Mul(c))
			s1 = s1.Add(loadF512(a, 4*i+64).Add(loadF512(b, 4*i+64)).Mul(c))
			s2 = s2.Add(loadF512(a, 4*i+128).Add(loadF512(b, 4*i+128)).Mul(c))
			s3 = s3.Add(loadF512(a, 4*i+192).Add(loadF512(b, 4*i+192)).Mul(c))
		}
		rounded512(s0.Add(half)).Store((*[16]uint8)(unsafe.Add(to, i)))
		rounded512(s1.Add(half)).Store((*[16]uint8)(unsafe.Add(to, i+16)))
		rounded512(s2.Add(half)).Store((*[16]uint8)(unsafe.Add(to, i+32)))
		rounded512(s3.Add(half)).Store((*[16]uint8)(unsafe.Add(to, i+48)))
		if i == n-64 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// rounded512 rounds down sums that are not negative, to at most 255.
func rounded512(s archsimd.Float32x16) archsimd.Uint8x16 {
	return s.ConvertToInt32().AsUint32x16().SaturateToUint8()
}
