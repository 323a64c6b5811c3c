//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"slices"
	"unsafe"
)

// Kernels for sums over a plane with 256-bit vectors. The rest of a row after its whole vectors is added as the plain
// kernels do.

// moments8x256 adds the squares of even and of odd samples, which masks and products separate.
func moments8x256(s []uint8) Moments[uint8] {
	whole := len(s) &^ 63
	if whole == 0 {
		return momentsOf(s)
	}
	from := unsafe.Pointer(&s[0])
	low, high := load8x256(from, 0), load8x256(from, 0)
	even, odd := archsimd.BroadcastUint16x16(0xff), archsimd.BroadcastUint16x16(1<<8).AsInt8x32()
	zero := archsimd.BroadcastUint8x32(0)
	sum, sum2 := zero.AsUint64x4(), zero.AsInt32x8()
	rest, rest2 := sum, sum2
	for p, i := from, 0; i < whole; {
		v, w := load8x256(p, 0), load8x256(p, 32)
		low, high = low.Min(v.Min(w)), high.Max(v.Max(w))
		sum, rest = sum.Add(v.SumAbsDiff(zero).AsUint64x4()), rest.Add(w.SumAbsDiff(zero).AsUint64x4())
		a, b := v.AsUint16x16().And(even).AsInt16x16(), v.DotProductPairsSaturated(odd)
		c, d := w.AsUint16x16().And(even).AsInt16x16(), w.DotProductPairsSaturated(odd)
		sum2 = sum2.Add(a.DotProductPairs(a).Add(b.DotProductPairs(b)))
		rest2 = rest2.Add(c.DotProductPairs(c).Add(d.DotProductPairs(d)))
		if i += 64; i < whole {
			p = unsafe.Add(from, i)
		}
	}
	// Each lane is less than 2³⁰.
	sum, sum2 = sum.Add(rest), sum2.Add(rest2)
	var least, most [32]uint8
	var sums [4]uint64
	var squares [8]int32
	low.Store(&least)
	high.Store(&most)
	sum.Store(&sums)
	sum2.Store(&squares)
	archsimd.ClearAVXUpperBits()
	m := momentsOf(least[:])
	m.High = momentsOf(most[:]).High
	m.Sum, m.Sum2 = sums[0]+sums[1]+sums[2]+sums[3], 0
	for _, v := range squares {
		m.Sum2 += uint64(v)
	}
	return m.with(s[whole:])
}

func moments16x256(s []uint16) Moments[uint16] {
	whole := len(s) &^ 15
	if whole == 0 {
		return momentsOf(s)
	}
	from := unsafe.Pointer(&s[0])
	low, high := loadWords16(from, 0), loadWords16(from, 0)
	zero := archsimd.BroadcastUint32x8(0)
	sum, even, odd := zero, zero.AsUint64x4(), zero.AsUint64x4()
	half, lower := archsimd.BroadcastUint64x4(32), archsimd.BroadcastUint64x4(1<<32-1)
	for i := 0; i < whole; i += 16 {
		v := loadWords16(from, i)
		low, high = low.Min(v), high.Max(v)
		a, b := v.GetLo().ExtendToUint32(), v.GetHi().ExtendToUint32()
		sum = sum.Add(a.Add(b))
		// The squares have 32 bits; half of them lie in the upper halves of 64.
		a, b = a.Mul(a), b.Mul(b)
		even = even.Add(a.AsUint64x4().ShiftRight(half)).Add(b.AsUint64x4().ShiftRight(half))
		odd = odd.Add(a.AsUint64x4().And(lower)).Add(b.AsUint64x4().And(lower))
	}
	var least, most [16]uint16
	var sums [8]uint32
	var squares [8]uint64
	low.Store(&least)
	high.Store(&most)
	sum.Store(&sums)
	even.Store((*[4]uint64)(squares[:4]))
	odd.Store((*[4]uint64)(squares[4:]))
	archsimd.ClearAVXUpperBits()
	m := momentsOf(least[:])
	m.High = momentsOf(most[:]).High
	m.Sum, m.Sum2 = 0, 0
	for i, v := range squares {
		m.Sum += uint64(sums[i])
		m.Sum2 += v
	}
	return m.with(s[whole:])
}

// twoSum256 adds x to sums, and the rounding errors to rest (Knuth's two-sum).
func twoSum256(sum, rest, x archsimd.Float64x4) (_, _ archsimd.Float64x4) {
	t := sum.Add(x)
	z := t.Sub(sum)
	return t, rest.Add(sum.Sub(t.Sub(z)).Add(x.Sub(z)))
}

