package cpu

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

func checkHistogram[T uint8 | uint16](t *rapid.T, most int) {
	w, h := size(t)
	src, mask := noise[T](t, w*h, most), exclusion(t, w, h)
	masked := rapid.Bool().Draw(t, "masked")
	want := make([]uint64, most+1)
	for i, v := range src {
		if !masked || mask[i] == 0 {
			want[v]++
		}
	}
	each(t, func(b *Backend) {
		s, e := up(t, b, w, h, src), up(t, b, w, h, mask)
		exclude := e
		if !masked {
			exclude = nil
		}
		got, err := processing.Evaluate(context.Background(), b, processing.Histogram{Src: s, Exclude: exclude})
		must(t, err)
		if !slices.Equal(got, want) {
			t.Fatal("the histogram differs")
		}
		release(s, e)
	})
}

func TestHistogram(t *testing.T) {
	t.Run("U8", rapid.MakeCheck(func(t *rapid.T) { checkHistogram[uint8](t, math.MaxUint8) }))
	t.Run("U16", rapid.MakeCheck(func(t *rapid.T) { checkHistogram[uint16](t, math.MaxUint16) }))
}

// Several tasks, whose bins are added.
func TestHistogramLarge(t *testing.T) {
	const w, h = 1500, 1000
	src := make([]uint16, w*h)
	want := make([]uint64, 1<<16)
	for i := range src {
		src[i] = uint16(i * i)
		want[src[i]]++
	}
	for _, n := range workerCounts {
		b := New(Workers(n))
		got, err := processing.Evaluate(context.Background(), b, processing.Histogram{Src: up(t, b, w, h, src)})
		must(t, err)
		if !slices.Equal(got, want) {
			t.Fatalf("%d workers: the histogram differs", n)
		}
	}
}
