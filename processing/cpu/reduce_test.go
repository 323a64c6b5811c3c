package cpu

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

func checkHistogram(t *rapid.T) {
	w, h := size(t)
	src, mask := noise[uint8](t, w*h, math.MaxUint8), exclusion(t, w, h)
	masked := rapid.Bool().Draw(t, "masked")
	want := make([]uint64, 1<<8)
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

func TestHistogram(t *testing.T) { rapid.Check(t, checkHistogram) }

// Several tasks, whose bins are added.
func TestHistogramLarge(t *testing.T) {
	const w, h = 1500, 1000
	src := make([]uint8, w*h)
	want := make([]uint64, 1<<8)
	for i := range src {
		src[i] = uint8(i * i >> 3)
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