func steps256() *sumSteps {
	return &sumSteps{sumAll256, sumRising256, sumExact256, least256}
}

func floatSums256(s []float32) FloatSums { return floatSumsBy(steps256(), s) }

func floatSum256(s []float32) Double { return floatSumBy(sumLanes256, steps256(), s) }

// sumLanes256 takes sums that need no rounding. The pointer comes from the previous step, so that the compiler folds
// offsets into the loads.
func sumLanes256(sum *[8]float64, s []float32) (low, high uint32) {
	from := unsafe.Pointer(&s[0])
	zero := archsimd.BroadcastFloat64x4(0)
	a, b, c, d := zero, zero, zero, zero
	least, most := loadF256(from, 0).AsUint32x8(), loadF256(from, 0).AsUint32x8()
	p, i := from, 0
	for i+32 <= len(s) {
		t, u := loadF256(p, 0).AsUint32x8(), loadF256(p, 32).AsUint32x8()
		v, w := loadF256(p, 64).AsUint32x8(), loadF256(p, 96).AsUint32x8()
		least, most = least.Min(t.Min(u).Min(v.Min(w))), most.Max(t.Max(u).Max(v.Max(w)))
		a, b = a.Add(loadWide256(p, 0)), b.Add(loadWide256(p, 16))
		c, d = c.Add(loadWide256(p, 32)), d.Add(loadWide256(p, 48))
		a, b = a.Add(loadWide256(p, 64)), b.Add(loadWide256(p, 80))
		c, d = c.Add(loadWide256(p, 96)), d.Add(loadWide256(p, 112))
		if i += 32; i < len(s) {
			p = unsafe.Add(from, 4*i)
		}
	}
	for ; i < len(s); i += 8 {
		p = unsafe.Add(from, 4*i)
		u := loadF256(p, 0).AsUint32x8()
		least, most = least.Min(u), most.Max(u)
		a, b = a.Add(loadWide256(p, 0)), b.Add(loadWide256(p, 16))
	}
	setLanes256(sum, a.Add(c), b.Add(d))
	return leastMost256(least, most)
}

// loadWide256 loads four floats at an offset in bytes.
func loadWide256(p unsafe.Pointer, at int) archsimd.Float64x4 {
	return archsimd.LoadFloat32x4((*[4]float32)(unsafe.Add(p, at))).ConvertToFloat64()
}

func least256(s []float32) uint32 {
	from := unsafe.Pointer(&s[0])
	one := archsimd.BroadcastUint32x8(1)
	// For 0, the bits minus 1 wrap to the largest number.
	least := loadFloats8(from, 0).AsUint32x8().Sub(one)
	for i := 8; i < len(s); i += 8 {
		least = least.Min(loadFloats8(from, i).AsUint32x8().Sub(one))
	}
	var l [8]uint32
	least.Store(&l)
	archsimd.ClearAVXUpperBits()
	return slices.Min(l[:]) + 1
}

func sumAll256(l *momentLanes, s, extremes []float32) []float32 {
	from := unsafe.Pointer(&s[0])
	low, high := loadFloats8(from, 0), loadFloats8(from, 0)
	sumA, sumB := lanes256(&l.sum)
	restA, restB := lanes256(&l.rest)
	sum2A, sum2B := lanes256(&l.sum2)
	rest2A, rest2B := lanes256(&l.rest2)
	for i := 0; i < len(s); i += 8 {
		v := loadFloats8(from, i)
		low, high = low.Min(v), high.Max(v)
		a, b := v.GetLo().ConvertToFloat64(), v.GetHi().ConvertToFloat64()
		sumA, restA = twoSum256(sumA, restA, a)
		sumB, restB = twoSum256(sumB, restB, b)
		sum2A, rest2A = twoSum256(sum2A, rest2A, a.Mul(a))
		sum2B, rest2B = twoSum256(sum2B, rest2B, b.Mul(b))
	}
	var least, most [8]float32
	low.Store(&least)
	high.Store(&most)
	setLanes256(&l.sum, sumA, sumB)
	setLanes256(&l.rest, restA, restB)
	setLanes256(&l.sum2, sum2A, sum2B)
	setLanes256(&l.rest2, rest2A, rest2B)
	archsimd.ClearAVXUpperBits()
	return append(append(extremes, least[:]...), most[:]...)
}

