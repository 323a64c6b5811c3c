//go:build goexperiment.simd && amd64

package kernel

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

// Kernels for sums over a plane with 512-bit vectors, like those of reduce_avx2.go.

// moments8x512 separates the bytes of a word by shifts, which need no permutation.
func moments8x512(s []uint8) Moments[uint8] {
	whole := len(s) &^ 63
	if whole == 0 {
		return momentsOf(s)
	}
	from := unsafe.Pointer(&s[0])
	low, high := load8x512(from, 0), load8x512(from, 0)
	zero, lower := archsimd.BroadcastUint8x64(0), archsimd.BroadcastUint16x32(0xff)
	byte := archsimd.BroadcastUint16x32(8)
	sum, sum2, more2 := zero.AsUint64x8(), zero.AsInt32x16(), zero.AsInt32x16()
	for i := 0; i < whole; i += 64 {
		v := load8x512(from, i)
		low, high = low.Min(v), high.Max(v)
		sum = sum.Add(v.SumAbsDiff(zero).AsUint64x8())
		a, b := v.AsUint16x32().And(lower).AsInt16x32(), v.AsUint16x32().ShiftRight(byte).AsInt16x32()
		sum2, more2 = sum2.Add(a.DotProductPairs(a)), more2.Add(b.DotProductPairs(b))
	}
	var least, most [64]uint8
	var sums [8]uint64
	var squares [32]int32
	low.Store(&least)
	high.Store(&most)
	sum.Store(&sums)
	sum2.Store((*[16]int32)(squares[:16]))
	more2.Store((*[16]int32)(squares[16:]))
	archsimd.ClearAVXUpperBits()
	m := momentsOf(least[:])
	m.High = momentsOf(most[:]).High
	m.Sum, m.Sum2 = 0, 0
	for _, v := range sums {
		m.Sum += v
	}
	for _, v := range squares {
		m.Sum2 += uint64(v)
	}
	return m.with(s[whole:])
}

// twoSum512 is twoSum256.
func twoSum512(sum, rest, x archsimd.Float64x8) (_, _ archsimd.Float64x8) {
	t := sum.Add(x)
	z := t.Sub(sum)
	return t, rest.Add(sum.Sub(t.Sub(z)).Add(x.Sub(z)))
}

func steps512() *sumSteps {
	return &sumSteps{sumAll512, sumRising512, sumExact512, least256}
}

func floatSums512(s []float32) FloatSums { return floatSumsBy(steps512(), s) }

func sumAll512(l *momentLanes, s, extremes []float32) []float32 {
	from := unsafe.Pointer(&s[0])
	low, high := loadFloats8(from, 0), loadFloats8(from, 0)
	sum, rest := archsimd.LoadFloat64x8(&l.sum), archsimd.LoadFloat64x8(&l.rest)
	sum2, rest2 := archsimd.LoadFloat64x8(&l.sum2), archsimd.LoadFloat64x8(&l.rest2)
	for i := 0; i < len(s); i += 8 {
		v := loadFloats8(from, i)
		low, high = low.Min(v), high.Max(v)
		x := v.ConvertToFloat64()
		sum, rest = twoSum512(sum, rest, x)
		sum2, rest2 = twoSum512(sum2, rest2, x.Mul(x))
	}
	var least, most [8]float32
	low.Store(&least)
	high.Store(&most)
	sum.Store(&l.sum)
	rest.Store(&l.rest)
	sum2.Store(&l.sum2)
	rest2.Store(&l.rest2)
	archsimd.ClearAVXUpperBits()
	return append(append(extremes, least[:]...), most[:]...)
}

func sumRising512(l *momentLanes, s []float32) (low, high uint32) {
	from := unsafe.Pointer(&s[0])
	sum, rest := archsimd.LoadFloat64x8(&l.sum), archsimd.LoadFloat64x8(&l.rest)
	sum2, rest2 := archsimd.LoadFloat64x8(&l.sum2), archsimd.LoadFloat64x8(&l.rest2)
	least, most := loadFloats8(from, 0).AsUint32x8(), loadFloats8(from, 0).AsUint32x8()
	for i := 0; i < len(s); i += 8 {
		v := loadFloats8(from, i)
		least, most = least.Min(v.AsUint32x8()), most.Max(v.AsUint32x8())
		x := v.ConvertToFloat64()
		t := sum.Add(x)
		rest = rest.Add(x.Sub(t.Sub(sum)))
		sum = t
		x = x.Mul(x)
		t = sum2.Add(x)
		rest2 = rest2.Add(x.Sub(t.Sub(sum2)))
		sum2 = t
	}
	sum.Store(&l.sum)
	rest.Store(&l.rest)
	sum2.Store(&l.sum2)
	rest2.Store(&l.rest2)
	return leastMost256(least, most)
}

func sumExact512(l *momentLanes, s []float32) (low, high uint32) {
	from := unsafe.Pointer(&s[0])
	sum := archsimd.LoadFloat64x8(&l.sum)
	sum2, rest2 := archsimd.LoadFloat64x8(&l.sum2), archsimd.LoadFloat64x8(&l.rest2)
	least, most := loadFloats8(from, 0).AsUint32x8(), loadFloats8(from, 0).AsUint32x8()
	for i := 0; i < len(s); i += 8 {
		v := loadFloats8(from, i)
		least, most = least.Min(v.AsUint32x8()), most.Max(v.AsUint32x8())
		x := v.ConvertToFloat64()
		sum = sum.Add(x)
		x = x.Mul(x)
		t := sum2.Add(x)
		rest2 = rest2.Add(x.Sub(t.Sub(sum2)))
		sum2 = t
	}
	sum.Store(&l.sum)
	sum2.Store(&l.sum2)
	rest2.Store(&l.rest2)
	return leastMost256(least, most)
}

