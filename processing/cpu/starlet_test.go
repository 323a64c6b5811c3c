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
		smooth := make([]int64, w*h)
		for i, v := range src {
			smooth[i] = int64(v)
		}
		fine := slowSpline(smooth, w, h, 1)
		smooth = slowSpline(fine, w, h, 2)
		want := make([]uint16, w*h)
		for i := range want {
			want[i] = uint16(max(0, fine[i]*256-smooth[i]) >> 8)
		}
		each(t, func(b *Backend) {
			s, d := up(t, b, w, h, src), empty(t, b, processing.U16, w, h)
			must(t, b.Do(context.Background(), processing.StarletBand{Dst: d, Src: s}))
			wantEqual(t, workersLabel(b), w, down[uint16](t, d), want)
			release(s, d)
		})
	})
}
