package differences

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/simd"
)

// The sums equal those of the rounded products added one by one, at every level of vector instructions.
func TestSumsAreThoseOfPairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		limit := rapid.SampledFrom([]float32{1, 3, 127, 300}).Draw(t, "limit")
		draw := func() (r Row) {
			for k := range r.Pix {
				r.Pix[k] = rapid.SliceOfN(rapid.Float32Range(0, limit), n, n).Draw(t, "pix")
			}
			r.Known = rapid.SliceOfN(rapid.SampledFrom([]float32{0, 1}), n, n).Draw(t, "known")
			return r
		}
		a, b := draw(), draw()
		var want [6]float64
		pairs := 0
		fits := true
		for i := range n {
			if a.Known[i]*b.Known[i] == 0 {
				continue
			}
			pairs++
			k := 0
			for c := range 3 {
				for d := range c + 1 {
					x, y := float64(a.Pix[c][i]-b.Pix[c][i]), float64(a.Pix[d][i]-b.Pix[d][i])
					fits = fits && math.Abs(x) < most
					want[k] += math.RoundToEven(x*y*scale) / scale
					k++
				}
			}
		}
		for _, level := range []simd.Level{simd.Plain, simd.Chosen()} {
			sums := New(level)
			if ok := sums.Add(&a, &b, n); ok != fits {
				t.Fatalf("%v: added %v, not %v", level, ok, fits)
			}
			if got, n := sums.Products(); fits && (got != want || n != pairs) {
				t.Fatalf("%v: %v of %d pairs, not %v of %d", level, got, n, want, pairs)
			}
		}
	})
}
