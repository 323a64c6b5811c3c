package cpu

import (
	"context"
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"blik/internal/simd"
	"blik/internal/test/optest"
	"blik/processing"
	"blik/processing/cpu/kernel"
)

// workerCounts are the numbers of workers with which every operation must give the same result.
var workerCounts = []int{1, 2, 3, 7}

// size draws the sides of a picture, small ones and lines included.
func size(t *rapid.T) (w, h int) {
	side := rapid.OneOf(rapid.IntRange(1, 70), rapid.IntRange(1, 4))
	return side.Draw(t, "w"), side.Draw(t, "h")
}

// noise draws n samples up to most: random ones, with runs of both extremes, or all equal.
func noise[T kernel.Sample](t *rapid.T, n int, most int) []T {
	kind := rapid.SampledFrom([]string{"random", "runs", "white", "black", "sparse"}).Draw(t, "content")
	seed := rapid.Uint64().Draw(t, "seed")
	s := make([]T, n)
	next := func() uint64 {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return seed * 2685821657736338717 >> 16
	}
	seed |= 1
	run, value := uint64(0), uint64(0)
	for i := range s {
		switch kind {
		case "random":
			value = next() % uint64(most+1)
		case "runs":
			if run == 0 {
				run, value = next()%9+1, []uint64{0, uint64(most), next() % uint64(most+1)}[next()%3]
			}
			run--
		case "white":
			value = uint64(most)
		case "black":
			value = 0
		case "sparse":
			value = 0
			if next()%16 == 0 {
				value = uint64(most) - next()%uint64(most/2)
			}
		}
		s[i] = T(value)
	}
	return s
}

// floats draws samples with fractions and both signs.
func floats(t *rapid.T, n int) []float32 {
	s := make([]float32, n)
	for i, v := range noise[uint16](t, n, math.MaxUint16) {
		s[i] = float32(v)/257 - 50
	}
	return s
}

// up allocates a plane of the samples' kind with the samples in it.
func up[T kernel.Sample](t rapid.TB, b *Backend, w, h int, s []T) processing.Plane {
	t.Helper()
	var host processing.Samples
	kind := processing.U8
	switch v := any(s).(type) {
	case []uint8:
		host.U8 = v
	case []uint16:
		kind, host.U16 = processing.U16, v
	case []float32:
		kind, host.F32 = processing.F32, v
	}
	p := empty(t, b, kind, w, h)
	if err := b.Upload(context.Background(), p, host); err != nil {
		t.Fatal(err)
	}
	return p
}

// empty allocates a plane and fills it with arbitrary values, because its content is undefined.
func empty(t rapid.TB, b *Backend, kind processing.Kind, w, h int) processing.Plane {
	t.Helper()
	p, err := b.Alloc(kind, w, h)
	if err != nil {
		t.Fatal(err)
	}
	q := p.(*plane)
	kernel.Fill(q.data.U8, 0x5a)
	kernel.Fill(q.data.U16, 0x5a5a)
	kernel.Fill(q.data.F32, -12345)
	return p
}

// down returns a copy of a plane's samples.
func down[T kernel.Sample](t rapid.TB, p processing.Plane) []T {
	t.Helper()
	if _, err := p.(*plane).backend.Host(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	switch p := p.(*plane); p.kind {
	case processing.U8:
		return slices.Clone(any(p.data.U8).([]T))
	case processing.U16:
		return slices.Clone(any(p.data.U16).([]T))
	default:
		return slices.Clone(any(p.data.F32).([]T))
	}
}

// each runs a test with every number of workers and checks that no plane remains. All but the first cut the picture
// into pieces so small that every border between them occurs.
func each(t *rapid.T, run func(b *Backend)) {
	for i, n := range workerCounts {
		b := New(Workers(n), Kernels(simd.Levels()[i%len(simd.Levels())]))
		if i > 0 {
			b.tiling = tiling{
				span: 61, tile: 7 + 6*i, rows: 1 + i, strip: 5 + 4*i, whole: 10 * i, ring: 1, narrow: 1, wide: 9 * i,
			}
		}
		run(b)
		if planes, bytes := b.Live(); planes != 0 || bytes != 0 {
			t.Fatalf("%d workers: %d planes of %d bytes not released", n, planes, bytes)
		}
	}
}

// release releases planes.
func release(planes ...processing.Plane) {
	for _, p := range planes {
		p.Release()
	}
}

func wantEqual[T kernel.Sample](t rapid.TB, what string, w int, got, want []T) {
	t.Helper()
	optest.Same(t, what, w, got, want)
}

// must fails the test on an error.
func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// clipped calls f with the index of every pixel of the window of radius r about (x, y) inside the picture.
func clipped(w, h, x, y, r int, f func(i int)) {
	for v := max(0, y-r); v <= min(h-1, y+r); v++ {
		for u := max(0, x-r); u <= min(w-1, x+r); u++ {
			f(v*w + u)
		}
	}
}

// perPixel returns a plane computed by a function of the place.
func perPixel[T any](w, h int, f func(x, y int) T) []T {
	s := make([]T, w*h)
	for y := range h {
		for x := range w {
			s[y*w+x] = f(x, y)
		}
	}
	return s
}

// radius draws a window's radius, some of them larger than the picture.
func radius(t *rapid.T, most int) int {
	return rapid.OneOf(rapid.IntRange(0, 6), rapid.IntRange(0, most)).Draw(t, "r")
}

func workersLabel(b *Backend) string { return fmt.Sprintf("%d workers", b.workers) }
