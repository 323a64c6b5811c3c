package cpu

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// slowSums adds up a window.
func slowSums[T uint8 | uint16](src []T, w, h, x, y, r int) (n, s, s2 uint64) {
	clipped(w, h, x, y, r, func(i int) {
		v := uint64(src[i])
		n, s, s2 = n+1, s+v, s2+v*v
	})
	return n, s, s2
}

func checkMeanVariance[T uint8 | uint16](t *rapid.T, most int) {
	w, h := size(t)
	src, r := noise[T](t, w*h, most), radius(t, 127)
	mean := perPixel(w, h, func(x, y int) float32 {
		n, s, _ := slowSums(src, w, h, x, y, r)
		return float32(float64(s) / float64(n))
	})
	variance := perPixel(w, h, func(x, y int) float32 {
		n, s, s2 := slowSums(src, w, h, x, y, r)
		return float32(float64(n*s2-s*s) / float64(n*n))
	})
	each(t, func(b *Backend) {
		s := up(t, b, w, h, src)
		m, v := empty(t, b, processing.F32, w, h), empty(t, b, processing.F32, w, h)
		must(t, MeanVariance(context.Background(), b, m, v, s, r))
		wantEqual(t, "mean", w, down[float32](t, m), mean)
		wantEqual(t, "variance", w, down[float32](t, v), variance)
		release(s, m, v)
	})
}

func TestMeanVariance(t *testing.T) {
	t.Run("U8", rapid.MakeCheck(func(t *rapid.T) { checkMeanVariance[uint8](t, math.MaxUint8) }))
	t.Run("U16", rapid.MakeCheck(func(t *rapid.T) { checkMeanVariance[uint16](t, math.MaxUint16) }))
}

// The largest window of the largest samples uses 32 and 64 bits completely.
func TestMeanVarianceExtreme(t *testing.T) {
	const side = 300
	src := make([]uint16, side*side)
	kernel.Fill(src, 65535)
	b := New(Workers(2))
	s := up(t, b, side, side, src)
	m, v := empty(t, b, processing.F32, side, side), empty(t, b, processing.F32, side, side)
	must(t, MeanVariance(context.Background(), b, m, v, s, 127))
	for i, got := range down[float32](t, m) {
		if got != 65535 || down[float32](t, v)[i] != 0 {
			t.Fatalf("pixel (%d, %d): mean %v, variance %v", i%side, i/side, got, down[float32](t, v)[i])
		}
		if i > 2*side {
			break
		}
	}
	if got := down[float32](t, m)[150*side+150]; got != 65535 {
		t.Errorf("mean %v, want 65535", got)
	}
}
