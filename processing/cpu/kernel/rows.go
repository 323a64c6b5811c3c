package kernel

import (
	"math/bits"
	"unsafe"

	"blik/processing"
)

// Sample is the type of samples.
type Sample interface {
	uint8 | uint16 | uint32 | int32 | float32
}

// Table is the table of row operations that the drivers use. An entry works on rows of the length of its first
// argument, which do not overlap unless it says so, and may be replaced by a faster body with the same results.
type Table struct {
	Dilate8, Erode8   Order[uint8]
	Dilate16, Erode16 Order[uint16]

	// Down: dst = tap·middle + taps[0]·(a₀ + b₀) + taps[1]·(a₁ + b₁) + …, in this order, a and b being rows of the
	// length of dst that the pairs point to. Without a middle, what dst holds stands for tap·middle.
	Down func(dst []float32, middle []uint8, tap float32, pairs []Pair[uint8], taps []float32)
	// Across is Down from floats to samples, rounded to nearest and at most the greatest; no sum is negative. There is
	// a middle.
	Across func(dst []uint8, middle []float32, tap float32, pairs []Pair[float32], taps []float32)

	// Censor slides column sums of packed samples down by a row: col += packed(add) − packed(sub).
	Censor func(col []uint64, add, sub []uint16, addOut, subOut []uint8)
	// Censor32 is Censor for sums packed into 32 bits: see NarrowShift.
	Censor32 func(col []uint32, add, sub []uint16, addOut, subOut []uint8)
	// NarrowMeans writes the rounded means of windows k columns wide of packed sums, sets the bits of those that hold
	// fewer than need ≥ 1 pixels, and reports whether there are any. The first window begins at col[1]; Block columns
	// more than those of the windows may be read.
	NarrowMeans func(dst []uint16, poor []uint64, col []uint32, k int, need uint32) (some bool)

	// Contrast writes class bits and the contrast of seeds.
	Contrast func(cls []uint8, seed, y, bg []uint16, v []uint8, rule processing.ContrastRule)
	// DifferenceThreshold writes 255 where y − bg > over and v ≥ level, else 0.
	DifferenceThreshold func(dst []uint8, y, bg []uint16, v []uint8, over, level int32)

	// Boxes8 and Boxes16 write the rounded means of windows k columns wide; see Counts. SlideBytes and SlideWords slide
	// their column sums down by a row.
	Boxes8     func(dst []uint8, col []uint16, k int, c *Counts)
	Boxes16    func(dst []uint16, col []uint32, k int, c *Counts)
	SlideBytes func(col []uint16, add, sub []uint8)
	SlideWords func(col []uint32, add, sub []uint16)

	// Spline16 and Spline32 sum rows with the weights 1, 4, 6, 4, 1; these may be one row at five offsets. The sums do
	// not overflow.
	Spline16 func(dst, a, b, c, d, e []uint16)
	Spline32 func(dst, a, b, c, d, e []uint32)

	// Taps5 smooths floats by five taps of a row each, DivideKnown divides by the sum of weights; see cpu.smoothing.
	Taps5       func(dst, a, b, c, d, e []float32, w *Weights5)
	DivideKnown func(dst, v, m, known []float32)
}

// Order is the semigroup of max or min on rows.
type Order[T Sample] struct {
	// Worst never wins.
	Worst T
	// blank reports whether all samples are Worst.
	blank func(a []T) bool
	// Fold: dst = best(dst, a).
	Fold func(dst, a []T)
	// Advance is a step of van Herk's recursion: keep = x, run = best(run, x), dst = best(run, suffix). x may be keep.
	Advance func(dst, run, keep, x, suffix []T)
	// Best4: dst = best(a, b, c, d), which may all begin in dst itself or behind its beginning.
	Best4 func(dst, a, b, c, d []T)
	// Window: dst[i] = best(src[i], …, src[i+k−1]); len(src) = len(dst) + k − 1. It may replace src[i] by the best of
	// src[i] and some that follow.
	Window func(dst, src []T, k int)
}

