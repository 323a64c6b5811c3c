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

// moved16 returns two vectors of sums with 16 samples of two rows added and subtracted.
func moved16(col, add, sub unsafe.Pointer, at int) (a, b archsimd.Uint32x8) {
	x, y := loadWords16(add, at), loadWords16(sub, at)
	a = loadSums8(col, at).Add(x.GetLo().ExtendToUint32()).Sub(y.GetLo().ExtendToUint32())
	return a, loadSums8(col, at+8).Add(x.GetHi().ExtendToUint32()).Sub(y.GetHi().ExtendToUint32())
}

func slideWords256(col []uint32, add, sub []uint16) {
	n := len(col)
	if n < 16 {
		Slide(col, add, sub)
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
