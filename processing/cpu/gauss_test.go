package cpu

import (
	"context"
	"math"
	"testing"

	"blik/processing"

	"pgregory.net/rapid"

	"blik/processing/cpu/kernel"
)

// slowGaussian weighs every pixel of the square in float64.
func slowGaussian[T kernel.Sample](src []T, w, h int, sigma float64) []float64 {
	r := int(math.Ceil(3 * sigma))
	weight := func(i int) float64 {
		if i == 0 {
			return 1
		}
		return math.Exp(-float64(i*i) / (2 * sigma * sigma))
	}
	return perPixel(w, h, func(x, y int) float64 {
		var s, n float64
		for j := -r; j <= r; j++ {
			for i := -r; i <= r; i++ {
				k := weight(i) * weight(j)
				s += k * float64(src[slowMirror(y+j, h)*w+slowMirror(x+i, w)])
				n += k
			}
		}
		return s / n
	})
}

// checkGaussian allows an error of half a level for integers, and of float32 sums, about 2⁻²⁰ of white.
func checkGaussian[T kernel.Sample](t *rapid.T, w, h int, src []T, tolerance float64) {
	sigma := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 3), rapid.Float64Range(0, 9)).Draw(t, "sigma")
	want := slowGaussian(src, w, h, sigma)
	var first []T
	each(t, func(b *Backend) {
		s := up(t, b, w, h, src)
		d := empty(t, b, s.Kind(), w, h)
		must(t, b.Do(context.Background(), processing.Gaussian{Dst: d, Src: s, Sigma: sigma}))
		got := down[T](t, d)
		for i, v := range got {
			if !(math.Abs(float64(v)-want[i]) <= tolerance) {
				t.Fatalf("pixel (%d, %d) is %v, want %v ± %v", i%w, i/w, v, want[i], tolerance)
			}
		}
		if first == nil {
			first = got
		}
		wantEqual(t, workersLabel(b)+" against 1", w, got, first)
		release(s, d)
	})
}

func TestGaussian(t *testing.T) {
	side := rapid.OneOf(rapid.IntRange(1, 30), rapid.IntRange(1, 3))
	t.Run("U8", rapid.MakeCheck(func(t *rapid.T) {
		w, h := side.Draw(t, "w"), side.Draw(t, "h")
		checkGaussian(t, w, h, noise[uint8](t, w*h, math.MaxUint8), 0.501)
	}))
	t.Run("U16", rapid.MakeCheck(func(t *rapid.T) {
		w, h := side.Draw(t, "w"), side.Draw(t, "h")
		checkGaussian(t, w, h, noise[uint16](t, w*h, math.MaxUint16), 0.56)
	}))
	t.Run("F32", rapid.MakeCheck(func(t *rapid.T) {
		w, h := side.Draw(t, "w"), side.Draw(t, "h")
		checkGaussian(t, w, h, floats(t, w*h), 2e-4)
	}))
}
