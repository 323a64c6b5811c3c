package differences

import "blik/internal/simd"

// One number holds both sums over pairs of neighbours: that of the squared differences in units of 2⁻²⁴, below 2⁴⁸, and
// above it, in multiples of Pair, the number of pairs.
const (
	Pair   = 1 << 48
	square = 1 << 24
	// beyond is effectively infinite: roots of light may exceed 1 in float pictures.
	beyond = 256
)

// Between writes, for the pairs of pixels at and at+to of the planes and those to their right, as many as dst has, Pair
// and the sum over the planes of their squared difference, at most 256; 0 where known is 0 for one of the two. The
// pixels known and knownTo belong to at and at+to.
func Between(level simd.Level, dst []int64, planes [][]float32, at, to int, known, knownTo []float32) {
	done := 0
	if level >= simd.AVX2 {
		done = betweenVectors(dst, planes, at, to, known, knownTo)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = 0
		if known[i] == 0 || knownTo[i] == 0 {
			continue
		}
		var sum float32
		for _, p := range planes {
			e := p[at+i] - p[at+to+i]
			sum += float32(e * e)
		}
		dst[i] = int64(min(sum, beyond)*square) + Pair
	}
}

// Slide replaces a row of sums, old, by p + q, and changes the totals over rows by the difference. All have the same
// length.
func Slide(level simd.Level, totals, old, p, q []int64) {
	n := len(totals)
	old, p, q = old[:n], p[:n], q[:n]
	done := 0
	if level >= simd.AVX2 {
		done = slideVectors(totals, old, p, q)
	}
	for i := done; i < n; i++ {
		sum := p[i] + q[i]
		totals[i] += sum - old[i]
		old[i] = sum
	}
}
