//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels for 64-bit running sums with 512-bit vectors. As in sums_avx2.go, the last vector of a row overlaps the one
// before, and where sums are updated in place it is computed first and written last. Offsets are in samples.

func load64(p unsafe.Pointer, at int) archsimd.Uint64x8 {
	return archsimd.LoadUint64x8((*[8]uint64)(unsafe.Add(p, 8*at)))
}

func store64(p unsafe.Pointer, at int, v archsimd.Uint64x8) {
	v.Store((*[8]uint64)(unsafe.Add(p, 8*at)))
}

func loadWords8(p unsafe.Pointer, at int) archsimd.Uint16x8 {
	return archsimd.LoadUint16x8((*[8]uint16)(unsafe.Add(p, 2*at)))
}

// Indices that move a sum to the lanes after those that it covers; 8 selects a zero.
const (
	sumOfTwo = "\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x08\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00" +
		"\x08\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00" +
		"\x08\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"
	sumOfFour = "\x08\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00" +
		"\x08\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00" +
		"\x05\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00"
	sumOfEight = "\x08\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00" +
		"\x08\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00" +
		"\x03\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00" +
		"\x03\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"
)

func places64(table string) archsimd.Uint64x8 {
	return load64(unsafe.Pointer(unsafe.StringData(table)), 0)
}

// scan64x512 is scan32x256 for 64 bits.
func scan64x512(dst, col []uint64, k int) {
	n := len(dst)
	if n < 17 {
		scan(dst, col, k)
		return
	}
	scan(dst[:1], col[:k], k)
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&col[:n+k-1][0])
	zero := archsimd.BroadcastUint64x8(0)
	// Sums of two, then of four, then of eight.
	two, four, eight := places64(sumOfTwo), places64(sumOfFour), places64(sumOfEight)
	all := archsimd.BroadcastUint64x8(7)
	carry := archsimd.BroadcastUint64x8(dst[0])
	last := n - 8
	for i := 1; ; i += 8 {
		if i > last {
			// The window before the last vector is already computed.
			i = last
			carry = load64(to, last-8).Permute(all)
		}
		v := load64(from, i-1+k).Sub(load64(from, i-1))
		v = v.Add(v.ConcatPermute(zero, two))
		v = v.Add(v.ConcatPermute(zero, four))
		v = v.Add(v.ConcatPermute(zero, eight))
		store64(to, i, v.Add(carry))
		if i == last {
			break
		}
		carry = carry.Add(v.Permute(all))
	}
	archsimd.ClearAVXUpperBits()
}

// counted returns 16 samples and their counts, both 0 where out is not 0.
func counted(p, out unsafe.Pointer, at int, one, zero archsimd.Uint16x16) (v, count archsimd.Uint16x16) {
	in := loadBytes16(out, at).ExtendToUint16().Equal(zero)
	return loadWords16(p, at).Masked(in), one.Masked(in)
}

// censor512 works on 16 pixels at a time.
func censor512(col []uint64, add, sub []uint16, addOut, subOut []uint8) {
	n := len(col)
	if n < 16 {
		censor(col, add, sub, addOut, subOut)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	r, s := unsafe.Pointer(&addOut[:n][0]), unsafe.Pointer(&subOut[:n][0])
	one, zero := archsimd.BroadcastUint16x16(1), archsimd.BroadcastUint16x16(0)
	shift := archsimd.BroadcastUint64x8(CountShift)
	moved := func(i int) (a, b archsimd.Uint64x8) {
		x, m := counted(p, r, i, one, zero)
		y, k := counted(q, s, i, one, zero)
		counts := m.Sub(k).AsInt16x16()
		a = load64(c, i).Add(x.GetLo().ExtendToUint64()).Sub(y.GetLo().ExtendToUint64())
		b = load64(c, i+8).Add(x.GetHi().ExtendToUint64()).Sub(y.GetHi().ExtendToUint64())
		a = a.Add(counts.GetLo().ExtendToInt64().AsUint64x8().ShiftLeft(shift))
		return a, b.Add(counts.GetHi().ExtendToInt64().AsUint64x8().ShiftLeft(shift))
	}
	last := n - 16
	a1, b1 := moved(last)
	for i := 0; i < last; i += 16 {
		a, b := moved(i)
		store64(c, i, a)
		store64(c, i+8, b)
	}
	store64(c, last, a1)
	store64(c, last+8, b1)
	archsimd.ClearAVXUpperBits()
}

// censoredMean512 divides in floats, which is exact: a sum of n samples plus half a unit is at least half a unit away
// from the next multiple of n. Most windows hold as many pixels as the one before, so that a division is saved.
func censoredMean512(dst []uint16, sum, inverse []uint64, need uint64) bool {
	n := len(dst)
	if n < 8 {
		return censoredMean(dst, sum, inverse, need)
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&sum[:n][0])
	low, one := archsimd.BroadcastUint64x8(sumMask), archsimd.BroadcastUint64x8(1)
	enough := archsimd.BroadcastUint64x8(need)
	half, unit := archsimd.BroadcastFloat64x8(0.5), archsimd.BroadcastFloat64x8(1)
	same, reciprocal, first := one, unit, archsimd.BroadcastUint64x8(0)
	shift := archsimd.BroadcastUint64x8(CountShift)
	var short uint8
	for i := 0; ; i += 8 {
		i = min(i, n-8)
		s := load64(from, i)
		count := s.ShiftRight(shift)
		short |= count.Less(enough).ToBits()
		x := s.And(low).Add(count.ShiftRight(one)).ConvertToFloat64().Add(half)
		if count.Equal(same).ToBits() == 0xff {
			x = x.Mul(reciprocal)
		} else {
			pixels := count.Max(one).ConvertToFloat64()
			x = x.Div(pixels)
			same, reciprocal = count.Permute(first), unit.Div(pixels.Permute(first))
		}
		x.ConvertToInt32().TruncateToInt16().Store((*[8]int16)(unsafe.Add(to, 2*i)))
		if i == n-8 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
	return short != 0
}
