//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Kernels for 64-bit running sums with 256-bit vectors. AVX2 can neither convert between floats and 64-bit integers nor
// multiply 64-bit integers.

func load4x64(p unsafe.Pointer, at int) archsimd.Uint64x4 {
	return archsimd.LoadUint64x4((*[4]uint64)(unsafe.Add(p, 8*at)))
}

func store4x64(p unsafe.Pointer, at int, v archsimd.Uint64x4) {
	v.Store((*[4]uint64)(unsafe.Add(p, 8*at)))
}

// storeSixteen writes sixteen sums.
func storeSixteen(p unsafe.Pointer, at int, a, b, c, d archsimd.Uint64x4) {
	store4x64(p, at, a)
	store4x64(p, at+4, b)
	store4x64(p, at+8, c)
	store4x64(p, at+12, d)
}

// of returns the prefix sums: in each lane the sum of itself and those before it.
func (p *prefix64) of(v archsimd.Uint64x4) archsimd.Uint64x4 {
	v = v.Add(v.AsUint8x32().ConcatShiftBytesRightGrouped(8, p.zero).AsUint64x4())
	return v.Add(v.AsUint32x8().Permute(p.second).And(p.upper).AsUint64x4())
}

// end returns the last lane in every lane.
func (p *prefix64) end(v archsimd.Uint64x4) archsimd.Uint64x4 {
	return v.AsUint32x8().Permute(p.last).AsUint64x4()
}

// scan64x256 is scan32x256 for 64 bits.
func scan64x256(dst, col []uint64, k int) {
	n := len(dst)
	if n < 9 {
		scan(dst, col, k)
		return
	}
	scan(dst[:1], col[:k], k)
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&col[:n+k-1][0])
	p := newPrefix64()
	carry := archsimd.BroadcastUint64x4(dst[0])
	last := n - 4
	for i := 1; ; i += 4 {
		if i > last {
			// The window before the last vector is already computed.
			i = last
			carry = p.end(load4x64(to, last-4))
		}
		v := p.of(load4x64(from, i-1+k).Sub(load4x64(from, i-1)))
		store4x64(to, i, v.Add(carry))
		if i == last {
			break
		}
		carry = carry.Add(p.end(v))
	}
	archsimd.ClearAVXUpperBits()
}

// included are the words of an exclusion mask: all bits where a pixel counts.
func included(out unsafe.Pointer, at int, zero archsimd.Uint16x16) archsimd.Uint16x16 {
	return loadBytes16(out, at).ExtendToUint16().Equal(zero).ToInt16x16().AsUint16x16()
}

