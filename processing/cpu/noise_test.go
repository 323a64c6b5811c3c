package cpu

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

func checkNoiseTiles(t *rapid.T) {
	w, h := size(t)
	src := noise[uint8](t, w*h, math.MaxUint8)
	side := rapid.OneOf(rapid.IntRange(2, 20), rapid.IntRange(2, 200)).Draw(t, "tile")
	want := []float64{}
	for y := 0; y < h; y += side {
		for x := 0; x < w; x += side {
			tw, th := min(side, w-x), min(side, h-y)
			var hh []float64
			for v := y; v+1 < y+th; v += 2 {
				for u := x; u+1 < x+tw; u += 2 {
					d := float64(src[v*w+u]) - float64(src[v*w+u+1]) - float64(src[(v+1)*w+u]) + float64(src[(v+1)*w+u+1])
					hh = append(hh, math.Abs(d)/2)
				}
			}
			if 4*tw*th < side*side || len(hh) == 0 {
				continue
			}
			slices.Sort(hh)
			want = append(want, (hh[(len(hh)-1)/2]+hh[len(hh)/2])/2/0.6745)
		}
	}
	each(t, func(b *Backend) {
		s := up(t, b, w, h, src)
		got, err := processing.Evaluate(context.Background(), b, processing.NoiseTiles{Src: s, Side: side})
		must(t, err)
		if !slices.Equal(got, want) {
			t.Fatalf("%d workers: %v, want %v", b.workers, got, want)
		}
		release(s)
	})
}

func TestNoiseTiles(t *testing.T) { rapid.Check(t, checkNoiseTiles) }

// Normal noise of a known standard deviation is measured correctly.
func TestNoiseTilesNormal(t *testing.T) {
	const side, sigma = 512, 6.0
	src := make([]uint8, side*side)
	state := uint32(9)
	uniform := func() float64 {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		return (float64(state>>8) + 0.5) / (1 << 24)
	}
	for i := range src {
		src[i] = uint8(math.Round(128 + sigma*math.Sqrt(-2*math.Log(uniform()))*math.Cos(2*math.Pi*uniform())))
	}
	b := New(Workers(2))
	got, err := processing.Evaluate(context.Background(), b, processing.NoiseTiles{
		Src: up(t, b, side, side, src), Side: side,
	})
	must(t, err)
	if len(got) != 1 || math.Abs(got[0]-sigma) > 0.15 {
		t.Errorf("noise %v, want about %v", got, sigma)
	}
}
