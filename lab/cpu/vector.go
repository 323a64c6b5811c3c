//go:build goexperiment.simd && amd64

package cpu

import (
	"math"
	"simd/archsimd"
	"slices"

	"blik/internal/simd"
)

// kernelsFor returns the kernels for a level of vector instructions; all vectors have 256 bits. The last vector of a
// row overlaps the one before.
func kernelsFor(level simd.Level) kernels {
	if level == simd.Plain {
		return plainKernels()
	}
	return kernels{floatSum256, tap2x256, tap4x256, both2x256, both4x256, haarPair256, pair4x256, analyse256, bytes256,
		words256, greatest256, slide256, variances256}
}

func load(s []float32, i int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[lanes]float32)(s[i:]))
}

func store(s []float32, i int, v archsimd.Float32x8) { v.Store((*[lanes]float32)(s[i:])) }

// taps are the taps of a filter, or of a combination of rows, in all lanes.
type taps struct{ a, b, c, d archsimd.Float32x8 }

func tapsOf(t *[4]float32) taps {
	return taps{archsimd.BroadcastFloat32x8(t[0]), archsimd.BroadcastFloat32x8(t[1]),
		archsimd.BroadcastFloat32x8(t[2]), archsimd.BroadcastFloat32x8(t[3])}
}

func (t taps) two(c, d archsimd.Float32x8) archsimd.Float32x8 { return c.Mul(t.c).Add(d.Mul(t.d)) }

func (t taps) four(a, b, c, d archsimd.Float32x8) archsimd.Float32x8 {
	return a.Mul(t.a).Add(b.Mul(t.b)).Add(c.Mul(t.c)).Add(d.Mul(t.d))
}

// inTwos is the order in which split leaves pairs of samples.
var inTwos = [lanes]uint32{0, 1, 4, 5, 2, 3, 6, 7}

// split separates 16 samples into even and odd ones, which inOrder puts in order.
func split(s []float32, i int) (even, odd archsimd.Float32x8) {
	p, q := load(s, i), load(s, i+lanes)
	return p.SelectFromPairGrouped(0, 2, 4, 6, q), p.SelectFromPairGrouped(1, 3, 5, 7, q)
}

