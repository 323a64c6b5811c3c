package cpu

import (
	"context"
	"math"
	"math/big"
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

func checkIntegerMoments[T uint8 | uint16](t *rapid.T, most int) {
	w, h := size(t)
	src := noise[T](t, w*h, most)
	var sum, sum2 big.Int
	for _, v := range src {
		x := new(big.Int).SetUint64(uint64(v))
		sum.Add(&sum, x)
		sum2.Add(&sum2, x.Mul(x, x))
	}
	want := Moments{N: uint64(len(src)), Min: float64(slices.Min(src)), Max: float64(slices.Max(src))}
	want.Sum, _ = new(big.Float).SetInt(&sum).Float64()
	want.Sum2, _ = new(big.Float).SetInt(&sum2).Float64()
	n := big.NewInt(int64(len(src)))
	want.Mean, _ = new(big.Rat).SetFrac(&sum, n).Float64()
	spread := new(big.Int).Mul(n, &sum2)
	variance, _ := new(big.Rat).SetFrac(spread.Sub(spread, new(big.Int).Mul(&sum, &sum)), n.Mul(n, n)).Float64()
	want.StdDev = math.Sqrt(variance)
	each(t, func(b *Backend) {
		s := up(t, b, w, h, src)
		got, err := SumMoments(context.Background(), b, s)
		must(t, err)
		if math.Abs(got.StdDev-want.StdDev) <= 1e-15*want.StdDev {
			got.StdDev = want.StdDev
		}
		if got != want {
			t.Fatalf("%d workers: %+v, want %+v", b.workers, got, want)
		}
		release(s)
	})
}

func TestMoments(t *testing.T) {
	t.Run("U8", rapid.MakeCheck(func(t *rapid.T) { checkIntegerMoments[uint8](t, math.MaxUint8) }))
	t.Run("U16", rapid.MakeCheck(func(t *rapid.T) { checkIntegerMoments[uint16](t, math.MaxUint16) }))
}

// Samples of mixed magnitude cancel in plain sums; compensated sums keep the rest, with any number of workers.
func TestMomentsFloat(t *testing.T) {
	const w, h = 321, 257
	src := make([]float32, w*h)
	for i := range src {
		src[i] = []float32{1e8, 1, -1e8, float32(i%1000) / 1024}[i%4]
	}
	var sum, sum2 big.Float
	sum.SetPrec(300)
	sum2.SetPrec(300)
	for _, v := range src {
		x := new(big.Float).SetFloat64(float64(v))
		sum.Add(&sum, x)
		sum2.Add(&sum2, new(big.Float).SetPrec(300).Mul(x, x))
	}
	wantSum, _ := sum.Float64()
	wantSum2, _ := sum2.Float64()
	var first Moments
	for i, n := range workerCounts {
		b := New(Workers(n))
		got, err := SumMoments(context.Background(), b, up(t, b, w, h, src))
		must(t, err)
		if i == 0 {
			first = got
		}
		sum, err := Sum(context.Background(), b, up(t, b, w, h, src))
		must(t, err)
		if sum != first.Sum {
			t.Errorf("%d workers: sum %v beside %v", n, sum, first.Sum)
		}
		if got != first {
			t.Errorf("%d workers: %+v, with 1 %+v", n, got, first)
		}
	}
	if first.Sum != wantSum || first.Sum2 != wantSum2 {
		t.Errorf("sums %v and %v, want %v and %v", first.Sum, first.Sum2, wantSum, wantSum2)
	}
	if first.Min != -1e8 || first.Max != 1e8 || first.N != w*h {
		t.Errorf("%+v", first)
	}
	if mean := wantSum / (w * h); math.Abs(first.Mean-mean) > 1e-15*mean {
		t.Errorf("mean %v, want %v", first.Mean, mean)
	}
}

// A deviation of 1 on top of 2²⁴ is lost in a difference of float64 sums over many pixels, and is kept here.
func TestMomentsFloatDeviation(t *testing.T) {
	const w, h = 1000, 1000
	src := make([]float32, w*h)
	for i := range src {
		src[i] = 1<<23 + float32(i%2)*2
	}
	b := New(Workers(2))
	got, err := SumMoments(context.Background(), b, up(t, b, w, h, src))
	must(t, err)
	if got.Mean != 1<<23+1 || got.StdDev != 1 {
		t.Errorf("mean %v and deviation %v, want %v and 1", got.Mean, got.StdDev, 1<<23+1)
	}
}

func TestMomentsNotFinite(t *testing.T) {
	b := New(Workers(2))
	got, err := SumMoments(context.Background(), b, up(t, b, 3, 1, []float32{1, float32(math.Inf(1)), 2}))
	must(t, err)
	if !math.IsInf(got.Sum, 1) || !math.IsInf(got.Max, 1) || got.Min != 1 {
		t.Errorf("%+v", got)
	}
	for _, v := range []float64{math.Inf(-1), math.NaN()} {
		sum, err := Sum(context.Background(), b, up(t, b, 3, 1, []float32{1, float32(v), 2}))
		must(t, err)
		if math.Float64bits(sum) != math.Float64bits(v) && !(math.IsNaN(sum) && math.IsNaN(v)) {
			t.Errorf("a sum with %v is %v", v, sum)
		}
	}
	got, err = SumMoments(context.Background(), b, up(t, b, 3, 1, []float32{1, float32(math.NaN()), 2}))
	must(t, err)
	if !math.IsNaN(got.Sum) || !math.IsNaN(got.Mean) {
		t.Errorf("%+v", got)
	}
}
