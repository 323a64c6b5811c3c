package cpu

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// slowAnalysis is a level in one dimension, from the definition: an odd side is extended by its last sample, and
// indices wrap round.
func slowAnalysis(x []float64, wave kernel.Wavelet) []float64 {
	n := len(x)
	if n%2 == 1 {
		x = append(slices.Clone(x), x[n-1])
	}
	s3, q := math.Sqrt(3), 4*math.Sqrt2
	h, from := []float64{(1 + s3) / q, (3 + s3) / q, (3 - s3) / q, (1 - s3) / q}, -2
	if wave == kernel.Haar {
		h, from = []float64{math.Sqrt2 / 2, math.Sqrt2 / 2}, 0
	}
	var low, high []float64
	for i := 0; i < len(x); i += 2 {
		var l, g float64
		for k := range h {
			v := x[((i+from+k)%len(x)+len(x))%len(x)]
			l += h[k] * v
			g += float64(1-k%2*2) * h[len(h)-1-k] * v
		}
		low, high = append(low, l), append(high, g)
	}
	return append(low, high[:n/2]...)
}

func slowTransform(src []float64, w, h int, wave kernel.Wavelet) []float64 {
	out := make([]float64, w*h)
	for y := range h {
		copy(out[y*w:], slowAnalysis(src[y*w:(y+1)*w], wave))
	}
	for x := range w {
		column := make([]float64, h)
		for y := range h {
			column[y] = out[y*w+x]
		}
		for y, v := range slowAnalysis(column, wave) {
			out[y*w+x] = v
		}
	}
	return out
}

func checkWavelet(t *rapid.T, w, h int, src []float32, white float64) {
	wave := rapid.SampledFrom([]kernel.Wavelet{kernel.Haar, kernel.Daubechies4}).Draw(t, "wavelet")
	exact := make([]float64, w*h)
	for i, v := range src {
		exact[i] = float64(v)
	}
	want := slowTransform(exact, w, h, wave)
	var first []float32
	each(t, func(b *Backend) {
		s, d := up(t, b, w, h, src), empty(t, b, processing.F32, w, h)
		back := empty(t, b, processing.F32, w, h)
		must(t, WaveletTransform(context.Background(), b, d, s, wave))
		got := down[float32](t, d)
		// A dozen roundings of float32, 2⁻²⁴ each, of values up to twice white.
		wantNear(t, workersLabel(b), w, got, want, white*2e-6)
		must(t, InverseWavelet(context.Background(), b, back, d, wave))
		wantNear(t, "inverse", w, down[float32](t, back), exact, white*8e-6)
		if first == nil {
			first = got
		}
		wantEqual(t, workersLabel(b)+" against 1", w, got, first)
		release(s, d, back)
	})
}

func TestWavelet(t *testing.T) {
	t.Run("F32", rapid.MakeCheck(func(t *rapid.T) {
		w, h := size(t)
		checkWavelet(t, w, h, floats(t, w*h), 255)
	}))
}

// An orthogonal transform of even sides keeps the energy.
func TestWaveletEnergy(t *testing.T) {
	const w, h = 64, 48
	src := make([]float32, w*h)
	want := 0.0
	for i := range src {
		src[i] = float32(uint8(i * i * 31 >> 3))
		want += float64(src[i]) * float64(src[i])
	}
	for _, wave := range []kernel.Wavelet{kernel.Haar, kernel.Daubechies4} {
		b := New(Workers(2))
		d := empty(t, b, processing.F32, w, h)
		must(t, WaveletTransform(context.Background(), b, d, up(t, b, w, h, src), wave))
		got := 0.0
		for _, v := range down[float32](t, d) {
			got += float64(v) * float64(v)
		}
		if math.Abs(got/want-1) > 1e-6 {
			t.Errorf("wavelet %d: energy %v, want %v", wave, got, want)
		}
	}
}

func checkNoiseTiles[T uint8 | uint16](t *rapid.T, most int) {
	w, h := size(t)
	src := noise[T](t, w*h, most)
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

func TestNoiseTiles(t *testing.T) {
	t.Run("U8", rapid.MakeCheck(func(t *rapid.T) { checkNoiseTiles[uint8](t, math.MaxUint8) }))
	t.Run("U16", rapid.MakeCheck(func(t *rapid.T) { checkNoiseTiles[uint16](t, math.MaxUint16) }))
}

// Normal noise of a known standard deviation is measured correctly.
func TestNoiseTilesNormal(t *testing.T) {
	const side, sigma = 512, 6.0
	src := make([]uint16, side*side)
	state := uint32(9)
	uniform := func() float64 {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		return (float64(state>>8) + 0.5) / (1 << 24)
	}
	for i := range src {
		src[i] = uint16(math.Round(1000 + sigma*math.Sqrt(-2*math.Log(uniform()))*math.Cos(2*math.Pi*uniform())))
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
