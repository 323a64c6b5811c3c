package cpu

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/simd"
)

// vectors returns the kernels of every level of vectors that this processor runs, and Cores of several workers.
func vectors() []kernels {
	var all []kernels
	for _, l := range simd.Levels()[1:] {
		all = append(all, kernelsFor(l))
	}
	return all
}

func eachCores(f func(c *Cores)) {
	for _, workers := range []int{1, 2, 5} {
		for _, k := range append(vectors(), plainKernels()) {
			c := New(workers)
			c.k = k
			f(c)
		}
	}
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// floats draws samples with fractions and both signs.
func floats(t *rapid.T, n int) []float32 {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(r.IntN(65536))/257 - 50
	}
	return s
}

// alike fails unless samples are the same.
func alike(t rapid.TB, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: sample %d of %d is %v, want %v", what, i, len(want), got[i], want[i])
		}
	}
}

func near(t rapid.TB, what string, got []float32, want []float64, most float64) {
	t.Helper()
	for i := range want {
		if math.Abs(float64(got[i])-want[i]) > most {
			t.Fatalf("%s: sample %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestWaveletKernels(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 80), rapid.IntRange(1, 700)).Draw(t, "length")
		row := func() []float32 { return floats(t, n) }
		a, b, c, d := row(), row(), row(), row()
		even := n &^ 1
		fewer := rapid.IntRange(0, min(1, n-1)).Draw(t, "fewer")
		x := floats(t, 2*n)
		for _, wave := range []Wavelet{Haar, Daubechies4} {
			f := filterOf(wave)
			for name, call := range map[string]func(k *kernels, s []float32){
				"tap2":     func(k *kernels, s []float32) { k.tap2(s[:n], a, b, 0.3, -0.7) },
				"tap4":     func(k *kernels, s []float32) { k.tap4(s[:n], a, b, c, d, &f.high) },
				"both2":    func(k *kernels, s []float32) { k.both2(s[:n], s[n:2*n], a, b, f) },
				"both4":    func(k *kernels, s []float32) { k.both4(s[:n], s[n:2*n], a, b, c, d, f) },
				"haarPair": func(k *kernels, s []float32) { k.haarPair(s[:even], s[n:n+even], a[:even], b[:even], f) },
				"pair4": func(k *kernels, s []float32) {
					if even > 0 {
						copy(s[2*n:], c[:even])
						copy(s[3*n:], d[:even])
						k.pair4(s[:even], s[n:n+even], s[2*n:2*n+even], s[3*n:3*n+even], a[:even], b[:even], f)
					}
				},
				"analyse": func(k *kernels, s []float32) { k.analyse(s[:n], s[n:2*n-fewer], x, f) },
			} {
				const fence = 70
				plain, want := plainKernels(), make([]float32, 4*n+fence)
				call(&plain, want)
				for _, k := range vectors() {
					got := make([]float32, 4*n+fence)
					call(&k, got)
					alike(t, name, got, want)
				}
			}
		}
	})
}

// slowAnalysis is a level in one dimension, from the definition: an odd side is extended by its last sample, and
// indices wrap round.
func slowAnalysis(x []float64, wave Wavelet) []float64 {
	n := len(x)
	if n%2 == 1 {
		x = append(slices.Clone(x), x[n-1])
	}
	s3, q := math.Sqrt(3), 4*math.Sqrt2
	h, from := []float64{(1 + s3) / q, (3 + s3) / q, (3 - s3) / q, (1 - s3) / q}, -2
	if wave == Haar {
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

func slowTransform(src []float64, w, h int, wave Wavelet) []float64 {
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

func TestWavelet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 70).Draw(t, "width"), rapid.IntRange(1, 70).Draw(t, "height")
		src := floats(t, w*h)
		wave := rapid.SampledFrom([]Wavelet{Haar, Daubechies4}).Draw(t, "wavelet")
		exact := make([]float64, w*h)
		for i, v := range src {
			exact[i] = float64(v)
		}
		const white = 255
		want := slowTransform(exact, w, h, wave)
		var first []float32
		eachCores(func(c *Cores) {
			got, back := make([]float32, w*h), make([]float32, w*h)
			must(t, c.Transform(context.Background(), got, src, w, h, wave))
			// A dozen roundings of float32, 2⁻²⁴ each, of values up to twice white.
			near(t, "transform", got, want, white*2e-6)
			must(t, c.Inverse(context.Background(), back, got, w, h, wave))
			near(t, "inverse", back, exact, white*8e-6)
			if first == nil {
				first = got
			}
			alike(t, fmt.Sprintf("%d workers against 1", c.workers), got, first)
		})
	})
}