func tap2x256(dst, a, b []float32, t0, t1 float32) {
	if len(dst) < lanes {
		tap2(dst, a, b, t0, t1)
		return
	}
	t := tapsOf(&[4]float32{2: t0, 3: t1})
	for i, last := 0, len(dst)-lanes; ; i += lanes {
		i = min(i, last)
		store(dst, i, t.two(load(a, i), load(b, i)))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func tap4x256(dst, a, b, c, d []float32, by *[4]float32) {
	if len(dst) < lanes {
		tap4(dst, a, b, c, d, by)
		return
	}
	t := tapsOf(by)
	for i, last := 0, len(dst)-lanes; ; i += lanes {
		i = min(i, last)
		store(dst, i, t.four(load(a, i), load(b, i), load(c, i), load(d, i)))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func both2x256(low, high, a, b []float32, f *filter) {
	if len(low) < lanes {
		both2(low, high, a, b, f)
		return
	}
	l, h := tapsOf(&f.low), tapsOf(&f.high)
	for i, last := 0, len(low)-lanes; ; i += lanes {
		i = min(i, last)
		u, v := load(a, i), load(b, i)
		store(low, i, l.two(u, v))
		store(high, i, h.two(u, v))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func both4x256(low, high, a, b, c, d []float32, f *filter) {
	if len(low) < lanes {
		both4(low, high, a, b, c, d, f)
		return
	}
	l, h := tapsOf(&f.low), tapsOf(&f.high)
	for i, last := 0, len(low)-lanes; ; i += lanes {
		i = min(i, last)
		t, u, v, w := load(a, i), load(b, i), load(c, i), load(d, i)
		store(low, i, l.four(t, u, v, w))
		store(high, i, h.four(t, u, v, w))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// analyse256 leaves the first coefficients, which wrap round the end of the row, to the plain kernel.
func analyse256(low, high, x []float32, f *filter) {
	n := len(high)
	if n <= lanes {
		analyse(low, high, x, f)
		return
	}
	first := [4]float32{x[len(x)-2], x[len(x)-1], x[0], x[1]}
	analyse(low[:1], high[:1], first[2:], &filter{f.low, f.high, true})
	if !f.short {
		var l, h [2]float32
		analyse(l[:], h[:], first[:], f)
		low[0], high[0] = l[1], h[1]
	}
	if len(low) > n {
		var l, h [2]float32
		analyse(l[:], h[:], x[len(x)-4:], f)
		low[n] = l[1]
	}
	l, h, order := tapsOf(&f.low), tapsOf(&f.high), archsimd.LoadUint32x8(&inTwos)
	for i, last := 1, n-lanes; ; i += lanes {
		i = min(i, last)
		c, d := split(x, 2*i)
		u, v := l.two(c, d), h.two(c, d)
		if !f.short {
			a, b := split(x, 2*i-2)
			u, v = l.four(a, b, c, d), h.four(a, b, c, d)
		}
		store(low, i, u.Permute(order))
		store(high, i, v.Permute(order))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// haarPair256 works on pairs of vectors of both rows.
func haarPair256(low, high, a, b []float32, f *filter) {
	n := len(a) / 2
	if n < lanes {
		haarPair(low, high, a, b, f)
		return
	}
	l, h, order := tapsOf(&f.low), tapsOf(&f.high), archsimd.LoadUint32x8(&inTwos)
	for i, last := 0, n-lanes; ; i += lanes {
		i = min(i, last)
		p, q := split(a, 2*i)
		r, s := split(b, 2*i)
		u, v := l.two(p, q).Permute(order), l.two(r, s).Permute(order)
		store(low, i, l.two(u, v))
		store(high, i, h.two(u, v))
		u, v = h.two(p, q).Permute(order), h.two(r, s).Permute(order)
		store(low, n+i, l.two(u, v))
		store(high, n+i, h.two(u, v))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// pair4x256 works on a vector of low and one of high coefficients at a time. The last one overlaps the one before, so
// its rows are computed first, and its result is stored last. The first one wraps round the end of the row, and so
// reads a copy: of each row's last two samples, followed by its beginning.
func pair4x256(low, high, c, d, a, b []float32, f *filter) {
	n := len(a) / 2
	if n <= lanes {
		pair4(low, high, c, d, a, b, f)
		return
	}
	var begin, begin2 [2 + 2*lanes]float32
	copy(begin[copy(begin[:2], a[2*n-2:2*n]):], a)
	copy(begin2[copy(begin2[:2], b[2*n-2:2*n]):], b)
	l, h, order := tapsOf(&f.low), tapsOf(&f.high), archsimd.LoadUint32x8(&inTwos)
	// along transforms the sixteen samples from at on, and takes the two before each.
	along := func(x []float32, at int) (u, v archsimd.Float32x8) {
		r, s := split(x, at-2)
		t, w := split(x, at)
		return l.four(r, s, t, w).Permute(order), h.four(r, s, t, w).Permute(order)
	}
	down := func(i int, u, v archsimd.Float32x8) {
		r, s := load(c, i), load(d, i)
		store(low, i, l.four(r, s, u, v))
		store(high, i, h.four(r, s, u, v))
	}
	keep := func(i int, u, v archsimd.Float32x8) {
		store(c, i, u)
		store(d, i, v)
	}
	last := n - lanes
	tail, tailHigh := along(a, 2*last)
	tail2, tailHigh2 := along(b, 2*last)
	down(last, tail, tail2)
	down(n+last, tailHigh, tailHigh2)
	x, y := begin[:], begin2[:]
	for i, at := 0, 2; i < last; i, at = i+lanes, 2*(i+lanes) {
		u, uHigh := along(x, at)
		v, vHigh := along(y, at)
		x, y = a, b
		down(i, u, v)
		keep(i, u, v)
		down(n+i, uHigh, vHigh)
		keep(n+i, uHigh, vHigh)
	}
	keep(last, tail, tail2)
	keep(n+last, tailHigh, tailHigh2)
	archsimd.ClearAVXUpperBits()
}

// floatSum256 takes sums that need no rounding, whose order does not matter, without their errors.
func floatSum256(s []float32) double {
	whole := len(s) &^ (lanes - 1)
	if whole == 0 {
		return floatSum(s)
	}
	var sums [8]double
	if !exactSums256(&sums, s[:whole]) {
		roundedSums256(&sums, s[:whole])
	}
	return endSum(&sums, s[whole:])
}

// exactSums256 adds up every eighth sample, and reports whether no sum needed rounding.
func exactSums256(sums *[8]double, s []float32) bool {
	a := archsimd.BroadcastFloat64x4(0)
	b, c, d := a, a, a
	one, most := archsimd.BroadcastUint32x8(1), archsimd.BroadcastUint32x8(0)
	// Samples of 0 do not count among the least.
	least := most.Sub(one)
	i := 0
	for ; i+2*lanes <= len(s); i += 2 * lanes {
		u, v := load(s, i), load(s, i+lanes)
		p, q := u.AsUint32x8(), v.AsUint32x8()
		least, most = least.Min(p.Sub(one).Min(q.Sub(one))), most.Max(p.Max(q))
		a, b = a.Add(u.GetLo().ConvertToFloat64()), b.Add(u.GetHi().ConvertToFloat64())
		c, d = c.Add(v.GetLo().ConvertToFloat64()), d.Add(v.GetHi().ConvertToFloat64())
	}
	if i < len(s) {
		u := load(s, i)
		least, most = least.Min(u.AsUint32x8().Sub(one)), most.Max(u.AsUint32x8())
		a, b = a.Add(u.GetLo().ConvertToFloat64()), b.Add(u.GetHi().ConvertToFloat64())
	}
	var low, high [lanes]uint32
	least.Store(&low)
	most.Store(&high)
	setSums(sums, a.Add(c), b.Add(d), func(d *double, v float64) { d.sum = v })
	for k := range lanes {
		low[0], high[0] = min(low[0], low[k]), max(high[0], high[k])
	}
	return sumsExactly(low[0]+1, high[0], float64(len(s)/lanes))
}

// roundedSums256 is exactSums256 for sums that need rounding.
func roundedSums256(sums *[8]double, s []float32) {
	a := archsimd.BroadcastFloat64x4(0)
	b, aRest, bRest := a, a, a
	for i := 0; i < len(s); i += lanes {
		u := load(s, i)
		a, aRest = twoSum256(a, aRest, u.GetLo().ConvertToFloat64())
		b, bRest = twoSum256(b, bRest, u.GetHi().ConvertToFloat64())
	}
	setSums(sums, a, b, func(d *double, v float64) { d.sum = v })
	setSums(sums, aRest, bRest, func(d *double, v float64) { d.rest = v })
}

func twoSum256(sum, rest, x archsimd.Float64x4) (_, _ archsimd.Float64x4) {
	t := sum.Add(x)
	z := t.Sub(sum)
	return t, rest.Add(sum.Sub(t.Sub(z)).Add(x.Sub(z)))
}

func setSums(sums *[8]double, a, b archsimd.Float64x4, set func(d *double, v float64)) {
	var low, high [4]float64
	a.Store(&low)
	b.Store(&high)
	archsimd.ClearAVXUpperBits()
	for k := range low {
		set(&sums[k], low[k])
		set(&sums[k+4], high[k])
	}
}

// sumsExactly reports whether sums of n samples need no rounding in float64, given the bits of the smallest nonzero
// magnitude and of the largest. All samples are multiples of the last place of the smallest, and the sum must be less
// than 2⁵³ of these.
func sumsExactly(least, most uint32, n float64) bool {
	return most < infinity && (least == 0 || n*float64(math.Float32frombits(most)) < unitOf(least)*(1<<53))
}

// unitOf returns the value of the last place of a positive sample with these bits.
func unitOf(bits uint32) float64 { return math.Ldexp(1, max(int(bits>>23), 1)-150) }

func bytes256(dst []float32, src []uint8) {
	n := len(dst)
	if n < 2*lanes {
		toFloats(dst, src)
		return
	}
	for i, last := 0, n-2*lanes; ; i += 2 * lanes {
		i = min(i, last)
		storeInts(dst, i, archsimd.LoadUint8x16((*[2 * lanes]uint8)(src[i:])).ExtendToUint16())
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func words256(dst []float32, src []uint16) {
	n := len(dst)
	if n < 2*lanes {
		toFloats(dst, src)
		return
	}
	for i, last := 0, n-2*lanes; ; i += 2 * lanes {
		i = min(i, last)
		storeInts(dst, i, archsimd.LoadUint16x16((*[2 * lanes]uint16)(src[i:])))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func storeInts(dst []float32, i int, v archsimd.Uint16x16) {
	store(dst, i, v.GetLo().ExtendToUint32().AsInt32x8().ConvertToFloat32())
	store(dst, i+lanes, v.GetHi().ExtendToUint32().AsInt32x8().ConvertToFloat32())
}

func greatest256(s []float32) uint32 {
	if len(s) < lanes {
		return greatest(s)
	}
	unsigned, high := archsimd.BroadcastUint32x8(math.MaxInt32), archsimd.BroadcastUint32x8(0)
	for i, last := 0, len(s)-lanes; ; i += lanes {
		i = min(i, last)
		high = high.Max(load(s, i).AsUint32x8().And(unsigned))
		if i == last {
			break
		}
	}
	var all [lanes]uint32
	high.Store(&all)
	archsimd.ClearAVXUpperBits()
	return slices.Max(all[:])
}

// doubles are half as many as samples.
const doubles = lanes / 2

func loadDoubles(s []float64, i int) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4((*[doubles]float64)(s[i:]))
}

func widened(s []float32, i int) archsimd.Float64x4 {
	return archsimd.LoadFloat32x4((*[doubles]float32)(s[i:])).ConvertToFloat64()
}

// slide256 leaves what is no whole vector to the plain kernel.
func slide256(col, col2 []float64, add, sub []float32, r rounding) {
	whole := len(col) &^ (doubles - 1)
	one, two := archsimd.BroadcastFloat64x4(r.sample), archsimd.BroadcastFloat64x4(r.square)
	for i := 0; i < whole; i += doubles {
		a, b := widened(add, i), widened(sub, i)
		loadDoubles(col, i).Add(a.Add(one).Sub(b.Add(one))).Store((*[doubles]float64)(col[i:]))
		loadDoubles(col2, i).Add(a.MulAdd(a, two).Sub(b.MulAdd(b, two))).Store((*[doubles]float64)(col2[i:]))
	}
	archsimd.ClearAVXUpperBits()
	slide(col[whole:], col2[whole:], add[whole:], sub[whole:], r)
}

// Indices of doubles, each as two halves, for prefix sums.
var (
	lowerEnd  = [lanes]uint32{2, 3, 2, 3, 2, 3, 2, 3}
	upperEnd  = [lanes]uint32{6, 7, 6, 7, 6, 7, 6, 7}
	upperHalf = [lanes]uint32{4: math.MaxUint32, 5: math.MaxUint32, 6: math.MaxUint32, 7: math.MaxUint32}
)

// prefix holds the constants of a prefix sum over the lanes of a vector.
type prefix struct {
	second, last, upper archsimd.Uint32x8
	zero                archsimd.Uint8x32
}

// of returns the prefix sums: in each lane the sum of itself and those before it.
func (p prefix) of(v archsimd.Float64x4) archsimd.Float64x4 {
	v = v.Add(v.AsUint8x32().ConcatShiftBytesRightGrouped(8, p.zero).AsFloat64x4())
	return v.Add(v.AsUint32x8().Permute(p.second).And(p.upper).AsFloat64x4())
}

// end returns the last lane in every lane.
func (p prefix) end(v archsimd.Float64x4) archsimd.Float64x4 {
	return v.AsUint32x8().Permute(p.last).AsFloat64x4()
}

func variances256(mean, variance []float32, col, col2 []float64, k int, c *counts) {
	n := len(mean)
	// Sums up to the first window, before vectors: the compiler adds single doubles with SSE instructions.
	var first, first2 float64
	for i, v := range col[:k] {
		first += v
		first2 += col2[i]
	}
	p := prefix{archsimd.LoadUint32x8(&lowerEnd), archsimd.LoadUint32x8(&upperEnd), archsimd.LoadUint32x8(&upperHalf),
		archsimd.BroadcastUint8x32(0)}
	none := archsimd.BroadcastFloat64x4(0)
	carry, carry2 := archsimd.BroadcastFloat64x4(first), archsimd.BroadcastFloat64x4(first2)
	var rest, rest2 [doubles]float32
	for i := 0; i < n; i += doubles {
		s := p.of(loadDoubles(col, i+k).Sub(loadDoubles(col, i))).Add(carry)
		s2 := p.of(loadDoubles(col2, i+k).Sub(loadDoubles(col2, i))).Add(carry2)
		carry, carry2 = p.end(s), p.end(s2)
		m := s.Mul(loadDoubles(c.share, i)).ConvertToFloat32()
		d := loadDoubles(c.pixels, i).Mul(s2).Sub(s.Mul(s)).Max(none).Mul(loadDoubles(c.square, i)).ConvertToFloat32()
		to, to2 := &rest, &rest2
		if i+doubles <= n {
			to, to2 = (*[doubles]float32)(mean[i:]), (*[doubles]float32)(variance[i:])
		}
		m.Store(to)
		d.Store(to2)
	}
	archsimd.ClearAVXUpperBits()
	if i := n &^ (doubles - 1); i < n {
		copy(mean[i:], rest[:])
		copy(variance[i:], rest2[:])
	}
}
