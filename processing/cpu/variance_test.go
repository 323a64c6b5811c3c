package cpu

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// floatPlanes are kinds of samples that are difficult for sums of squares.
func floatPlanes() map[string]func(r *rand.Rand) float32 {
	return map[string]func(r *rand.Rand) float32{
		"noise":      func(r *rand.Rand) float32 { return float32(r.NormFloat64()) },
		"one value":  func(*rand.Rand) float32 { return 1000.1 },
		"zeros":      func(r *rand.Rand) float32 { return float32(math.Copysign(0, float64(r.IntN(2))-0.5)) },
		"far off":    func(r *rand.Rand) float32 { return 1e6 + r.Float32() },
		"magnitudes": func(r *rand.Rand) float32 { return float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-40)) },
		"faint":      func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32N(1 << 24)) },
		"huge":       func(r *rand.Rand) float32 { return (2*r.Float32() - 1) * math.MaxFloat32 },
	}
}

// Means and variances equal those of float64 in two passes, within the bounds of MeanVariance; the bits are
// the same with every number of workers, tiling and level of vectors; and no variance is negative.
func TestFloatMeanVariance(t *testing.T) {
	for name, next := range floatPlanes() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			w, h := size(t)
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			src, most := make([]float32, w*h), 0.0
			for i := range src {
				src[i] = next(r)
				most = max(most, math.Abs(float64(src[i])))
			}
			side := radius(t, 127)
			variance := make([]float64, w*h)
			mean := perPixel(w, h, func(x, y int) float64 {
				var s, n, d float64
				clipped(w, h, x, y, side, func(i int) { s, n = s+float64(src[i]), n+1 })
				s /= n
				clipped(w, h, x, y, side, func(i int) { d += (float64(src[i]) - s) * (float64(src[i]) - s) })
				variance[y*w+x] = d / n
				return s
			})
			var first [2][]float32
			each(t, func(b *Backend) {
				s := up(t, b, w, h, src)
				m, v := empty(t, b, processing.F32, w, h), empty(t, b, processing.F32, w, h)
				must(t, MeanVariance(context.Background(), b, m, v, s, side))
				got := [2][]float32{down[float32](t, m), down[float32](t, v)}
				wantRounded(t, "mean", w, got[0], mean, math.Ldexp(most, -35))
				wantRounded(t, "variance", w, got[1], variance, math.Ldexp(most*most, -34))
				for i, d := range got[1] {
					if !(d >= 0) {
						t.Fatalf("pixel (%d, %d): variance %v", i%w, i/w, d)
					}
				}
				if first[0] == nil {
					first = got
				}
				wantEqual(t, "mean, "+workersLabel(b), w, got[0], first[0])
				wantEqual(t, "variance, "+workersLabel(b), w, got[1], first[1])
				release(s, m, v)
			})
		}))
	}
}

// wantRounded compares floats with the rounded values of numbers within some distance.
func wantRounded(t rapid.TB, what string, w int, got []float32, want []float64, distance float64) {
	t.Helper()
	for i, v := range want {
		if g := got[i]; !(g >= float32(v-distance) && g <= float32(v+distance)) {
			t.Fatalf("%s: pixel (%d, %d) is %v, want %v ± %v", what, i%w, i/w, g, v, distance)
		}
	}
}

// Whole numbers, whose squares need no rounding, give the same bits as the sums of integers.
func TestFloatMeanVarianceOfIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := size(t)
		bytes, r := noise[uint8](t, w*h, math.MaxUint8), radius(t, 127)
		floats := make([]float32, w*h)
		for i, v := range bytes {
			floats[i] = float32(v)
		}
		b := New(Workers(2))
		var got [2][2][]float32
		for i, s := range []processing.Plane{up(t, b, w, h, bytes), up(t, b, w, h, floats)} {
			m, v := empty(t, b, processing.F32, w, h), empty(t, b, processing.F32, w, h)
			must(t, MeanVariance(context.Background(), b, m, v, s, r))
			got[i] = [2][]float32{down[float32](t, m), down[float32](t, v)}
		}
		wantEqual(t, "mean", w, got[1][0], got[0][0])
		for i, v := range got[0][1] {
			if d := got[1][1][i]; math.Abs(float64(d-v)) > 1e-7*float64(v) {
				t.Fatalf("pixel (%d, %d): variance %v, want %v", i%w, i/w, d, v)
			}
		}
	})
}

func TestFloatMeanVarianceCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := New(Workers(2))
	s := up(t, b, 300, 300, make([]float32, 300*300))
	m, v := empty(t, b, processing.F32, 300, 300), empty(t, b, processing.F32, 300, 300)
	if err := MeanVariance(ctx, b, m, v, s, 3); err != context.Canceled {
		t.Fatalf("error %v, want %v", err, context.Canceled)
	}
}