// plainTable is the table in plain Go.
func plainTable() Table {
	const flip = ^uint64(0)
	return Table{
		Dilate8:  orderBytes(0),
		Erode8:   orderBytes(flip),
		Dilate16: orderInt[uint16](0),
		Erode16:  orderInt[uint16](flip),

		Down:   symmetric[uint8],
		Across: roundedSymmetric,

		Censor:      censor,
		Censor32:    censor32,
		NarrowMeans: narrowMeans,

		Contrast:            contrast,
		DifferenceThreshold: differenceThreshold,

		Boxes8:     boxes[uint8, uint16],
		Boxes16:    boxes[uint16, uint32],
		SlideBytes: Slide[uint16, uint8],
		SlideWords: Slide[uint32, uint16],

		Spline16: spline[uint16],
		Spline32: spline[uint32],

		Taps5:       taps5,
		DivideKnown: divideKnown,
	}
}

// OrderOf returns the table's max or min for a sample type.
func OrderOf[T uint8 | uint16](k *Table, dilate bool) *Order[T] {
	small, large := &k.Erode8, &k.Erode16
	if dilate {
		small, large = &k.Dilate8, &k.Dilate16
	}
	if o, ok := any(small).(*Order[T]); ok {
		return o
	}
	return any(large).(*Order[T])
}

// Fill sets every sample of a row, most of them by copies of those that are set.
func Fill[T any](dst []T, v T) {
	n := min(len(dst), 8)
	for i := range n {
		dst[i] = v
	}
	for ; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

func blank[T Sample](worst T) func(a []T) bool {
	return func(a []T) bool {
		for _, v := range a {
			if v != worst {
				return false
			}
		}
		return true
	}
}

// fold, best4 and advance are those of Order for max, or for min with flip set to all ones, which reverses the order.
func fold[T uint8 | uint16](dst, a []T, flip T) {
	a = a[:len(dst)]
	for i, v := range dst {
		dst[i] = max(v^flip, a[i]^flip) ^ flip
	}
}

func best4[T uint8 | uint16](dst, a, b, c, d []T, flip T) {
	n := len(dst)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	for i := range dst {
		dst[i] = max(a[i]^flip, b[i]^flip, c[i]^flip, d[i]^flip) ^ flip
	}
}

func advance[T uint8 | uint16](dst, run, keep, x, suffix []T, flip T) {
	n := len(dst)
	run, keep, x, suffix = run[:n], keep[:n], x[:n], suffix[:n]
	for i := range dst {
		v := x[i]
		keep[i] = v
		v = max(run[i]^flip, v^flip)
		run[i] = v ^ flip
		dst[i] = max(v, suffix[i]^flip) ^ flip
	}
}

// windowInt works in blocks of k samples: the largest from each sample to the end of its block, scanned in place, and
// from the start of the next block to the window's end, carried along. With flip set to all ones, which reverses their
// order, it finds the smallest. Whole words are compared without a branch, which noise would mispredict; narrower ones
// are not.
func windowInt[T uint8 | uint16](flip uint) func(dst, src []T, k int) {
	return func(dst, src []T, k int) {
		for j := 0; j < len(dst); j += k {
			block := src[j : j+k]
			best := uint(block[k-1]) ^ flip
			for i := k - 2; i >= 0; i-- {
				best = max(best, uint(block[i])^flip)
				block[i] = T(best ^ flip)
			}
			n := min(k, len(dst)-j)
			out, suffix := dst[j:j+n], block[:n]
			out[0] = suffix[0]
			if n == 1 {
				continue
			}
			next := src[j+k : j+k+n-1]
			best = uint(next[0]) ^ flip
			out, suffix = out[1:][:len(next)], suffix[1:][:len(next)]
			for i, v := range next {
				best = max(best, uint(v)^flip)
				out[i] = T(max(best, uint(suffix[i])^flip) ^ flip)
			}
		}
	}
}

// words returns the whole words of a row. A row may begin at any sample, and so may its words: the processors that the
// program is built for read and write them anywhere.
func words[T uint8 | uint16 | uint32](s []T) []uint64 {
	n := len(s) * int(unsafe.Sizeof(*new(T))) / 8
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(s))), n)
}

