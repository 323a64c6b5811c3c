//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels for Gaussians with 256-bit vectors, two or four at a time, so that the loads of a pair's pointers and tap
// serve several vectors.

// down8x256 adds bytes before it converts them, which is exact. A sum v in the low bits of the float 2²³ makes it
// 2²³ + v; times c minus 2²³·c, rounded once, gives v·c. Sums are kept as of even and odd samples, so that masks and
// products separate bytes. The last step overlaps the one before, and begins with what that one has not changed yet.
func down8x256(dst []float32, middle []uint8, tap float32, pairs []Pair[uint8], taps []float32) {
	n := len(dst)
	if n < 32 {
		symmetric(dst, middle, tap, pairs, taps)
		return
	}
	to := unsafe.Pointer(&dst[0])
	upper, offset := archsimd.BroadcastUint16x16(0x4b00), archsimd.BroadcastFloat32x8(-1<<23)
	even, odd := archsimd.BroadcastUint16x16(0xff), archsimd.BroadcastUint16x16(1<<8).AsInt8x32()
	taps = taps[:len(pairs)]
	last := n - 32
	var end [32]float32
	copy(end[:], dst[last:])
	for i := 0; ; i += 32 {
		i = min(i, last)
		var even0, even1, odd0, odd1 archsimd.Float32x8
		if middle != nil {
			c := archsimd.BroadcastFloat32x8(tap)
			less := c.Mul(offset)
			u, v := separated(load8x256(unsafe.Pointer(&middle[0]), i), even, odd)
			even0 = u.InterleaveLoGrouped(upper).AsFloat32x8().MulAdd(c, less)
			even1 = u.InterleaveHiGrouped(upper).AsFloat32x8().MulAdd(c, less)
			odd0 = v.InterleaveLoGrouped(upper).AsFloat32x8().MulAdd(c, less)
			odd1 = v.InterleaveHiGrouped(upper).AsFloat32x8().MulAdd(c, less)
		} else {
			from := unsafe.Add(to, 4*i)
			if i == last {
				from = unsafe.Pointer(&end)
			}
			even0, odd0 = loadEvenOdd256(from, 0)
			even1, odd1 = loadEvenOdd256(from, 32)
		}
		for k := range pairs {
			p, c := &pairs[k], archsimd.BroadcastFloat32x8(taps[k])
			less := c.Mul(offset)
			u, v := separated(load8x256(unsafe.Pointer(p.A), i), even, odd)
			x, y := separated(load8x256(unsafe.Pointer(p.B), i), even, odd)
			u, v = u.Add(x), v.Add(y)
			even0 = even0.Add(u.InterleaveLoGrouped(upper).AsFloat32x8().MulAdd(c, less))
			even1 = even1.Add(u.InterleaveHiGrouped(upper).AsFloat32x8().MulAdd(c, less))
			odd0 = odd0.Add(v.InterleaveLoGrouped(upper).AsFloat32x8().MulAdd(c, less))
			odd1 = odd1.Add(v.InterleaveHiGrouped(upper).AsFloat32x8().MulAdd(c, less))
		}
		out := unsafe.Add(to, 4*i)
		storeEvenOdd256(out, 0, even0, odd0)
		storeEvenOdd256(out, 32, even1, odd1)
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// separated returns even and odd bytes; the masks are 255, and 0 and 1 in turns.
func separated(v archsimd.Uint8x32, even archsimd.Uint16x16, odd archsimd.Int8x32) (_, _ archsimd.Uint16x16) {
	return v.AsUint16x16().And(even), v.DotProductPairsSaturated(odd).AsUint16x16()
}

// loadEvenOdd256 loads eight samples at an offset and eight 64 bytes after them, separated into even and odd ones;
// storeEvenOdd256 stores them.
func loadEvenOdd256(p unsafe.Pointer, at int) (even, odd archsimd.Float32x8) {
	a, b := loadF256(p, at), loadF256(p, at+64)
	u, v := a.Select128FromPair(0, 2, b), a.Select128FromPair(1, 3, b)
	return u.SelectFromPairGrouped(0, 2, 4, 6, v), u.SelectFromPairGrouped(1, 3, 5, 7, v)
}

func storeEvenOdd256(p unsafe.Pointer, at int, even, odd archsimd.Float32x8) {
	e, o := even.AsInt32x8(), odd.AsInt32x8()
	u, v := e.InterleaveLoGrouped(o).AsFloat32x8(), e.InterleaveHiGrouped(o).AsFloat32x8()
	storeF256(p, at, u.Select128FromPair(0, 2, v))
	storeF256(p, at+64, u.Select128FromPair(1, 3, v))
}

// across8x256 keeps the first tap in memory, because the compiler reloads spilled scalars with slow SSE instructions.
func across8x256(dst []uint8, middle []float32, tap float32, pairs []Pair[float32], taps []float32) {
	n := len(dst)
	if n < 32 || len(pairs) == 0 {
		roundedSymmetric(dst, middle, tap, pairs, taps)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&middle[:n][0])
	taps = taps[:len(pairs)]
	var first [8]float32
	archsimd.BroadcastFloat32x8(tap).Store(&first)
	half, most := archsimd.BroadcastFloat32x8(0.5), archsimd.BroadcastUint16x16(255)
	low, high, order := byteOrder()
	for i := 0; ; i += 32 {
		i = min(i, n-32)
		m := unsafe.Add(from, 4*i)
		c := archsimd.LoadFloat32x8(&first)
		s0, s1 := loadF256(m, 0).Mul(c), loadF256(m, 32).Mul(c)
		s2, s3 := loadF256(m, 64).Mul(c), loadF256(m, 96).Mul(c)
		// Pointers from the previous step let the compiler fold the offsets into the loads.
		a, b := unsafe.Add(unsafe.Pointer(pairs[0].A), 4*i), unsafe.Add(unsafe.Pointer(pairs[0].B), 4*i)
		for k := 0; ; {
			c = archsimd.BroadcastFloat32x8(taps[k])
			s0 = s0.Add(loadF256(a, 0).Add(loadF256(b, 0)).Mul(c))
			s1 = s1.Add(loadF256(a, 32).Add(loadF256(b, 32)).Mul(c))
			s2 = s2.Add(loadF256(a, 64).Add(loadF256(b, 64)).Mul(c))
			s3 = s3.Add(loadF256(a, 96).Add(loadF256(b, 96)).Mul(c))
			if k++; k >= len(pairs) {
				break
			}
			a, b = unsafe.Add(unsafe.Pointer(pairs[k].A), 4*i), unsafe.Add(unsafe.Pointer(pairs[k].B), 4*i)
		}
		u := s0.Add(half).ConvertToInt32().SaturateToUint16ConcatGrouped(s1.Add(half).ConvertToInt32())
		v := s2.Add(half).ConvertToInt32().SaturateToUint16ConcatGrouped(s3.Add(half).ConvertToInt32())
		w := u.Min(most).AsUint8x32().PermuteOrZeroGrouped(low).Or(v.Min(most).AsUint8x32().PermuteOrZeroGrouped(high))
		store8x256(to, i, w.AsUint32x8().Permute(order).AsUint8x32())
		if i == n-32 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}
