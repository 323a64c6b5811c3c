// Package differences computes sums of differences between neighbouring pixels.
package differences

import "math"

// A grid number is a multiple of 1/scale. Sums of grid numbers are exact below Exact, so they do not depend on the
// order of summation.
const (
	scale = 1 << 36
	Exact = 1 << 16
	// Adding 1.5 · 2⁵² rounds a number below 2⁵¹ to an integer.
	shift = 3 << 51
	// most is the largest difference whose square stays in that range.
	most = 1 << 7
)

// Sums, empty at first, accumulates the products of the differences of each pair of channels: 0·0, 1·0, 1·1, 2·0, 2·1,
// 2·2.
type Sums struct {
	// products are multiplied by scale.
	products [6]float64
	pairs    int
}

// Products returns the sums and the number of pairs of pixels.
func (s *Sums) Products() (products [6]float64, pairs int) {
	for k, p := range s.products {
		products[k] = p / scale
	}
	return products, s.pairs
}

// Row is a run of adjacent pixels: their three channels, and 1 for pixels that count, 0 for others.
type Row struct {
	Pix   [3][]float32
	Known []float32
}

// From returns the row without its first pixels.
func (r *Row) From(x int) Row {
	return Row{Pix: [3][]float32{r.Pix[0][x:], r.Pix[1][x:], r.Pix[2][x:]}, Known: r.Known[x:]}
}

// Add adds the products of the differences between n pixels of a and b, rounded to grid numbers. It returns false if a
// difference is too large for that.
func (s *Sums) Add(a, b *Row, n int) bool {
	for i := range n {
		if a.Known[i] == 0 || b.Known[i] == 0 {
			continue
		}
		p, q, r := float64(a.Pix[0][i]-b.Pix[0][i]), float64(a.Pix[1][i]-b.Pix[1][i]), float64(a.Pix[2][i]-b.Pix[2][i])
		if !(max(math.Abs(p), math.Abs(q), math.Abs(r)) < most) {
			return false
		}
		for k, v := range [6]float64{p * p, q * p, q * q, r * p, r * q, r * r} {
			s.products[k] += float64(float64(v*scale)+shift) - shift
		}
		s.pairs++
	}
	return true
}