// tail returns the number of samples that whole words cover.
func tail[T uint8 | uint16 | uint32](n int) int {
	return n - n%(8/int(unsafe.Sizeof(*new(T))))
}

// lanes compares 8 bytes or 4 16-bit samples at a time in a 64-bit word.
type lanes struct {
	// high has the top bit of every lane set.
	high uint64
	// low is the place of the top bit in a lane.
	low uint
	// flip is all ones for min, 0 for max.
	flip uint64
}

// best subtracts the lower bits of all lanes at once; the top bit of each a|high keeps a borrow from leaving its lane,
// and what is left of it says which lower part is larger.
func (l lanes) best(a, b uint64) uint64 {
	differ := a ^ b
	larger := (a&^b | ((a|l.high)-b&^l.high)&^differ) & l.high
	mask := larger | (larger - larger>>l.low)
	return b ^ differ&(mask^l.flip)
}

func (l lanes) fold(dst, a []uint64) {
	a = a[:len(dst)]
	for i, v := range dst {
		dst[i] = l.best(v, a[i])
	}
}

func (l lanes) best4(dst, a, b, c, d []uint64) {
	n := len(dst)
	a, b, c, d = a[:n], b[:n], c[:n], d[:n]
	for i := range dst {
		dst[i] = l.best(l.best(a[i], b[i]), l.best(c[i], d[i]))
	}
}

func (l lanes) advance(dst, run, keep, x, suffix []uint64) {
	n := len(dst)
	run, keep, x, suffix = run[:n], keep[:n], x[:n], suffix[:n]
	for i := range dst {
		v := x[i]
		keep[i] = v
		v = l.best(run[i], v)
		run[i] = v
		dst[i] = l.best(v, suffix[i])
	}
}

func lanesOf[T uint8 | uint16](flip uint64) lanes {
	size := 8 * uint(unsafe.Sizeof(*new(T)))
	high := uint64(1) << (size - 1)
	for n := size; n < 64; n *= 2 {
		high |= high << n
	}
	return lanes{high: high, low: size - 1, flip: flip}
}

// orderBytes is orderInt, whose windows are found by whole words.
func orderBytes(flip uint64) Order[uint8] {
	o := orderInt[uint8](flip)
	best4 := o.Best4
	o.Window = sparse(o, func(dst, src []uint8, k int) { windowBy4(best4, dst, src, k) })
	return o
}

// orderInt is max, or min with flip set to all ones, on integers: by whole words, and one by one for the samples that
// are left of a row.
func orderInt[T uint8 | uint16](flip uint64) Order[T] {
	l, worst := lanesOf[T](flip), T(flip)
	rest := blank(worst)
	o := Order[T]{Worst: worst}
	o.blank = func(a []T) bool {
		for _, v := range words(a) {
			if v != flip {
				return false
			}
		}
		return rest(a[tail[T](len(a)):])
	}
	o.Fold = func(dst, a []T) {
		l.fold(words(dst), words(a))
		i := tail[T](len(dst))
		fold(dst[i:], a[i:], worst)
	}
	o.Advance = func(dst, run, keep, x, suffix []T) {
		l.advance(words(dst), words(run), words(keep), words(x), words(suffix))
		i := tail[T](len(dst))
		advance(dst[i:], run[i:], keep[i:], x[i:], suffix[i:], worst)
	}
	o.Best4 = func(dst, a, b, c, d []T) {
		i := tail[T](len(dst))
		rest := make([]T, 0, 8)[:len(dst)-i]
		best4(rest, a[i:], b[i:], c[i:], d[i:], worst)
		l.best4(words(dst), words(a), words(b), words(c), words(d))
		copy(dst[i:], rest)
	}
	o.Window = sparse(o, windowInt[T](uint(flip)))
	return o
}

