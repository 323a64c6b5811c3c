//go:build goexperiment.simd && amd64

package kernel

import (
	"math"
	"simd/archsimd"
	"unsafe"

	"blik/processing"
)

// Kernels for 32-bit running sums with 256-bit vectors. A row is processed in whole vectors; the last one overlaps the
// one before, and if sums are updated in place, it is computed first and written last. Offsets are in samples.

func loadSums8(p unsafe.Pointer, at int) archsimd.Uint32x8 {
	return archsimd.LoadUint32x8((*[8]uint32)(unsafe.Add(p, 4*at)))
}

func storeSums8(p unsafe.Pointer, at int, v archsimd.Uint32x8) {
	v.Store((*[8]uint32)(unsafe.Add(p, 4*at)))
}

// moved8 returns two vectors of sums with 16 bytes of two rows added and subtracted.
func moved8(col, add, sub unsafe.Pointer, at int) (a, b archsimd.Uint32x8) {
	x, y := loadBytes16(add, at).ExtendToUint16(), loadBytes16(sub, at).ExtendToUint16()
	// The differences are signed words.
	d := x.Sub(y).AsInt16x16()
	a = loadSums8(col, at).Add(d.GetLo().ExtendToInt32().AsUint32x8())
	return a, loadSums8(col, at+8).Add(d.GetHi().ExtendToInt32().AsUint32x8())
}

// moved16 is moved8 for words.
func moved16(col, add, sub unsafe.Pointer, at int) (a, b archsimd.Uint32x8) {
	x, y := loadWords16(add, at), loadWords16(sub, at)
	a = loadSums8(col, at).Add(x.GetLo().ExtendToUint32()).Sub(y.GetLo().ExtendToUint32())
	return a, loadSums8(col, at+8).Add(x.GetHi().ExtendToUint32()).Sub(y.GetHi().ExtendToUint32())
}

func slide32x8(col []uint32, add, sub []uint8) {
	n := len(col)
	if n < 16 {
		slide(col, add, sub)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	last := n - 16
	a1, b1 := moved8(c, p, q, last)
	for i := 0; i < last; i += 16 {
		a, b := moved8(c, p, q, i)
		storeSums8(c, i, a)
		storeSums8(c, i+8, b)
	}
	storeSums8(c, last, a1)
	storeSums8(c, last+8, b1)
	archsimd.ClearAVXUpperBits()
}

func slide32x16(col []uint32, add, sub []uint16) {
	n := len(col)
	if n < 16 {
		slide(col, add, sub)
		return
	}
	c, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	last := n - 16
	a1, b1 := moved16(c, p, q, last)
	for i := 0; i < last; i += 16 {
		a, b := moved16(c, p, q, i)
		storeSums8(c, i, a)
		storeSums8(c, i+8, b)
	}
	storeSums8(c, last, a1)
	storeSums8(c, last+8, b1)
	archsimd.ClearAVXUpperBits()
}

// upperHalf selects the upper half of a vector.
const upperHalf = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

// scan32x256 adds up the differences inside a vector in three steps, apart from the running sum, so that each vector
// waits for the one before by a single addition only.
func scan32x256(dst, col []uint32, k int) {
	n := len(dst)
	if n < 17 {
		scan(dst, col, k)
		return
	}
	scan(dst[:1], col[:k], k)
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&col[:n+k-1][0])
	p, seven := newPrefix8(), archsimd.BroadcastUint32x8(7)
	carry := archsimd.BroadcastUint32x8(dst[0])
	last := n - 8
	for i := 1; ; i += 8 {
		if i > last {
			// The window before the last vector is already computed.
			i = last
			carry = loadSums8(to, last-8).Permute(seven)
		}
		v := p.of(loadSums8(from, i-1+k).Sub(loadSums8(from, i-1)))
		storeSums8(to, i, v.Add(carry))
		if i == last {
			break
		}
		carry = carry.Add(v.Permute(seven))
	}
	archsimd.ClearAVXUpperBits()
}

// quotients returns eight sums of n samples, with half a unit added, over n as floats whose whole part is exact: each
// product of sums below 2²³ errs by less than 2⁻¹⁵, and the quotients are farther than 1/2n from the next integer.
func quotients(sum unsafe.Pointer, at int, half archsimd.Uint32x8, inverse, unit archsimd.Float32x8) archsimd.Int32x8 {
	s := loadSums8(sum, at).Add(half).AsInt32x8().ConvertToFloat32()
	return s.Add(unit).Mul(inverse).ConvertToInt32()
}

