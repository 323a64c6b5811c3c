package cpu

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// slowSpline is one smoothing of the starlet transform, times 256, straight from the 5 × 5 kernel.
func slowSpline[T int64 | float64](src []T, w, h, step int) []T {
	taps := [5]T{1, 4, 6, 4, 1}
	return perPixel(w, h, func(x, y int) T {
		var s T
		for j, a := range taps {
			for i, b := range taps {
				s += a * b * src[slowMirror(y+(j-2)*step, h)*w+slowMirror(x+(i-2)*step, w)]
			}
		}
		return s
	})
}

// slowMirror walks back and forth.
func slowMirror(i, n int) int {
	for i < 0 || i >= n {
		if n == 1 {
			return 0
		}
		if i < 0 {
			i = -i
		} else {
			i = 2*(n-1) - i
		}
	}
	return i
}

func TestStarletBand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := size(t)
		src := noise[uint8](t, w*h, math.MaxUint8)
		level := rapid.IntRange(1, 3).Draw(t, "level")
		smooth := make([]int64, w*h)
		for i, v := range src {
			smooth[i] = int64(v)
		}
		var fine []int64
		for j := range level {
			fine, smooth = smooth, slowSpline(smooth, w, h, 1<<j)
		}
		want := make([]uint16, w*h)
		for i := range want {
			want[i] = uint16(max(0, fine[i]*256-smooth[i]) >> (8 * (level - 1)))
		}
		each(t, func(b *Backend) {
			s, d := up(t, b, w, h, src), empty(t, b, processing.U16, w, h)
			must(t, b.StarletBand(context.Background(), d, s, level))
			wantEqual(t, workersLabel(b), w, down[uint16](t, d), want)
			release(s, d)
		})
	})
}

func checkStarlet[T sample](t *rapid.T, w, h int, src []T, white float64) {
	levels := rapid.OneOf(rapid.IntRange(0, 4), rapid.IntRange(0, 9)).Draw(t, "levels")
	var want [][]float64
	smooth := make([]float64, w*h)
	for i, v := range src {
		smooth[i] = float64(v)
	}
	for j := range levels {
		coarse := slowSpline(smooth, w, h, 1<<j)
		band := make([]float64, w*h)
		for i := range coarse {
			coarse[i] /= 256
			band[i] = smooth[i] - coarse[i]
		}
		want, smooth = append(want, band), coarse
	}
	var first [][]float32
	each(t, func(b *Backend) {
		s, last := up(t, b, w, h, src), empty(t, b, processing.F32, w, h)
		bands := make([]processing.Plane, levels)
		for i := range bands {
			bands[i] = empty(t, b, processing.F32, w, h)
		}
		must(t, b.Starlet(context.Background(), bands, last, s))
		var got [][]float32
		for i, p := range append(bands, last) {
			got = append(got, down[float32](t, p))
			exact := smooth
			if i < levels {
				exact = want[i]
			}
			wantNear(t, workersLabel(b), w, got[i], exact, white*2e-6)
		}
		if first == nil {
			first = got
		}
		for i := range got {
			wantEqual(t, workersLabel(b)+" against 1", w, got[i], first[i])
		}
		release(append(bands, last, s)...)
	})
}

func TestStarlet(t *testing.T) {
	t.Run("U8", rapid.MakeCheck(func(t *rapid.T) {
		w, h := size(t)
		checkStarlet(t, w, h, noise[uint8](t, w*h, math.MaxUint8), 255)
	}))
	t.Run("U16", rapid.MakeCheck(func(t *rapid.T) {
		w, h := size(t)
		checkStarlet(t, w, h, noise[uint16](t, w*h, math.MaxUint16), 65535)
	}))
	t.Run("F32", rapid.MakeCheck(func(t *rapid.T) {
		w, h := size(t)
		checkStarlet(t, w, h, floats(t, w*h), 255)
	}))
}
