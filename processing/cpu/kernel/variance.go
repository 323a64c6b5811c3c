package kernel

import (
	"math"
)

// unit53 returns 1.5·2⁵² units, with the unit so large that whole numbers of units up to the given sum are exact in
// float64. Adding it to a number of at most an eighth of the sum rounds the number to whole units.
func unit53(sum float64) float64 {
	_, exponent := math.Frexp(sum)
	return math.Ldexp(1.5, exponent-1)
}

// Rounding rounds samples and their squares to whole numbers of units, so that their sums need no rounding and are the
// same in any order.
type Rounding struct{ sample, square float64 }

// NewRounding returns the rounding for windows of some columns and rows, and samples up to a magnitude.
func NewRounding(columns, rows int, most float64) *Rounding {
	// Kernels add up eight columns at a time, and sums of samples are differences of two windows.
	pixels := float64(float64(max(columns, 8)) * float64(rows))
	return &Rounding{unit53(2 * pixels * most), unit53(pixels * most * most)}
}

func slideRounded(col, col2 []float64, add, sub []float32, r *Rounding) {
	col2, add, sub = col2[:len(col)], add[:len(col)], sub[:len(col)]
	for i := range col {
		a, s := float64(add[i]), float64(sub[i])
		col[i] += (a + r.sample) - (s + r.sample)
		col2[i] += (float64(a*a) + r.square) - (float64(s*s) + r.square)
	}
}

// floatVariances writes mean and variance of windows of the columns i+1 … i+k. Values that rounding makes negative
// become 0.
func floatVariances(mean, variance []float32, col, col2 []float64, k int, c *FloatCounts) {
	var s, s2 float64
	for i, v := range col[:k] {
		s += v
		s2 += col2[i]
	}
	for i := range mean {
		s += col[i+k] - col[i]
		s2 += col2[i+k] - col2[i]
		mean[i] = float32(s * c.share[i])
		variance[i] = float32(max(float64(c.pixels[i]*s2)-float64(s*s), 0) * c.square[i])
	}
}
