package cpu

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// slowGaussian weighs every pixel of the square in float64.
func slowGaussian(src []uint8, w, h int, sigma float64) []float64 {
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

// An error of half a level is allowed.
func TestGaussian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.OneOf(rapid.IntRange(1, 30), rapid.IntRange(1, 3))
		w, h := side.Draw(t, "w"), side.Draw(t, "h")
		src := noise[uint8](t, w*h, math.MaxUint8)
		sigma := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 3), rapid.Float64Range(0, 9)).Draw(t, "sigma")
		want := slowGaussian(src, w, h, sigma)
		var first []uint8
		each(t, func(b *Backend) {
			s := up(t, b, w, h, src)
			d := empty(t, b, s.Kind(), w, h)
			must(t, b.Do(context.Background(), processing.Gaussian{Dst: d, Src: s, Sigma: sigma}))
			got := down[uint8](t, d)
			for i, v := range got {
				if !(math.Abs(float64(v)-want[i]) <= 0.501) {
					t.Fatalf("pixel (%d, %d) is %v, want %v", i%w, i/w, v, want[i])
				}
			}
			if first == nil {
				first = got
			}
			wantEqual(t, workersLabel(b)+" against 1", w, got, first)
			release(s, d)
		})
	})
}
