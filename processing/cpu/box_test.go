package cpu

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

func slowBoxMean[T uint8 | uint16](src []T, w, h, r int) []T {
	return perPixel(w, h, func(x, y int) T {
		var s, n uint64
		clipped(w, h, x, y, r, func(i int) { s, n = s+uint64(src[i]), n+1 })
		return T((s + n/2) / n)
	})
}

func checkBoxMean[T uint8 | uint16](t *rapid.T, most int) {
	w, h := size(t)
	src, r := noise[T](t, w*h, most), radius(t, 90)
	want := slowBoxMean(src, w, h, r)
	each(t, func(b *Backend) {
		s := up(t, b, w, h, src)
		d := empty(t, b, s.Kind(), w, h)
		must(t, b.Do(context.Background(), processing.BoxMean{Dst: d, Src: s, Radius: r}))
		wantEqual(t, workersLabel(b), w, down[T](t, d), want)
		release(d, s)
	})
}

func TestBoxMean(t *testing.T) {
	t.Run("U8", rapid.MakeCheck(func(t *rapid.T) { checkBoxMean[uint8](t, math.MaxUint8) }))
	t.Run("U16", rapid.MakeCheck(func(t *rapid.T) { checkBoxMean[uint16](t, math.MaxUint16) }))
}

// Windows of more than 257 × 257 pixels exceed 32-bit sums.
func TestBoxMeanLargeWindow(t *testing.T) {
	const w, h = 700, 610
	src := make([]uint16, w*h)
	for i := range src {
		src[i] = 65535 - uint16(i*i%7)
	}
	for _, r := range []int{128, 200, 400, 5000} {
		b := New(Workers(3))
		s, d := up(t, b, w, h, src), empty(t, b, processing.U16, w, h)
		must(t, b.Do(context.Background(), processing.BoxMean{Dst: d, Src: s, Radius: r}))
		got := down[uint16](t, d)
		for _, i := range []int{0, w - 1, w*h/2 + w/2, 17*w + 333, w*h - 1} {
			var sum, n uint64
			clipped(w, h, i%w, i/w, r, func(j int) { sum, n = sum+uint64(src[j]), n+1 })
			if want := uint16((sum + n/2) / n); got[i] != want {
				t.Errorf("radius %d, pixel (%d, %d): %d, want %d", r, i%w, i/w, got[i], want)
			}
		}
	}
}