// An orthogonal transform of even sides keeps the energy.
func TestWaveletEnergy(t *testing.T) {
	t.Parallel()
	const w, h = 64, 48
	energy := func(s []float32) (sum float64) {
		for _, v := range s {
			sum += float64(v) * float64(v)
		}
		return sum
	}
	src, dst := make([]float32, w*h), make([]float32, w*h)
	for i := range src {
		src[i] = float32(uint8(i * i * 31 >> 3))
	}
	for _, wave := range []Wavelet{Haar, Daubechies4} {
		must(t, New(2).Transform(context.Background(), dst, src, w, h, wave))
		if got, want := energy(dst), energy(src); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("wavelet %d: energy %v, want %v", wave, got, want)
		}
	}
}

// The sums of whole blocks equal those of the plain kernel, whichever operations the samples allow to be skipped.
func TestSumsOfBlocks(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	kinds := map[string]func() float32{
		"bytes":        func() float32 { return float32(r.IntN(256)) },
		"words":        func() float32 { return float32(r.IntN(65536)) / 65535 },
		"uniform":      func() float32 { return r.Float32() * 255 },
		"magnitudes":   func() float32 { return float32(math.Ldexp(1+r.Float64(), r.IntN(40)-20)) },
		"all":          func() float32 { return float32(math.Ldexp(1+r.Float64(), r.IntN(270)-145)) },
		"faint":        func() float32 { return math.Float32frombits(r.Uint32N(1 << 24)) },
		"mostly zeros": func() float32 { return float32(max(0, r.IntN(100)-97)) / 3 },
		"zeros":        func() float32 { return 0 },
		"signs":        func() float32 { return float32(r.NormFloat64()) },
	}
	odd := []float32{float32(math.Copysign(0, -1)), -1, 1e-40, 1e30, float32(math.Inf(1)), float32(math.NaN())}
	for name, next := range kinds {
		for round := range 8 {
			s := make([]float32, []int{1 + r.IntN(sumBlock), sumBlock}[round%2])
			for i := range s {
				s[i] = next()
			}
			switch round / 2 {
			case 1:
				s[r.IntN(len(s))] = odd[r.IntN(len(odd))]
			case 2:
				slices.Sort(s)
			case 3:
				slices.Sort(s)
				slices.Reverse(s)
			}
			bits := func(d double) [2]uint64 {
				if d.sum != d.sum {
					return [2]uint64{1}
				}
				return [2]uint64{math.Float64bits(d.sum), math.Float64bits(d.rest + 0)}
			}
			for _, k := range vectors() {
				if got, want := k.sum(s), floatSum(s); bits(got) != bits(want) {
					t.Fatalf("%s, %d samples, round %d: %+v, want %+v", name, len(s), round, got, want)
				}
			}
		}
	}
}

// Samples of mixed magnitude cancel in plain sums; compensated sums keep the rest, with any number of workers.
func TestSum(t *testing.T) {
	t.Parallel()
	src := make([]float32, 321*257)
	sum := new(big.Float).SetPrec(300)
	for i := range src {
		src[i] = []float32{1e8, 1, -1e8, float32(i%1000) / 1024}[i%4]
		sum.Add(sum, new(big.Float).SetFloat64(float64(src[i])))
	}
	want, _ := sum.Float64()
	eachCores(func(c *Cores) {
		got, err := c.Sum(context.Background(), src)
		must(t, err)
		if got != want {
			t.Errorf("%d workers: sum %v, want %v", c.workers, got, want)
		}
		for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
			sum, err := c.Sum(context.Background(), []float32{1, float32(v), 2})
			must(t, err)
			if math.Float64bits(sum) != math.Float64bits(v) && !(math.IsNaN(sum) && math.IsNaN(v)) {
				t.Errorf("a sum with %v is %v", v, sum)
			}
		}
	})
}

// floatPlanes are kinds of samples that are difficult for sums of squares.
func floatPlanes() map[string]func(r *rand.Rand) float32 {
	return map[string]func(r *rand.Rand) float32{
		"noise":      func(r *rand.Rand) float32 { return float32(r.NormFloat64()) },
		"one value":  func(*rand.Rand) float32 { return 1000.1 },
		"zeros":      func(r *rand.Rand) float32 { return float32(math.Copysign(0, float64(r.IntN(2))-0.5)) },
		"far off":    func(r *rand.Rand) float32 { return 1e6 + r.Float32() },
		"magnitudes": func(r *rand.Rand) float32 { return float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-40)) },
		"faint":      func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32N(1 << 24)) },
		"huge":       func(r *rand.Rand) float32 { return (2*r.Float32() - 1) * math.MaxFloat32 },
	}
}

