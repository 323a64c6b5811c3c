//go:build goexperiment.simd && amd64

package kernel

import (
	"math"
	"simd/archsimd"
	"slices"
	"unsafe"
)

// Kernels for floats with 256-bit vectors; scripts/widen.sh derives those with 512-bit vectors from them. Sums and
// products are those of the plain kernels, each rounded on its own and in the same order. Offsets are in bytes.

func loadF256(p unsafe.Pointer, at int) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[32 / 4]float32)(unsafe.Add(p, at)))
}

func storeF256(p unsafe.Pointer, at int, v archsimd.Float32x8) {
	v.Store((*[32 / 4]float32)(unsafe.Add(p, at)))
}

// symmetric256 works on two vectors at a time, which hides the latency of the sums.
func symmetric256(dst, middle []float32, tap float32, pairs []Pair[float32], taps []float32) {
	size := 4 * len(dst)
	if size < 2*32 {
		symmetric(dst, middle, tap, pairs, taps)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&dst[0])
	first := archsimd.BroadcastFloat32x8(1)
	if middle != nil {
		from, first = unsafe.Pointer(&middle[:len(dst)][0]), archsimd.BroadcastFloat32x8(tap)
	}
	taps = taps[:len(pairs)]
	last := size - 2*32
	// The last two overlap those before, and begin with what these may have changed.
	end0, end1 := loadF256(from, last).Mul(first), loadF256(from, last+32).Mul(first)
	for i := 0; ; i += 2 * 32 {
		i = min(i, last)
		s0, s1 := end0, end1
		if i < last {
			s0, s1 = loadF256(from, i).Mul(first), loadF256(from, i+32).Mul(first)
		}
		for k := range pairs {
			p := &pairs[k]
			a, b, c := unsafe.Pointer(p.A), unsafe.Pointer(p.B), archsimd.BroadcastFloat32x8(taps[k])
			s0 = s0.Add(loadF256(a, i).Add(loadF256(b, i)).Mul(c))
			s1 = s1.Add(loadF256(a, i+32).Add(loadF256(b, i+32)).Mul(c))
		}
		storeF256(to, i, s0)
		storeF256(to, i+32, s1)
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func tap2x256(dst, a, b []float32, t0, t1 float32) {
	n := len(dst)
	size := 4 * n
	if size < 32 {
		tap2(dst, a, b, t0, t1)
		return
	}
	to, p, q := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a[:n][0]), unsafe.Pointer(&b[:n][0])
	u, v := archsimd.BroadcastFloat32x8(t0), archsimd.BroadcastFloat32x8(t1)
	last := size - 32
	for i := 0; ; i += 32 {
		i = min(i, last)
		storeF256(to, i, loadF256(p, i).Mul(u).Add(loadF256(q, i).Mul(v)))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func tap4x256(dst, a, b, c, d []float32, t *[4]float32) {
	n := len(dst)
	size := 4 * n
	if size < 32 {
		tap4(dst, a, b, c, d, t)
		return
	}
	to, p, q := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a[:n][0]), unsafe.Pointer(&b[:n][0])
	r, s := unsafe.Pointer(&c[:n][0]), unsafe.Pointer(&d[:n][0])
	t0, t1 := archsimd.BroadcastFloat32x8(t[0]), archsimd.BroadcastFloat32x8(t[1])
	t2, t3 := archsimd.BroadcastFloat32x8(t[2]), archsimd.BroadcastFloat32x8(t[3])
	last := size - 32
	for i := 0; ; i += 32 {
		i = min(i, last)
		v := loadF256(p, i).Mul(t0).Add(loadF256(q, i).Mul(t1))
		storeF256(to, i, v.Add(loadF256(r, i).Mul(t2)).Add(loadF256(s, i).Mul(t3)))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func both2x256(low, high, a, b []float32, f *Filter) {
	n := len(low)
	size := 4 * n
	if size < 32 {
		both2(low, high, a, b, f)
		return
	}
	to, to2 := unsafe.Pointer(&low[0]), unsafe.Pointer(&high[:n][0])
	p, q := unsafe.Pointer(&a[:n][0]), unsafe.Pointer(&b[:n][0])
	l0, l1 := archsimd.BroadcastFloat32x8(f.low[2]), archsimd.BroadcastFloat32x8(f.low[3])
	h0, h1 := archsimd.BroadcastFloat32x8(f.high[2]), archsimd.BroadcastFloat32x8(f.high[3])
	last := size - 32
	for i := 0; ; i += 32 {
		i = min(i, last)
		u, v := loadF256(p, i), loadF256(q, i)
		storeF256(to, i, u.Mul(l0).Add(v.Mul(l1)))
		storeF256(to2, i, u.Mul(h0).Add(v.Mul(h1)))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

func both4x256(low, high, a, b, c, d []float32, f *Filter) {
	n := len(low)
	size := 4 * n
	if size < 32 {
		both4(low, high, a, b, c, d, f)
		return
	}
	to, to2 := unsafe.Pointer(&low[0]), unsafe.Pointer(&high[:n][0])
	p, q := unsafe.Pointer(&a[:n][0]), unsafe.Pointer(&b[:n][0])
	r, s := unsafe.Pointer(&c[:n][0]), unsafe.Pointer(&d[:n][0])
	l0, l1 := archsimd.BroadcastFloat32x8(f.low[0]), archsimd.BroadcastFloat32x8(f.low[1])
	l2, l3 := archsimd.BroadcastFloat32x8(f.low[2]), archsimd.BroadcastFloat32x8(f.low[3])
	h0, h1 := archsimd.BroadcastFloat32x8(f.high[0]), archsimd.BroadcastFloat32x8(f.high[1])
	h2, h3 := archsimd.BroadcastFloat32x8(f.high[2]), archsimd.BroadcastFloat32x8(f.high[3])
	last := size - 32
	for i := 0; ; i += 32 {
		i = min(i, last)
		t, u, v, w := loadF256(p, i), loadF256(q, i), loadF256(r, i), loadF256(s, i)
		storeF256(to, i, t.Mul(l0).Add(u.Mul(l1)).Add(v.Mul(l2)).Add(w.Mul(l3)))
		storeF256(to2, i, t.Mul(h0).Add(u.Mul(h1)).Add(v.Mul(h2)).Add(w.Mul(h3)))
		if i == last {
			break
		}
	}
	archsimd.ClearAVXUpperBits()
}

// pair4x256 works on a vector of low and one of high coefficients at a time. The last one overlaps the one before, so
// its rows are computed first, and its result is stored last. The first one wraps round the end of the row, and so
// reads a copy: of each row's last two samples, followed by its beginning.
func pair4x256(low, high, c, d, a, b []float32, f *Filter) {
	const lanes = 32 / 4
	n := len(a) / 2
	if n <= lanes {
		pair4(low, high, c, d, a, b, f)
		return
	}
	var begin, begin2 [2 + 2*lanes]float32
	copy(begin[copy(begin[:2], a[2*n-2:2*n]):], a)
	copy(begin2[copy(begin2[:2], b[2*n-2:2*n]):], b)
	first, first2 := unsafe.Pointer(&begin[2]), unsafe.Pointer(&begin2[2])
	from, from2 := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0])
	p, q := unsafe.Pointer(&c[:2*n][0]), unsafe.Pointer(&d[:2*n][0])
	to, to2 := unsafe.Pointer(&low[:2*n][0]), unsafe.Pointer(&high[:2*n][0])
	l0, l1 := archsimd.BroadcastFloat32x8(f.low[0]), archsimd.BroadcastFloat32x8(f.low[1])
	l2, l3 := archsimd.BroadcastFloat32x8(f.low[2]), archsimd.BroadcastFloat32x8(f.low[3])
	h0, h1 := archsimd.BroadcastFloat32x8(f.high[0]), archsimd.BroadcastFloat32x8(f.high[1])
	h2, h3 := archsimd.BroadcastFloat32x8(f.high[2]), archsimd.BroadcastFloat32x8(f.high[3])
	split := newSplit256()
	along := func(x unsafe.Pointer, i int) (u, v archsimd.Float32x8) {
		r, s := split.of(x, 8*i-8)
		t, w := split.of(x, 8*i)
		u = r.Mul(l0).Add(s.Mul(l1)).Add(t.Mul(l2)).Add(w.Mul(l3))
		v = r.Mul(h0).Add(s.Mul(h1)).Add(t.Mul(h2)).Add(w.Mul(h3))
		return split.inOrder(u), split.inOrder(v)
	}
	down := func(i int, u, v archsimd.Float32x8) {
		r, s := loadF256(p, 4*i), loadF256(q, 4*i)
		storeF256(to, 4*i, r.Mul(l0).Add(s.Mul(l1)).Add(u.Mul(l2)).Add(v.Mul(l3)))
		storeF256(to2, 4*i, r.Mul(h0).Add(s.Mul(h1)).Add(u.Mul(h2)).Add(v.Mul(h3)))
	}
	keep := func(i int, u, v archsimd.Float32x8) {
		storeF256(p, 4*i, u)
		storeF256(q, 4*i, v)
	}
	last := n - lanes
	tail, tailHigh := along(from, last)
	tail2, tailHigh2 := along(from2, last)
	down(last, tail, tail2)
	down(n+last, tailHigh, tailHigh2)
	for i := 0; i < last; i += lanes {
		u, uHigh := along(first, i)
		v, vHigh := along(first2, i)
		first, first2 = from, from2
		down(i, u, v)
		keep(i, u, v)
		down(n+i, uHigh, vHigh)
		keep(n+i, uHigh, vHigh)
	}
	tail, tailHigh = along(from, last)
	tail2, tailHigh2 = along(from2, last)
	keep(last, tail, tail2)
	keep(n+last, tailHigh, tailHigh2)
	archsimd.ClearAVXUpperBits()
}

func loadKeys256(p unsafe.Pointer, at int) archsimd.Int32x8 {
	return archsimd.LoadInt32x8((*[32 / 4]int32)(unsafe.Add(p, at)))
}

func storeKeys256(p unsafe.Pointer, at int, v archsimd.Int32x8) {
	v.Store((*[32 / 4]int32)(unsafe.Add(p, at)))
}

// ordered256 tests block by block, so that it returns early if a row is not ordered.
func ordered256(src []int32) bool {
	size := 4 * len(src)
	if size < 32 {
		return ordered(src)
	}
	from := unsafe.Pointer(&src[0])
	infinite := archsimd.BroadcastInt32x8(Infinity)
	last, yes := size-32, true
	for i := 0; yes && i <= last; {
		most := loadKeys256(from, last).AsUint32x8()
		for end := min(i+4096, last+1); i < end; i += 32 {
			most = most.Max(loadKeys256(from, i).AsUint32x8())
		}
		yes = most.Max(infinite.AsUint32x8()).AsInt32x8().NotEqual(infinite).ToBits() == 0
	}
	archsimd.ClearAVXUpperBits()
	return yes
}

// keys256 may work in place, so that its last vector is computed first.
func keys256(dst, src []int32, nan int32) {
	n := len(dst)
	size := 4 * n
	if size < 32 {
		keys(dst, src, nan)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[:n][0])
	zero, most := archsimd.BroadcastInt32x8(0), archsimd.BroadcastInt32x8(math.MaxInt32)
	infinite, undefined := archsimd.BroadcastInt32x8(Infinity), archsimd.BroadcastInt32x8(nan)
	key := func(i int) archsimd.Int32x8 {
		v := loadKeys256(from, i)
		k := v.Xor(v.Less(zero).ToInt32x8().And(most))
		return undefined.Merge(k, v.And(most).Greater(infinite))
	}
	last := size - 32
	tail := key(last)
	for i := 0; i < last; i += 32 {
		storeKeys256(to, i, key(i))
	}
	storeKeys256(to, last, tail)
	archsimd.ClearAVXUpperBits()
}

func unkeyed256(dst, src []int32) {
	n := len(dst)
	size := 4 * n
	if size < 32 {
		unkeyed(dst, src)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[:n][0])
	zero, most := archsimd.BroadcastInt32x8(0), archsimd.BroadcastInt32x8(math.MaxInt32)
	bits := func(i int) archsimd.Int32x8 {
		v := loadKeys256(from, i)
		return v.Xor(v.Less(zero).ToInt32x8().And(most))
	}
	last := size - 32
	tail := bits(last)
	for i := 0; i < last; i += 32 {
		storeKeys256(to, i, bits(i))
	}
	storeKeys256(to, last, tail)
	archsimd.ClearAVXUpperBits()
}

func addRow256(dst, a []float64) {
	n := len(dst)
	size := 8 * n
	if size < 32 {
		addRow(dst, a)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a[:n][0])
	last := size - 32
	tail := loadD256(to, last).Add(loadD256(from, last))
	for i := 0; i < last; i += 32 {
		storeD256(to, i, loadD256(to, i).Add(loadD256(from, i)))
	}
	storeD256(to, last, tail)
	archsimd.ClearAVXUpperBits()
}

func loadD256(p unsafe.Pointer, at int) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4((*[32 / 8]float64)(unsafe.Add(p, at)))
}

func storeD256(p unsafe.Pointer, at int, v archsimd.Float64x4) {
	v.Store((*[32 / 8]float64)(unsafe.Add(p, at)))
}

func loadH256(p unsafe.Pointer, at int) archsimd.Float64x4 {
	return archsimd.LoadFloat32x4((*[32 / 8]float32)(unsafe.Add(p, at/2))).ConvertToFloat64()
}

func doubles256(dst []float64, src []float32) {
	n := len(dst)
	size := 8 * n
	if size < 32 {
		doubles(dst, src)
		return
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[:n][0])
	last := size - 32
	for i := 0; i < last; i += 32 {
		storeD256(to, i, loadH256(from, i))
	}
	storeD256(to, last, loadH256(from, last))
	archsimd.ClearAVXUpperBits()
}

func advanceSums256(dst, run, keep []float64, x []float32, suffix []float64) {
	n := len(dst)
	size := 8 * n
	if size < 32 {
		advanceSums(dst, run, keep, x, suffix)
		return
	}
	to, sum, copied := unsafe.Pointer(&dst[0]), unsafe.Pointer(&run[:n][0]), unsafe.Pointer(&keep[:n][0])
	in, rest := unsafe.Pointer(&x[:n][0]), unsafe.Pointer(&suffix[:n][0])
	last := size - 32
	tail := loadD256(sum, last).Add(loadH256(in, last))
	for i := 0; i < last; i += 32 {
		v, s, r := loadH256(in, i), loadD256(sum, i), loadD256(rest, i)
		s = s.Add(v)
		storeD256(copied, i, v)
		storeD256(sum, i, s)
		storeD256(to, i, r.Add(s))
	}
	storeD256(copied, last, loadH256(in, last))
	storeD256(sum, last, tail)
	storeD256(to, last, loadD256(rest, last).Add(tail))
	archsimd.ClearAVXUpperBits()
}

// slideFloats256 slides column sums down by a row.
func slideFloats256(col []float64, add, sub []float32) {
	n := len(col)
	size := 8 * n
	if size < 32 {
		slideFloats(col, add, sub)
		return
	}
	to, p, q := unsafe.Pointer(&col[0]), unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	last := size - 32
	tail := loadD256(to, last).Add(loadH256(p, last).Sub(loadH256(q, last)))
	for i := 0; i < last; i += 32 {
		storeD256(to, i, loadD256(to, i).Add(loadH256(p, i).Sub(loadH256(q, i))))
	}
	storeD256(to, last, tail)
	archsimd.ClearAVXUpperBits()
}

// slideRounded256 fuses squares with their sums, which changes no result, because both are exact.
func slideRounded256(col, col2 []float64, add, sub []float32, r *Rounding) {
	n := len(col)
	size := 8 * n
	if size < 32 {
		slideRounded(col, col2, add, sub, r)
		return
	}
	to, to2 := unsafe.Pointer(&col[0]), unsafe.Pointer(&col2[:n][0])
	p, q := unsafe.Pointer(&add[:n][0]), unsafe.Pointer(&sub[:n][0])
	one, two := archsimd.BroadcastFloat64x4(r.sample), archsimd.BroadcastFloat64x4(r.square)
	moved := func(i int) (s, s2 archsimd.Float64x4) {
		a, b := loadH256(p, i), loadH256(q, i)
		s = loadD256(to, i).Add(a.Add(one).Sub(b.Add(one)))
		return s, loadD256(to2, i).Add(a.MulAdd(a, two).Sub(b.MulAdd(b, two)))
	}
	last := size - 32
	tail, tail2 := moved(last)
	for i := 0; i < last; i += 32 {
		s, s2 := moved(i)
		storeD256(to, i, s)
		storeD256(to2, i, s2)
	}
	storeD256(to, last, tail)
	storeD256(to2, last, tail2)
	archsimd.ClearAVXUpperBits()
}

// sumD256 returns the sum of k doubles in all lanes; first is the sum of the first k%lanes. The caller computes that
// before it uses vectors, because the compiler adds single doubles with SSE instructions.
func sumD256(p prefixD256, from unsafe.Pointer, k int, first float64) archsimd.Float64x4 {
	const lanes = 32 / 8
	var s archsimd.Float64x4
	for i := 8 * (k % lanes); i < 8*k; i += 32 {
		s = s.Add(loadD256(from, i))
	}
	return p.end(p.of(s)).Add(archsimd.BroadcastFloat64x4(first))
}

func floatVariances256(mean, variance []float32, col, col2 []float64, k int, c *FloatCounts) {
	const lanes = 32 / 8
	n := len(mean)
	whole := (n + lanes - 1) / lanes * lanes
	from, from2 := unsafe.Pointer(&col[:whole+k][0]), unsafe.Pointer(&col2[:whole+k][0])
	pixels, share := unsafe.Pointer(&c.pixels[:whole][0]), unsafe.Pointer(&c.share[:whole][0])
	square := unsafe.Pointer(&c.square[:whole][0])
	first, first2 := sumFloats(col[:k%lanes]), sumFloats(col2[:k%lanes])
	p := newPrefixD256()
	var none archsimd.Float64x4
	carry, carry2 := sumD256(p, from, k, first), sumD256(p, from2, k, first2)
	to, to2 := unsafe.Pointer(&mean[0]), unsafe.Pointer(&variance[:n][0])
	var rest, rest2 [lanes]float32
	for i := 0; i < 8*whole; i += 32 {
		s := p.of(loadD256(from, i+8*k).Sub(loadD256(from, i))).Add(carry)
		carry = p.end(s)
		s2 := p.of(loadD256(from2, i+8*k).Sub(loadD256(from2, i))).Add(carry2)
		carry2 = p.end(s2)
		m := s.Mul(loadD256(share, i)).ConvertToFloat32()
		d := loadD256(pixels, i).Mul(s2).Sub(s.Mul(s)).Max(none).Mul(loadD256(square, i)).ConvertToFloat32()
		if i+32 > 8*n {
			m.Store(&rest)
			d.Store(&rest2)
			break
		}
		m.Store((*[lanes]float32)(unsafe.Add(to, i/2)))
		d.Store((*[lanes]float32)(unsafe.Add(to2, i/2)))
	}
	archsimd.ClearAVXUpperBits()
	if i := n &^ (lanes - 1); i < n {
		copy(mean[i:], rest[:])
		copy(variance[i:], rest2[:])
	}
}

func magnitudes256(s []float32) (least, most uint32) {
	size := 4 * len(s)
	if size < 32 {
		return magnitudes(s)
	}
	from := unsafe.Pointer(&s[0])
	one, unsigned := archsimd.BroadcastUint32x8(1), archsimd.BroadcastUint32x8(math.MaxInt32)
	last := size - 32
	v := loadKeys256(from, last).AsUint32x8().And(unsigned)
	low, high := v.Sub(one), v
	for i := 0; i < last; i += 32 {
		v := loadKeys256(from, i).AsUint32x8().And(unsigned)
		low, high = low.Min(v.Sub(one)), high.Max(v)
	}
	var l, h [32 / 4]uint32
	low.Store(&l)
	high.Store(&h)
	archsimd.ClearAVXUpperBits()
	return slices.Min(l[:]) + 1, slices.Max(h[:])
}