func mean32x8(dst []uint8, sum []uint32, pixels uint64) {
	n := len(dst)
	if n < 32 || pixels >= MaxMean {
		means(dst, sum, pixels)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&sum[:n][0])
	half, unit := archsimd.BroadcastUint32x8(uint32(pixels/2)), archsimd.BroadcastFloat32x8(0.5)
	inverse := archsimd.BroadcastFloat32x8(1 / float32(pixels))
	low, high, order := byteOrder()
	for i := 0; ; i += 32 {
		i = min(i, n-32)
		a := quotients(from, i, half, inverse, unit).
			SaturateToUint16ConcatGrouped(quotients(from, i+8, half, inverse, unit))
		b := quotients(from, i+16, half, inverse, unit).
			SaturateToUint16ConcatGrouped(quotients(from, i+24, half, inverse, unit))
		v := a.AsUint8x32().PermuteOrZeroGrouped(low).Or(b.AsUint8x32().PermuteOrZeroGrouped(high))
		v.AsUint32x8().Permute(order).AsUint8x32().Store((*[32]uint8)(unsafe.Add(to, i)))
		if i == n-32 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// quotients64 is quotients for four sums of any size, in float64.
func quotients64(s archsimd.Uint32x4, unit, inverse archsimd.Float64x4) archsimd.Int32x4 {
	// The conversion is one of signed integers.
	v := s.Xor(archsimd.BroadcastUint32x4(1 << 31)).AsInt32x4().ConvertToFloat64()
	return v.Add(unit).Mul(inverse).ConvertToInt32()
}

func mean32x16(dst []uint16, sum []uint32, pixels uint64) {
	n := len(dst)
	if n < 16 || pixels >= maxInverse {
		means(dst, sum, pixels)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&sum[:n][0])
	unit := archsimd.BroadcastFloat64x4(float64(pixels/2) + 0.5 + 1<<31)
	inverse := archsimd.BroadcastFloat64x4(1 / float64(pixels))
	order := places32(twos)
	eight := func(i int) (v archsimd.Int32x8) {
		s := loadSums8(from, i)
		v = v.SetLo(quotients64(s.GetLo(), unit, inverse))
		return v.SetHi(quotients64(s.GetHi(), unit, inverse))
	}
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		v := eight(i).SaturateToUint16ConcatGrouped(eight(i + 8))
		v.AsUint32x8().Permute(order).AsUint16x16().Store((*[16]uint16)(unsafe.Add(to, 2*i)))
		if i == n-16 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// differenceThreshold256 works on 16 pixels.
func differenceThreshold256(dst []uint8, y, bg []uint16, v []uint8, over, level int32) {
	n := len(dst)
	if n < 16 || over > 65535 || level < 1 || level > 255 {
		differenceThreshold(dst, y, bg, v, over, level)
		return
	}
	to, p, q := unsafe.Pointer(&dst[0]), unsafe.Pointer(&y[:n][0]), unsafe.Pointer(&bg[:n][0])
	r := unsafe.Pointer(&v[:n][0])
	least := archsimd.BroadcastUint8x16(uint8(level))
	limit, zero := archsimd.BroadcastUint16x16(uint16(over)), archsimd.BroadcastUint16x16(0)
	even, odd := lowByteOrder()
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		// y − bg > over if subtracting over from the difference leaves more than 0.
		low := loadWords16(p, i).SubSaturated(loadWords16(q, i)).SubSaturated(limit).Equal(zero).ToInt16x16()
		level := loadBytes16(r, i)
		bright := level.Max(least).Equal(level).ToInt8x16().AsUint8x16()
		bright.AndNot(lowBytes(low.AsUint16x16(), even, odd)).Store((*[16]uint8)(unsafe.Add(to, i)))
		if i == n-16 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// share16 is a share below 2, in 1/65536.
type share16 struct{ part, whole archsimd.Uint16x16 }

func newShare16(share uint32) share16 {
	return share16{
		archsimd.BroadcastUint16x16(uint16(share)), archsimd.BroadcastUint16x16(-uint16(share >> 16 & 1)),
	}
}

// of returns the share of v, rounded down, or 65535 if that is less. d·65536 exceeds the share times v if d exceeds
// this.
func (s *share16) of(v archsimd.Uint16x16) archsimd.Uint16x16 {
	return v.MulHigh(s.part).AddSaturated(v.And(s.whole))
}

// contrast256 works on 16 pixels. Few blocks have a pixel that is bright enough for the other conditions.
func contrast256(cls []uint8, seed, y, bg []uint16, v []uint8, rule processing.ContrastRule) {
	n := len(cls)
	if n < 16 || max(rule.Relative, rule.SeedRelative) >= 1<<17 {
		contrast(cls, seed, y, bg, v, rule)
		return
	}
	to, to2 := unsafe.Pointer(&cls[0]), unsafe.Pointer(&seed[:n][0])
	p, q, r := unsafe.Pointer(&y[:n][0]), unsafe.Pointer(&bg[:n][0]), unsafe.Pointer(&v[:n][0])
	absolute, strong := archsimd.BroadcastUint16x16(rule.Absolute), archsimd.BroadcastUint16x16(rule.SeedAbsolute)
	level := archsimd.BroadcastUint16x16(uint16(rule.SeedLevel))
	relative, room := newShare16(rule.Relative), newShare16(rule.SeedRelative)
	zero, one, white := archsimd.BroadcastUint16x16(0), archsimd.BroadcastUint16x16(1),
		archsimd.BroadcastUint16x16(math.MaxUint16)
	wide, both := archsimd.BroadcastUint16x16(uint16(processing.ClassWide)),
		archsimd.BroadcastUint16x16(uint16(processing.ClassSeed))
	none := archsimd.BroadcastUint8x16(0)
	even, odd := lowByteOrder()
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		b := loadWords16(q, i)
		d := loadWords16(p, i).SubSaturated(b)
		over := d.SubSaturated(absolute)
		if over.IsZero() {
			none.Store((*[16]uint8)(unsafe.Add(to, i)))
			store16x256(to2, 2*i, zero)
		} else {
			// A difference of 0 is a condition that is not met.
			dark := over.Equal(zero).Or(d.SubSaturated(relative.of(b)).Equal(zero))
			weak := dark.Or(d.SubSaturated(strong).Equal(zero)).Or(d.SubSaturated(room.of(white.Sub(b))).Equal(zero))
			light := loadBytes16(r, i).ExtendToUint16().Add(one)
			fails := weak.Or(light.SubSaturated(level).Equal(zero)).ToInt16x16().AsUint16x16()
			c := wide.AndNot(dark.ToInt16x16().AsUint16x16()).Or(both.AndNot(fails))
			lowBytes(c, even, odd).Store((*[16]uint8)(unsafe.Add(to, i)))
			store16x256(to2, 2*i, d.AndNot(fails))
		}
		if i == n-16 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// cores256 works on 16 pixels and skips blocks without a class. Processing some pixels twice at the end changes
// nothing.
func cores256(cls []uint8, y, bg, m []uint16, rule processing.CoreRule) {
	n := len(cls)
	if n < 16 || rule.Core > 1<<16 || rule.Grow >= 1<<17 {
		cores(cls, y, bg, m, rule)
		return
	}
	to, p := unsafe.Pointer(&cls[0]), unsafe.Pointer(&y[:n][0])
	q, r := unsafe.Pointer(&bg[:n][0]), unsafe.Pointer(&m[:n][0])
	core, grow := newShare16(rule.Core), newShare16(rule.Grow)
	zero, one := archsimd.BroadcastUint16x16(0), archsimd.BroadcastUint16x16(1)
	wide, seed := archsimd.BroadcastUint16x16(uint16(processing.ClassWide)),
		archsimd.BroadcastUint16x16(uint16(processing.ClassSeed))
	coreBit, growBit := archsimd.BroadcastUint16x16(uint16(processing.ClassCore)),
		archsimd.BroadcastUint16x16(uint16(processing.ClassGrow))
	any := archsimd.BroadcastUint8x16(processing.ClassWide | processing.ClassSeed)
	even, odd := lowByteOrder()
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		if c := loadBytes16(to, i); !c.And(any).IsZero() {
			d, peak := loadWords16(p, i).SubSaturated(loadWords16(q, i)), loadWords16(r, i)
			// The share of the peak, rounded up: 1 more, or nothing if no part is left.
			least := core.of(peak).Add(one).Add(peak.Mul(core.part).Equal(zero).ToInt16x16().AsUint16x16())
			class := c.ExtendToUint16()
			strong := least.SubSaturated(d).Equal(zero).ToInt16x16().AsUint16x16().And(coreBit)
			low := d.SubSaturated(grow.of(peak)).Equal(zero).Or(class.And(wide).Equal(zero)).ToInt16x16().AsUint16x16()
			no := class.And(seed).Equal(zero).ToInt16x16().AsUint16x16()
			class = class.Or(strong.AndNot(no)).Or(growBit.AndNot(low))
			lowBytes(class, even, odd).Store((*[16]uint8)(unsafe.Add(to, i)))
		}
		if i == n-16 {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// Indices of the upper half of each half of a vector and of the last double, and which doubles have one of the lower
// half before them.
const (
	upperDouble = "\x06\x00\x00\x00\x07\x00\x00\x00\x06\x00\x00\x00\x07\x00\x00\x00" +
		"\x06\x00\x00\x00\x07\x00\x00\x00\x06\x00\x00\x00\x07\x00\x00\x00"
	secondDouble = "\x02\x00\x00\x00\x03\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00" +
		"\x02\x00\x00\x00\x03\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00"
)

// prefix64 holds the constants of a prefix sum over the lanes of a vector.
type prefix64 struct {
	second, upper, last archsimd.Uint32x8
	zero                archsimd.Uint8x32
}

func newPrefix64() prefix64 {
	return prefix64{places32(secondDouble), places32(upperHalf), places32(upperDouble), archsimd.BroadcastUint8x32(0)}
}
