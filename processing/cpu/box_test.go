package cpu

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
	"blik/processing/cpu/kernel"
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
	t.Run("F32", rapid.MakeCheck(func(t *rapid.T) {
		w, h := size(t)
		src, r := floats(t, w*h), radius(t, 90)
		want := perPixel(w, h, func(x, y int) float64 {
			var s, n float64
			clipped(w, h, x, y, r, func(i int) { s, n = s+float64(src[i]), n+1 })
			return s / n
		})
		var first []float32
		each(t, func(b *Backend) {
			s := up(t, b, w, h, src)
			d := empty(t, b, s.Kind(), w, h)
			must(t, b.Do(context.Background(), processing.BoxMean{Dst: d, Src: s, Radius: r}))
			got := down[float32](t, d)
			wantNear(t, workersLabel(b), w, got, want, 1e-4)
			if first == nil {
				first = got
			}
			wantEqual(t, workersLabel(b)+" against 1", w, got, first)
			release(d, s)
		})
	}))
}

// An infinite sample must not affect windows that do not hold it.
func TestBoxMeanInfinityStaysInItsWindows(t *testing.T) {
	const w, h, r = 40, 30, 3
	src := make([]float32, w*h)
	src[12*w+20] = float32(math.Inf(1))
	src[5*w+5] = 1e30
	b := New(Workers(2))
	s, d := up(t, b, w, h, src), empty(t, b, processing.F32, w, h)
	must(t, b.Do(context.Background(), processing.BoxMean{Dst: d, Src: s, Radius: r}))
	for i, v := range down[float32](t, d) {
		x, y := i%w, i/w
		near := func(u, v int) bool { return max(x-u, u-x, y-v, v-y) <= r }
		if !near(20, 12) && !near(5, 5) && v != 0 {
			t.Fatalf("pixel (%d, %d) is %v, want 0", x, y, v)
		}
	}
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

// Running sums, if none needs rounding, give the same bits as the recursion, and are not used if one does.
func TestBoxMeanExact(t *testing.T) {
	kinds := map[string]func(r *rand.Rand) float32{
		"bytes":     func(r *rand.Rand) float32 { return float32(r.IntN(256)) },
		"fractions": func(r *rand.Rand) float32 { return float32(r.IntN(65536)) / 257 },
		"signs":     func(r *rand.Rand) float32 { return float32(r.IntN(2001)-1000) / 8 },
		"zeros":     func(r *rand.Rand) float32 { return float32(math.Copysign(0, float64(r.IntN(2))-0.5)) },
		"faint":     func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32N(1 << 24)) },
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, level := range levels() {
		for name, next := range kinds {
			for range 6 {
				w, h, radius := 1+r.IntN(150), 1+r.IntN(90), r.IntN(26)
				src := make([]float32, w*h)
				for i := range src {
					src[i] = next(r)
				}
				b := New(Workers(1+r.IntN(3)), Kernels(level))
				b.tiling.tile, b.tiling.rows, b.tiling.whole = 16+r.IntN(64), 8, r.IntN(150)
				s, d, e := up(t, b, w, h, src), empty(t, b, processing.F32, w, h), empty(t, b, processing.F32, w, h)
				both := func(what string) (exact bool) {
					must(t, b.Upload(context.Background(), s, processing.Samples{F32: src}))
					exact, err := boxMeanExact(context.Background(), b, d.(*plane), s.(*plane), radius)
					must(t, err)
					must(t, boxMeanFloat(context.Background(), b, e.(*plane), s.(*plane), radius))
					if exact {
						wantEqual(t, what, w, kernel.BitsOf(down[float32](t, d)), kernel.BitsOf(down[float32](t, e)))
					}
					return exact
				}
				if !both(level.String() + " " + name) {
					t.Fatalf("%v, %s: some sum is said to be rounded", level, name)
				}
				for _, odd := range []float32{1e-30, 1e30, float32(math.Inf(1)), float32(math.NaN())} {
					src[r.IntN(len(src))] = odd
					exact := both(level.String() + " " + name + " and others")
					if exact && !(odd <= math.MaxFloat32) {
						t.Fatalf("%v, %s: with %v no sum is said to be rounded", level, name, odd)
					}
				}
			}
		}
	}
}