// windowBy4 is order.window by merges: it makes the windows that are known four times as long, in place, until at most
// four of them cover k samples.
func windowBy4[T Sample](best4 func(dst, a, b, c, d []T), dst, src []T, k int) {
	span := 1
	for ; 4*span < k; span *= 4 {
		best4(src[:len(dst)+k-4*span], src, src[span:], src[2*span:], src[3*span:])
	}
	from := func(i int) []T { return src[min(i*span, k-span):] }
	best4(dst, src, from(1), from(2), from(3))
}

// block is the number of samples that are checked together for being blank.
const block = 64

// sparse is a window kernel that skips long blank stretches: seeds and masks are blank almost everywhere.
func sparse[T Sample](o Order[T], window func(dst, src []T, k int)) func(dst, src []T, k int) {
	return func(dst, src []T, k int) {
		end := len(src)
		blank := func(i int) bool { return o.blank(src[i:min(i+block, end)]) }
		for at := 0; at < len(dst); {
			i := at
			for i < end && blank(i) {
				i += block
			}
			if i >= end {
				Fill(dst[at:], o.Worst)
				return
			}
			if free := i - (k - 1); free > at {
				Fill(dst[at:free], o.Worst)
				at = free
			}
			// Up to the next blank stretch that is longer than the window; what window leaves of that stretch is blank.
			for gap := 0; i < end && gap < k+2*block; i += block {
				if blank(i) {
					gap += block
				} else {
					gap = 0
				}
			}
			to := min(i, end) - (k - 1)
			window(dst[at:to], src[at:to+k-1], k)
			at = to
		}
	}
}

// Slide slides column sums down by a row: col += add − sub.
func Slide[S uint16 | uint32 | uint64, T uint8 | uint16](col []S, add, sub []T) {
	add, sub = add[:len(col)], sub[:len(col)]
	for i := range col {
		col[i] += S(add[i]) - S(sub[i])
	}
}

// Scan writes dst[i] = col[i] + … + col[i+k−1]; len(col) = len(dst) + k − 1. It computes each difference before it is
// added to the running sum, so that only one addition per pixel waits for the one before.
func Scan(dst, col []uint64, k int) {
	var s uint64
	for _, c := range col[:k] {
		s += c
	}
	dst[0] = s
	dst = dst[1:]
	enter, leave := col[k:][:len(dst)], col[:len(dst)]
	for i := range dst {
		s += enter[i] - leave[i]
		dst[i] = s
	}
}

// Inverse returns ⌈2⁶³/n⌉, with which ⌊N/n⌋ is the high word of 2N·inverse(n) as long as N·n < 2⁶³: the rounding
// up adds less than N·n/2⁶³ < 1 unit of 1/n to the quotient. For window sums of 16-bit samples that is n < 2²³.
func Inverse(n uint64) uint64 {
	return (1<<63-1)/n + 1
}

func divide(n, inverse uint64) uint64 {
	q, _ := bits.Mul64(2*n, inverse)
	return q
}

// maxInverse bounds the number of pixels for which inverse may be used with sums of 16-bit samples.
const maxInverse = 1 << 23

// Means writes window sums over n pixels as means, rounded to nearest.
func Means[T uint8 | uint16](dst []T, sum []uint64, n uint64) {
	sum = sum[:len(dst)]
	half := n / 2
	if n >= maxInverse {
		for i, s := range sum {
			dst[i] = T((s + half) / n)
		}
		return
	}
	inv := Inverse(n)
	for i, s := range sum {
		dst[i] = T(divide(s+half, inv))
	}
}

// CountShift is the lowest bit of the number of pixels in a packed sum; the bits below hold the sum of up to 2²⁴ 16-bit
// samples.
const (
	CountShift = 40
	sumMask    = 1<<CountShift - 1
)

// packed returns a sample and its count of 1, or 0 for an excluded pixel, in one word, so that one addition sums both.
func packed(v uint16, out uint8) uint64 {
	return (1<<CountShift | uint64(v)) & uint64((int64(out)-1)>>63)
}

