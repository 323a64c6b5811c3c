//go:build goexperiment.simd && amd64

package cpu

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels of running sums in 64 bits with vectors of 512 bits. As in sums_avx2.go, the last vector of a row overlaps the one
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

// loadBytes8 returns eight bytes in a vector of 16.
func loadBytes8(p unsafe.Pointer, at int) archsimd.Uint8x16 {
	return archsimd.BroadcastUint64x2(*(*uint64)(unsafe.Add(p, at))).AsUint8x16()
}

// scan64x512 is scan32x256 for 64 bits.
func scan64x512(dst, col []uint64, k int) {
	n := len(dst)
	if n < 9 {
		scan(dst, col, k)
		return
	}
	scan(dst[:1], col[:k], k)
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&col[:n+k-1][0])
	zero := archsimd.BroadcastUint64x8(0)
	// Sums of two, then of four, then of eight.
	two := archsimd.LoadUint64x8(&[8]uint64{8, 0, 8, 2, 8, 4, 8, 6})
	four := archsimd.LoadUint64x8(&[8]uint64{8, 8, 1, 1, 8, 8, 5, 5})
	eight := archsimd.LoadUint64x8(&[8]uint64{8, 8, 8, 8, 3, 3, 3, 3})
	all := archsimd.BroadcastUint64x8(7)
	carry := archsimd.BroadcastUint64x8(dst[0])
	last := n - 8
	for i := 1; ; i += 8 {
		if i > last {
			// The window before the last vector is known.
			i = last
			carry = archsimd.BroadcastUint64x8(dst[last-1])
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

// counted returns eight packed samples, 0 where out is not.
func counted(p, out unsafe.Pointer, at int, one, zero archsimd.Uint64x8) archsimd.Uint64x8 {
	in := loadBytes8(out, at).ExtendLo8ToUint64().Equal(zero)
	return loadWords8(p, at).ExtendToUint64().Or(one).Masked(in)
}

func censor512(col []uint64, add, sub []uint16, addOut, subOut []uint8) {
	n := len(col)
	if n < 8 {
		censor(col, add, sub, addOut, subOut)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	r, s := unsafe.Pointer(&addOut[:n][0]), unsafe.Pointer(&subOut[:n][0])
	one, zero := archsimd.BroadcastUint64x8(1<<countShift), archsimd.BroadcastUint64x8(0)
	last := n - 8
	tail := load64(c, last).Add(counted(p, r, last, one, zero)).Sub(counted(q, s, last, one, zero))
	for i := 0; i < last; i += 8 {
		if *(*uint64)(unsafe.Add(r, i))|*(*uint64)(unsafe.Add(s, i)) == 0 {
			d := loadWords8(p, i).ExtendToUint64().Sub(loadWords8(q, i).ExtendToUint64())
			store64(c, i, load64(c, i).Add(d))
			continue
		}
		store64(c, i, load64(c, i).Add(counted(p, r, i, one, zero)).Sub(counted(q, s, i, one, zero)))
	}
	store64(c, last, tail)
	archsimd.ClearAVXUpperBits()
}

// squared returns the squares of eight samples, 0 where out is not.
func squared(p, out unsafe.Pointer, at int, zero archsimd.Uint64x8) archsimd.Uint64x8 {
	in := loadBytes8(out, at).ExtendLo8ToUint64().Equal(zero)
	v := loadWords8(p, at).ExtendToUint64().Masked(in).AsUint32x16()
	return v.Mul(v).AsUint64x8()
}

func censorSquares512(col []uint64, add, sub []uint16, addOut, subOut []uint8) {
	n := len(col)
	if n < 8 {
		censorSquares(col, add, sub, addOut, subOut)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	r, s := unsafe.Pointer(&addOut[:n][0]), unsafe.Pointer(&subOut[:n][0])
	zero := archsimd.BroadcastUint64x8(0)
	last := n - 8
	tail := load64(c, last).Add(squared(p, r, last, zero)).Sub(squared(q, s, last, zero))
	for i := 0; i < last; i += 8 {
		store64(c, i, load64(c, i).Add(squared(p, r, i, zero)).Sub(squared(q, s, i, zero)))
	}
	store64(c, last, tail)
	archsimd.ClearAVXUpperBits()
}

// censoredMean512 divides in floats, which is exact: a sum of n samples and half a unit is at
// least half a unit off the next multiple of n. Most windows hold as many pixels as the one before, so that a division is spared.
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
	var short uint8
	for i := 0; ; i += 8 {
		i = min(i, n-8)
		s := load64(from, i)
		count := s.ShiftAllRight(countShift)
		short |= count.Less(enough).ToBits()
		x := s.And(low).Add(count.ShiftAllRight(1)).ConvertToFloat64().Add(half)
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

// deviations512 divides the root in floats, which is within one unit of the integer, and puts it right.
func deviations512(dst []uint16, sum, sum2 []uint64, share []float64) {
	n := len(dst)
	if n < 8 {
		deviations(dst, sum, sum2, share)
		return
	}
	to, from, from2 := unsafe.Pointer(&dst[0]), unsafe.Pointer(&sum[:n][0]), unsafe.Pointer(&sum2[:n][0])
	low, one, zero := archsimd.BroadcastUint64x8(sumMask), archsimd.BroadcastUint64x8(1), archsimd.BroadcastUint64x8(0)
	for i := 0; ; i += 8 {
		i = min(i, n-8)
		p := load64(from, i)
		count, s := p.ShiftAllRight(countShift), p.And(low)
		v := count.Mul(load64(from2, i)).Sub(s.Mul(s))
		root := v.ConvertToFloat64().Sqrt()
		q := root.Div(count.Max(one).ConvertToFloat64()).ConvertToUint64()
		below := q.Mul(count)
		q = q.Sub(one.Masked(below.Mul(below).Greater(v)))
		above := q.Mul(count).Add(count)
		q = q.Add(one.Masked(above.Mul(above).LessEqual(v).And(count.Greater(zero))))
		q.TruncateToUint16().Store((*[8]uint16)(unsafe.Add(to, 2*i)))
		if i == n-8 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func squares8x512(col []uint64, add, sub []uint8) {
	n := len(col)
	if n < 8 {
		squares(col, add, sub)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	moved := func(i int) archsimd.Uint64x8 {
		a := loadBytes8(p, i).ExtendLo8ToUint64().AsUint32x16()
		b := loadBytes8(q, i).ExtendLo8ToUint64().AsUint32x16()
		return load64(c, i).Add(a.Mul(a).AsUint64x8()).Sub(b.Mul(b).AsUint64x8())
	}
	last := n - 8
	tail := moved(last)
	for i := 0; i < last; i += 8 {
		store64(c, i, moved(i))
	}
	store64(c, last, tail)
	archsimd.ClearAVXUpperBits()
}

func squares16x512(col []uint64, add, sub []uint16) {
	n := len(col)
	if n < 8 {
		squares(col, add, sub)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	moved := func(i int) archsimd.Uint64x8 {
		a, b := loadWords8(p, i).ExtendToUint64().AsUint32x16(), loadWords8(q, i).ExtendToUint64().AsUint32x16()
		return load64(c, i).Add(a.Mul(a).AsUint64x8()).Sub(b.Mul(b).AsUint64x8())
	}
	last := n - 8
	tail := moved(last)
	for i := 0; i < last; i += 8 {
		store64(c, i, moved(i))
	}
	store64(c, last, tail)
	archsimd.ClearAVXUpperBits()
}

// meanVariance512 divides by a product with the reciprocal and a correction that makes it the rounded quotient
// (Markstein 1990), so that results are those of the plain kernel.
func meanVariance512(mean, variance []float32, sum []uint32, sum2 []uint64, n int) {
	w := len(mean)
	if w < 8 {
		meanVarianceRow(mean, variance, sum, sum2, n)
		return
	}
	to, to2 := unsafe.Pointer(&mean[0]), unsafe.Pointer(&variance[:w][0])
	from, from2 := unsafe.Pointer(&sum[:w][0]), unsafe.Pointer(&sum2[:w][0])
	count, pixels := archsimd.BroadcastUint64x8(uint64(n)), archsimd.BroadcastFloat64x8(float64(n))
	squared := archsimd.BroadcastFloat64x8(float64(n * n))
	share, share2 := archsimd.BroadcastFloat64x8(1/float64(n)), archsimd.BroadcastFloat64x8(1/float64(n*n))
	zero := archsimd.BroadcastFloat64x8(0)
	for i := 0; ; i += 8 {
		i = min(i, w-8)
		s := loadSums8(from, i).ExtendToUint64()
		x := s.ConvertToFloat64()
		q := x.Mul(share)
		storeFloats8(to, i, zero.Sub(q).MulAdd(pixels, x).MulAdd(share, q).ConvertToFloat32())
		x = count.Mul(load64(from2, i)).Sub(s.Mul(s)).ConvertToFloat64()
		q = x.Mul(share2)
		storeFloats8(to2, i, zero.Sub(q).MulAdd(squared, x).MulAdd(share2, q).ConvertToFloat32())
		if i == w-8 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}