// floatSum512 reads rows from beginning to end, floatSumFour512 four parts of them at once. Which one is faster depends
// on the processor; see simd.FourStreams.
func floatSum512(s []float32) Double { return floatSumBy(sumLanes512, steps512(), s) }

func floatSumFour512(s []float32) Double { return floatSumBy(sumLanesFour512, steps512(), s) }

// sumLanes512 takes sums that need no rounding.
func sumLanes512(sum *[8]float64, s []float32) (low, high uint32) {
	from := unsafe.Pointer(&s[0])
	zero := archsimd.BroadcastFloat64x8(0)
	a, b, c, d := zero, zero, zero, zero
	// For 0, the bits minus 1 wrap to the largest number.
	one := archsimd.BroadcastUint32x16(1)
	low16, high16 := archsimd.BroadcastUint32x16(math.MaxUint32), archsimd.BroadcastUint32x16(0)
	i := 0
	for ; i+32 <= len(s); i += 32 {
		u, v := loadFloats16(from, i), loadFloats16(from, i+16)
		low16 = low16.Min(u.AsUint32x16().Sub(one)).Min(v.AsUint32x16().Sub(one))
		high16 = high16.Max(u.AsUint32x16()).Max(v.AsUint32x16())
		a, b = a.Add(u.GetLo().ConvertToFloat64()), b.Add(u.GetHi().ConvertToFloat64())
		c, d = c.Add(v.GetLo().ConvertToFloat64()), d.Add(v.GetHi().ConvertToFloat64())
	}
	least, most := low16.GetLo().Min(low16.GetHi()), high16.GetLo().Max(high16.GetHi())
	for ; i < len(s); i += 8 {
		v := loadFloats8(from, i)
		least, most = least.Min(v.AsUint32x8().Sub(one.GetLo())), most.Max(v.AsUint32x8())
		a = a.Add(v.ConvertToFloat64())
	}
	a.Add(b).Add(c.Add(d)).Store(sum)
	low, high = leastMost256(least, most)
	return low + 1, high
}

// sumLanesFour512 reads four parts of a long row at once, because several streams use more of the memory's bandwidth.
func sumLanesFour512(sum *[8]float64, s []float32) (low, high uint32) {
	from := unsafe.Pointer(&s[0])
	zero := archsimd.BroadcastFloat64x8(0)
	a, b, c, d := zero, zero, zero, zero
	least, most := loadFloats8(from, 0).AsUint32x8(), loadFloats8(from, 0).AsUint32x8()
	part := len(s) / 64 * 16
	if part > 0 {
		low, high := loadSums16(from, 0), loadSums16(from, 0)
		for i := 0; i < part; i += 16 {
			u, v := loadSums16(from, i), loadSums16(from, i+part)
			low, high = low.Min(u).Min(v), high.Max(u).Max(v)
			a, b = a.Add(loadH512(from, 8*i)), b.Add(loadH512(from, 8*i+64))
			c, d = c.Add(loadH512(from, 8*(i+part))), d.Add(loadH512(from, 8*(i+part)+64))
			u, v = loadSums16(from, i+2*part), loadSums16(from, i+3*part)
			low, high = low.Min(u).Min(v), high.Max(u).Max(v)
			a, b = a.Add(loadH512(from, 8*(i+2*part))), b.Add(loadH512(from, 8*(i+2*part)+64))
			c, d = c.Add(loadH512(from, 8*(i+3*part))), d.Add(loadH512(from, 8*(i+3*part)+64))
		}
		least, most = low.GetLo().Min(low.GetHi()), high.GetLo().Max(high.GetHi())
	}
	for i := 4 * part; i < len(s); i += 8 {
		u := loadFloats8(from, i)
		least, most = least.Min(u.AsUint32x8()), most.Max(u.AsUint32x8())
		a = a.Add(u.ConvertToFloat64())
	}
	a.Add(b).Add(c.Add(d)).Store(sum)
	return leastMost256(least, most)
}

// Indices of the even and the odd samples of two vectors.
const (
	evenOfTwo = "\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x06\x00\x00\x00" +
		"\x08\x00\x00\x00\x0a\x00\x00\x00\x0c\x00\x00\x00\x0e\x00\x00\x00" +
		"\x10\x00\x00\x00\x12\x00\x00\x00\x14\x00\x00\x00\x16\x00\x00\x00" +
		"\x18\x00\x00\x00\x1a\x00\x00\x00\x1c\x00\x00\x00\x1e\x00\x00\x00"
	oddOfTwo = "\x01\x00\x00\x00\x03\x00\x00\x00\x05\x00\x00\x00\x07\x00\x00\x00" +
		"\x09\x00\x00\x00\x0b\x00\x00\x00\x0d\x00\x00\x00\x0f\x00\x00\x00" +
		"\x11\x00\x00\x00\x13\x00\x00\x00\x15\x00\x00\x00\x17\x00\x00\x00" +
		"\x19\x00\x00\x00\x1b\x00\x00\x00\x1d\x00\x00\x00\x1f\x00\x00\x00"
)

// split512 is split256, but with the samples in order.
type split512 struct{ even, odd archsimd.Uint32x16 }

func newSplit512() split512 { return split512{places16(evenOfTwo), places16(oddOfTwo)} }

func (s split512) of(from unsafe.Pointer, at int) (even, odd archsimd.Float32x16) {
	p, q := loadF512(from, at), loadF512(from, at+64)
	return p.ConcatPermute(q, s.even), p.ConcatPermute(q, s.odd)
}

func (split512) inOrder(v archsimd.Float32x16) archsimd.Float32x16 { return v }
