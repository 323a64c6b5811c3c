package differences

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/simd"
)

// The sums equal those of the rounded products added one by one.
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
		var sums Sums
		if ok := sums.Add(&a, &b, n); ok != fits {
			t.Fatalf("added %v, not %v", ok, fits)
		}
		if got, n := sums.Products(); fits && (got != want || n != pairs) {
			t.Fatalf("%v of %d pairs, not %v of %d", got, n, want, pairs)
		}
	})
}

// Pairs equal those of a loop over single pixels, and totals equal the sums of the rows that they represent.
func TestPairsAreThoseOfALoop(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, to := rapid.IntRange(0, 40).Draw(t, "n"), rapid.IntRange(0, 9).Draw(t, "to")
		planes := make([][]float32, rapid.IntRange(1, 4).Draw(t, "channels"))
		number := rapid.SampledFrom([]*rapid.Generator[float32]{rapid.Float32Range(0, 1), rapid.Float32Range(0, 40),
			rapid.SampledFrom([]float32{0, 1e-30, 1, 15.99, 16, 1e15, 3e38})}).Draw(t, "number")
		for k := range planes {
			planes[k] = rapid.SliceOfN(number, n+to, n+to).Draw(t, "plane")
		}
		known := rapid.SliceOfN(rapid.SampledFrom([]float32{0, 1, 1}), n+to, n+to).Draw(t, "known")
		for _, level := range []simd.Level{simd.Plain, simd.Chosen()} {
			got := make([]int64, n)
			Between(level, got, planes, 0, to, known, known[to:])
			for i := range got {
				want := int64(0)
				if known[i]*known[i+to] != 0 {
					var sum float32
					for _, p := range planes {
						sum += float32((p[i] - p[i+to]) * (p[i] - p[i+to]))
					}
					want = int64(math.Trunc(math.Min(float64(sum), 256)*(1<<24))) + 1<<48
				}
				if got[i] != want {
					t.Fatalf("%v: pair %d is %d, not %d", level, i, got[i], want)
				}
			}
			totals, old := make([]int64, n), make([]int64, n)
			Slide(level, totals, old, got, got)
			Slide(level, totals, old, got, make([]int64, n))
			for i := range got {
				if totals[i] != got[i] || old[i] != got[i] {
					t.Fatalf("%v: total %d is %d of %d, not %d", level, i, totals[i], old[i], got[i])
				}
			}
		}
	})
}