// Means and variances equal those of float64 in two passes, within the bounds of MeanVariance; the bits are
// the same with every number of workers, tiling and level of vectors; and no variance is negative.
func TestFloatMeanVariance(t *testing.T) {
	for name, next := range floatPlanes() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			w, h := side(t), side(t)
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			src, most := make([]float32, w*h), 0.0
			for i := range src {
				src[i] = next(r)
				most = max(most, math.Abs(float64(src[i])))
			}
			side := radius(t)
			mean, variance := slowVariance(src, w, h, side)
			var first [2][]float32
			eachCores(func(c *Cores) {
				got := [2][]float32{make([]float32, w*h), make([]float32, w*h)}
				must(t, MeanVariance(context.Background(), c, got[0], got[1], src, w, h, side))
				rounded(t, "mean", got[0], mean, math.Ldexp(most, -35))
				rounded(t, "variance", got[1], variance, math.Ldexp(most*most, -34))
				for i, d := range got[1] {
					if !(d >= 0) {
						t.Fatalf("pixel (%d, %d): variance %v", i%w, i/w, d)
					}
				}
				if first[0] == nil {
					first = got
				}
				alike(t, "mean", got[0], first[0])
				alike(t, "variance", got[1], first[1])
			})
		}))
	}
}

// rounded compares floats with the rounded values of numbers within some distance.
func rounded(t rapid.TB, what string, got []float32, want []float64, distance float64) {
	t.Helper()
	for i, v := range want {
		if g := got[i]; !(g >= float32(v-distance) && g <= float32(v+distance)) {
			t.Fatalf("%s: sample %d is %v, want %v ± %v", what, i, g, v, distance)
		}
	}
}

func side(t *rapid.T) int { return rapid.IntRange(1, 70).Draw(t, "side") }

func radius(t *rapid.T) int {
	return rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(0, 127)).Draw(t, "radius")
}

// slowVariance looks at every pixel of a window twice.
func slowVariance[T uint8 | uint16 | float32](src []T, w, h, r int) (mean, variance []float64) {
	for i := range src {
		x, y := i%w, i/w
		window := func(f func(v float64)) {
			for v := max(0, y-r); v <= min(h-1, y+r); v++ {
				for u := max(0, x-r); u <= min(w-1, x+r); u++ {
					f(float64(src[v*w+u]))
				}
			}
		}
		var s, n, d float64
		window(func(v float64) { s, n = s+v, n+1 })
		s /= n
		window(func(v float64) { d += (v - s) * (v - s) })
		mean, variance = append(mean, s), append(variance, d/n)
	}
	return mean, variance
}

// Means of whole numbers are the quotients of their sums.
func TestVarianceOfIntegers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkIntegers(t, math.MaxUint8, func(v float32) uint8 { return uint8(v) })
		checkIntegers(t, math.MaxUint16, func(v float32) uint16 { return uint16(v) })
	})
}

func checkIntegers[T uint8 | uint16](t *rapid.T, most float64, of func(float32) T) {
	w, h, r := side(t), side(t), radius(t)
	white := rapid.Bool().Draw(t, "white")
	src := make([]T, w*h)
	for i, v := range floats(t, w*h) {
		if src[i] = of((v + 50) * 257); white {
			src[i] = T(most)
		}
	}
	exact, variance := slowVariance(src, w, h, r)
	mean := make([]float32, w*h)
	for i, v := range exact {
		mean[i] = float32(v)
	}
	eachCores(func(c *Cores) {
		got, gotVariance := make([]float32, w*h), make([]float32, w*h)
		must(t, MeanVariance(context.Background(), c, got, gotVariance, src, w, h, r))
		alike(t, "mean", got, mean)
		rounded(t, "variance", gotVariance, variance, math.Ldexp(most*most, -34))
	})
}

func TestMeanVarianceRefuses(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	src, out := make([]float32, 90_000), make([]float32, 90_000)
	if err := MeanVariance(ctx, New(2), out, out, src, 300, 300, 3); err != context.Canceled {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		src[12_345] = float32(v)
		if err := MeanVariance(t.Context(), New(2), out, out, src, 300, 300, 3); err == nil {
			t.Errorf("%v is no error", v)
		}
	}
}

// BenchmarkTransforms prints the time of each transform; MB/s are millions of samples per second.
func BenchmarkTransforms(b *testing.B) {
	ctx, c := context.Background(), New(0)
	for _, size := range [][2]int{{1024, 1024}, {5300, 3533}} {
		w, h := size[0], size[1]
		src, dst, other := make([]float32, w*h), make([]float32, w*h), make([]float32, w*h)
		for i := range src {
			src[i] = float32(uint16(i*i>>3)) / 257
		}
		for name, run := range map[string]func() error{
			"Haar":         func() error { return c.Transform(ctx, dst, src, w, h, Haar) },
			"D4":           func() error { return c.Transform(ctx, dst, src, w, h, Daubechies4) },
			"InverseD4":    func() error { return c.Inverse(ctx, dst, src, w, h, Daubechies4) },
			"MeanVariance": func() error { return MeanVariance(ctx, c, dst, other, src, w, h, 12) },
			"Sum":          func() error { _, err := c.Sum(ctx, src); return err },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, w), func(b *testing.B) {
				b.SetBytes(int64(w * h))
				for b.Loop() {
					must(b, run())
				}
			})
		}
	}
}