func sumRising256(l *momentLanes, s []float32) (low, high uint32) {
	from := unsafe.Pointer(&s[0])
	sumA, sumB := lanes256(&l.sum)
	restA, restB := lanes256(&l.rest)
	sum2A, sum2B := lanes256(&l.sum2)
	rest2A, rest2B := lanes256(&l.rest2)
	least, most := loadFloats8(from, 0).AsUint32x8(), loadFloats8(from, 0).AsUint32x8()
	for i := 0; i < len(s); i += 8 {
		v := loadFloats8(from, i)
		least, most = least.Min(v.AsUint32x8()), most.Max(v.AsUint32x8())
		a, b := v.GetLo().ConvertToFloat64(), v.GetHi().ConvertToFloat64()
		sumA, restA = fastTwoSum256(sumA, restA, a)
		sumB, restB = fastTwoSum256(sumB, restB, b)
		sum2A, rest2A = fastTwoSum256(sum2A, rest2A, a.Mul(a))
		sum2B, rest2B = fastTwoSum256(sum2B, rest2B, b.Mul(b))
	}
	setLanes256(&l.sum, sumA, sumB)
	setLanes256(&l.rest, restA, restB)
	setLanes256(&l.sum2, sum2A, sum2B)
	setLanes256(&l.rest2, rest2A, rest2B)
	return leastMost256(least, most)
}

func sumExact256(l *momentLanes, s []float32) (low, high uint32) {
	from := unsafe.Pointer(&s[0])
	sumA, sumB := lanes256(&l.sum)
	sum2A, sum2B := lanes256(&l.sum2)
	rest2A, rest2B := lanes256(&l.rest2)
	least, most := loadFloats8(from, 0).AsUint32x8(), loadFloats8(from, 0).AsUint32x8()
	for i := 0; i < len(s); i += 8 {
		v := loadFloats8(from, i)
		least, most = least.Min(v.AsUint32x8()), most.Max(v.AsUint32x8())
		a, b := v.GetLo().ConvertToFloat64(), v.GetHi().ConvertToFloat64()
		sumA, sumB = sumA.Add(a), sumB.Add(b)
		sum2A, rest2A = fastTwoSum256(sum2A, rest2A, a.Mul(a))
		sum2B, rest2B = fastTwoSum256(sum2B, rest2B, b.Mul(b))
	}
	setLanes256(&l.sum, sumA, sumB)
	setLanes256(&l.sum2, sum2A, sum2B)
	setLanes256(&l.rest2, rest2A, rest2B)
	return leastMost256(least, most)
}

// leastMost256 reduces extremes, and ends a kernel.
func leastMost256(least, most archsimd.Uint32x8) (low, high uint32) {
	var l, h [8]uint32
	least.Store(&l)
	most.Store(&h)
	archsimd.ClearAVXUpperBits()
	return slices.Min(l[:]), slices.Max(h[:])
}

// fastTwoSum256 is twoSum256 for 0 ≤ x ≤ sum (Dekker's fast two-sum).
func fastTwoSum256(sum, rest, x archsimd.Float64x4) (_, _ archsimd.Float64x4) {
	t := sum.Add(x)
	return t, rest.Add(x.Sub(t.Sub(sum)))
}

// lanes256 are eight sums as two vectors.
func lanes256(s *[8]float64) (a, b archsimd.Float64x4) {
	return archsimd.LoadFloat64x4((*[4]float64)(s[:4])), archsimd.LoadFloat64x4((*[4]float64)(s[4:]))
}

func setLanes256(s *[8]float64, a, b archsimd.Float64x4) {
	a.Store((*[4]float64)(s[:4]))
	b.Store((*[4]float64)(s[4:]))
}

// split256 separates samples into even and odd ones, which are in order after inOrder.
type split256 struct{ order archsimd.Uint32x8 }

func newSplit256() split256 { return split256{places32(twos)} }

func (s split256) of(from unsafe.Pointer, at int) (even, odd archsimd.Float32x8) {
	p, q := loadF256(from, at), loadF256(from, at+32)
	return p.SelectFromPairGrouped(0, 2, 4, 6, q), p.SelectFromPairGrouped(1, 3, 5, 7, q)
}

func (s split256) inOrder(v archsimd.Float32x8) archsimd.Float32x8 { return v.Permute(s.order) }