// censor256 works on 16 pixels at a time. Where nothing is excluded, which is almost everywhere, the counts of the two
// rows cancel.
func censor256(col []uint64, add, sub []uint16, addOut, subOut []uint8) {
	n := len(col)
	if n < 16 {
		censor(col, add, sub, addOut, subOut)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	r, s := unsafe.Pointer(&addOut[:n][0]), unsafe.Pointer(&subOut[:n][0])
	zero, shift := archsimd.BroadcastUint16x16(0), archsimd.BroadcastUint64x4(CountShift)
	// moved adds the differences of samples and of counts to four sums.
	moved := func(i int, d, counts archsimd.Int32x4) archsimd.Uint64x4 {
		v := load4x64(c, i).Add(d.ExtendToInt64().AsUint64x4())
		return v.Add(counts.ExtendToInt64().AsUint64x4().ShiftLeft(shift))
	}
	step := func(i int) (a, b, e, f archsimd.Uint64x4) {
		in, out := included(r, i, zero), included(s, i, zero)
		x, y := loadWords16(p, i).And(in), loadWords16(q, i).And(out)
		// The masks are −1 where a pixel counts.
		counts := out.Sub(in).AsInt16x16()
		low := x.GetLo().ExtendToUint32().Sub(y.GetLo().ExtendToUint32()).AsInt32x8()
		high := x.GetHi().ExtendToUint32().Sub(y.GetHi().ExtendToUint32()).AsInt32x8()
		less, more := counts.GetLo().ExtendToInt32(), counts.GetHi().ExtendToInt32()
		a, b = moved(i, low.GetLo(), less.GetLo()), moved(i+4, low.GetHi(), less.GetHi())
		return a, b, moved(i+8, high.GetLo(), more.GetLo()), moved(i+12, high.GetHi(), more.GetHi())
	}
	last := n - 16
	a1, b1, e1, f1 := step(last)
	for i := 0; i < last; i += 16 {
		if !loadBytes16(r, i).Or(loadBytes16(s, i)).IsZero() {
			a, b, e, f := step(i)
			storeSixteen(c, i, a, b, e, f)
			continue
		}
		x, y := loadWords16(p, i), loadWords16(q, i)
		low := x.GetLo().ExtendToUint32().Sub(y.GetLo().ExtendToUint32()).AsInt32x8()
		high := x.GetHi().ExtendToUint32().Sub(y.GetHi().ExtendToUint32()).AsInt32x8()
		storeSixteen(c, i, load4x64(c, i).Add(low.GetLo().ExtendToInt64().AsUint64x4()),
			load4x64(c, i+4).Add(low.GetHi().ExtendToInt64().AsUint64x4()),
			load4x64(c, i+8).Add(high.GetLo().ExtendToInt64().AsUint64x4()),
			load4x64(c, i+12).Add(high.GetHi().ExtendToInt64().AsUint64x4()))
	}
	storeSixteen(c, last, a1, b1, e1, f1)
	archsimd.ClearAVXUpperBits()
}

// doubles64 converts integers to float64: each half of a number becomes a float with a suitable exponent; subtracting
// the exponents and adding the halves rounds only once.
type doubles64 struct {
	low, lowExponent, highExponent, half archsimd.Uint64x4
	both                                 archsimd.Float64x4
}

func newDoubles64() doubles64 {
	return doubles64{
		archsimd.BroadcastUint64x4(1<<32 - 1), archsimd.BroadcastUint64x4(0x433 << 52),
		archsimd.BroadcastUint64x4(0x453 << 52), archsimd.BroadcastUint64x4(32),
		archsimd.BroadcastFloat64x4(1<<84 + 1<<52),
	}
}

func (d *doubles64) of(v archsimd.Uint64x4) archsimd.Float64x4 {
	high := v.ShiftRight(d.half).Or(d.highExponent).AsFloat64x4().Sub(d.both)
	return high.Add(v.And(d.low).Or(d.lowExponent).AsFloat64x4())
}

// censoredMean256 divides in floats, which is exact: a sum of n samples plus half a unit is at least half a unit away
// from the next multiple of n. Most windows hold as many pixels as the one before, so that a division is saved. For
// short rows the plain kernel is faster.
func censoredMean256(dst []uint16, sum, inverse []uint64, need uint64) bool {
	const few = 64
	n := len(dst)
	if n < few || need >= 1<<63 {
		return censoredMean(dst, sum, inverse, need)
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&sum[:n][0])
	low, one := archsimd.BroadcastUint64x4(sumMask), archsimd.BroadcastUint64x4(1)
	enough, none := archsimd.BroadcastInt64x4(int64(need)), archsimd.BroadcastUint64x4(0)
	half, unit := archsimd.BroadcastFloat64x4(0.5), archsimd.BroadcastFloat64x4(1)
	shift, d, order := archsimd.BroadcastUint64x4(CountShift), newDoubles64(), places32(twos)
	same, reciprocal, short := one, unit, none
	four := func(i int) archsimd.Int32x4 {
		s := load4x64(from, i)
		count := s.ShiftRight(shift)
		short = short.Or(enough.Greater(count.AsInt64x4()).ToInt64x4().AsUint64x4())
		x := d.of(s.And(low).Add(count.ShiftRight(one))).Add(half)
		if count.Equal(same).ToBits() == 0xf {
			return x.Mul(reciprocal).ConvertToInt32()
		}
		pixels := d.of(count.Or(count.Equal(none).ToInt64x4().AsUint64x4().And(one)))
		same, reciprocal = count.GetLo().Broadcast1To4(), unit.Div(pixels.GetLo().Broadcast1To4())
		return x.Div(pixels).ConvertToInt32()
	}
	for i := 0; ; i += 8 {
		i = min(i, n-8)
		var q archsimd.Int32x8
		q = q.SetLo(four(i))
		q = q.SetHi(four(i + 4))
		v := q.SaturateToUint16ConcatGrouped(q).AsUint32x8().Permute(order).AsUint16x16()
		v.GetLo().Store((*[8]uint16)(unsafe.Add(to, 2*i)))
		if i == n-8 {
			break
		}
	}
	poor := !short.IsZero()
	archsimd.ClearAVXUpperBits()
	return poor
}
