package differences

import "blik/internal/simd"

// One number packs two sums over pairs of neighbours: the squared differences in units of 2⁻²⁴, below 2⁴⁸, and above
// them, in multiples of Pair, the number of pairs.
const (
	Pair   = 1 << 48
	square = 1 << 24
	// beyond acts as infinity: square roots of light may exceed 1 in float pictures.
	beyond = 256
)

// Between compares the pixels of a row, from index at on, with those at an offset of to, as many as dst has. For each
// pair it writes Pair plus the squared difference summed over the planes, at most 256, or 0 if known is 0 for either
// pixel. known belongs to the pixels from at on, knownTo to those from at+to on.
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

// Slide replaces a row of sums, old, by p + q, and updates the totals over rows by the difference. All have the same
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