// analyse256 leaves the first coefficients, which wrap round the end of the row, to the plain kernel.
func analyse256(low, high, x []float32, f *Filter) {
	n := len(high)
	if n < 9 {
		analyse(low, high, x, f)
		return
	}
	first := [4]float32{x[len(x)-2], x[len(x)-1], x[0], x[1]}
	analyse(low[:1], high[:1], first[2:], &Filter{low: f.low, high: f.high, Short: true})
	if !f.Short {
		var l, h [2]float32
		analyse(l[:], h[:], first[:], f)
		low[0], high[0] = l[1], h[1]
	}
	if len(low) > n {
		var l, h [2]float32
		analyse(l[:], h[:], x[len(x)-4:], f)
		low[n] = l[1]
	}
	from, toLow, toHigh := unsafe.Pointer(&x[:2*n][0]), unsafe.Pointer(&low[:n][0]), unsafe.Pointer(&high[0])
	l0, l1 := archsimd.BroadcastFloat32x8(f.low[0]), archsimd.BroadcastFloat32x8(f.low[1])
	l2, l3 := archsimd.BroadcastFloat32x8(f.low[2]), archsimd.BroadcastFloat32x8(f.low[3])
	h0, h1 := archsimd.BroadcastFloat32x8(f.high[0]), archsimd.BroadcastFloat32x8(f.high[1])
	h2, h3 := archsimd.BroadcastFloat32x8(f.high[2]), archsimd.BroadcastFloat32x8(f.high[3])
	order := places32(twos)
	last := n - 8
	for i := 1; ; i += 8 {
		i = min(i, last)
		// Even and odd samples; the halves of both vectors alternate in groups of four.
		p, q := loadFloats8(from, 2*i), loadFloats8(from, 2*i+8)
		c, d := p.SelectFromPairGrouped(0, 2, 4, 6, q), p.SelectFromPairGrouped(1, 3, 5, 7, q)
		var u, v archsimd.Float32x8
		if f.Short {
			u, v = c.Mul(l2).Add(d.Mul(l3)), c.Mul(h2).Add(d.Mul(h3))
		} else {
			p, q = loadFloats8(from, 2*i-2), loadFloats8(from, 2*i+6)
			a, b := p.SelectFromPairGrouped(0, 2, 4, 6, q), p.SelectFromPairGrouped(1, 3, 5, 7, q)
			u = a.Mul(l0).Add(b.Mul(l1)).Add(c.Mul(l2)).Add(d.Mul(l3))
			v = a.Mul(h0).Add(b.Mul(h1)).Add(c.Mul(h2)).Add(d.Mul(h3))
		}
		storeFloats8(toLow, i, u.Permute(order))
		storeFloats8(toHigh, i, v.Permute(order))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// haarPair256 works on pairs of vectors of both rows.
func haarPair256(low, high, a, b []float32, f *Filter) {
	n := len(a) / 2
	if n < 8 {
		haarPair(low, high, a, b, f)
		return
	}
	from, from2 := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[:2*n][0])
	to, to2 := unsafe.Pointer(&low[:2*n][0]), unsafe.Pointer(&high[:2*n][0])
	l0, l1 := archsimd.BroadcastFloat32x8(f.low[2]), archsimd.BroadcastFloat32x8(f.low[3])
	h0, h1 := archsimd.BroadcastFloat32x8(f.high[2]), archsimd.BroadcastFloat32x8(f.high[3])
	order := places32(twos)
	last := n - 8
	for i := 0; ; i += 8 {
		i = min(i, last)
		x, y := loadFloats8(from, 2*i), loadFloats8(from, 2*i+8)
		p, q := x.SelectFromPairGrouped(0, 2, 4, 6, y), x.SelectFromPairGrouped(1, 3, 5, 7, y)
		x, y = loadFloats8(from2, 2*i), loadFloats8(from2, 2*i+8)
		r, s := x.SelectFromPairGrouped(0, 2, 4, 6, y), x.SelectFromPairGrouped(1, 3, 5, 7, y)
		u, v := p.Mul(l0).Add(q.Mul(l1)).Permute(order), r.Mul(l0).Add(s.Mul(l1)).Permute(order)
		storeFloats8(to, i, u.Mul(l0).Add(v.Mul(l1)))
		storeFloats8(to2, i, u.Mul(h0).Add(v.Mul(h1)))
		u, v = p.Mul(h0).Add(q.Mul(h1)).Permute(order), r.Mul(h0).Add(s.Mul(h1)).Permute(order)
		storeFloats8(to, n+i, u.Mul(l0).Add(v.Mul(l1)))
		storeFloats8(to2, n+i, u.Mul(h0).Add(v.Mul(h1)))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}