// plain returns the end of the run, in steps of eight pixels from i, in which nothing is excluded from either row. In
// such runs, which most of a picture consists of, the counts cancel and only samples need to be summed.
func plain(addOut, subOut []uint8, i int) int {
	a, s := words(addOut[i:]), words(subOut[i:])
	s = s[:len(a)]
	for j, v := range a {
		if v|s[j] != 0 {
			return i + 8*j
		}
	}
	return i + 8*len(a)
}

func censor(col []uint64, add, sub []uint16, addOut, subOut []uint8) {
	n := len(col)
	add, sub, addOut, subOut = add[:n], sub[:n], addOut[:n], subOut[:n]
	for i := 0; i < n; i++ {
		if j := plain(addOut, subOut, i); j > i {
			Slide(col[i:j], add[i:j], sub[i:j])
			if i = j; i == n {
				return
			}
		}
		col[i] += packed(add[i], addOut[i]) - packed(sub[i], subOut[i])
	}
}

// CensoredMean writes the rounded mean of packed window sums of at most len(inverse)−1 pixels, where inverse[n] is
// Inverse(n), and reports whether one of the windows holds fewer than need pixels.
func CensoredMean(dst []uint16, sum, inverse []uint64, need uint64) bool {
	sum = sum[:len(dst)]
	var short uint64
	for i, s := range sum {
		n := s >> CountShift
		short |= n - need
		dst[i] = uint16(divide(s&sumMask+n/2, inverse[n]))
	}
	return short>>63 != 0
}

// DividedMean is CensoredMean for windows too large for a table of inverses.
func DividedMean(dst []uint16, sum, _ []uint64, need uint64) bool {
	poor := false
	for i, s := range sum[:len(dst)] {
		n := s >> CountShift
		poor = poor || n < need
		dst[i] = uint16((s&sumMask + n/2) / max(n, 1))
	}
	return poor
}

// NarrowShift is CountShift for sums packed into 32 bits, enough for windows of up to 15 × 15 pixels.
const (
	NarrowShift  = 24
	NarrowMask   = 1<<NarrowShift - 1
	NarrowRadius = 7
)

func censor32(col []uint32, add, sub []uint16, addOut, subOut []uint8) {
	n := len(col)
	add, sub, addOut, subOut = add[:n], sub[:n], addOut[:n], subOut[:n]
	for i := range col {
		a := (1<<NarrowShift | uint32(add[i])) & uint32((int32(addOut[i])-1)>>31)
		s := (1<<NarrowShift | uint32(sub[i])) & uint32((int32(subOut[i])-1)>>31)
		col[i] += a - s
	}
}

func narrowMeans(dst []uint16, poor []uint64, col []uint32, k int, need uint32) (some bool) {
	clear(poor[:(len(dst)+63)/64])
	var s uint32
	for _, c := range col[:k] {
		s += c
	}
	enter, leave := col[k:][:len(dst)], col[:len(dst)]
	held, inverse := uint32(1), Inverse(1)
	for i := range dst {
		s += enter[i] - leave[i]
		n := s >> NarrowShift
		if n < need {
			poor[i/64] |= 1 << (i % 64)
			some = true
		}
		// Most windows hold as many pixels as the one before.
		if n != held {
			held, inverse = n, Inverse(uint64(max(n, 1)))
		}
		dst[i] = uint16(divide(uint64(s&NarrowMask+n/2), inverse))
	}
	return some
}

// spline adds whole words: no sum of a lane reaches the next one.
func spline[T uint16 | uint32](dst, a, b, c, d, e []T) {
	n := len(dst)
	a, b, c, d, e = a[:n], b[:n], c[:n], d[:n], e[:n]
	splineWords(words(dst), words(a), words(b), words(c), words(d), words(e))
	for i := tail[T](n); i < n; i++ {
		dst[i] = a[i] + e[i] + 4*(b[i]+d[i]) + 6*c[i]
	}
}

func splineWords(dst, a, b, c, d, e []uint64) {
	n := len(dst)
	a, b, c, d, e = a[:n], b[:n], c[:n], d[:n], e[:n]
	for i := range dst {
		dst[i] = a[i] + e[i] + 4*(b[i]+d[i]) + 6*c[i]
	}
}
