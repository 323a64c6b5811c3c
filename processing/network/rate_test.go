//go:build goexperiment.simd && amd64

package network

import (
	"math"
	"math/rand/v2"
	"runtime"
	"simd/archsimd"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"blik/internal/simd"
)

// spin512 multiplies and adds pairs in registers, in twelve independent chains: 12·64 products per iteration.
// Each chain starts elsewhere in memory, because the compiler would merge equal ones.
//
//go:noinline
func spin512(p unsafe.Pointer, turns int) {
	start := func(i int) archsimd.Uint8x64 { return bytes512(unsafe.Add(p, 64*i)) }
	a, b, c, d, e, f := start(0), start(1), start(2), start(3), start(4), start(5)
	g, h, i, j, k, l := start(6), start(7), start(8), start(9), start(10), start(11)
	w := weights512(p)
	for range turns {
		a = a.DotProductPairsSaturated(w).AsUint8x64()
		b = b.DotProductPairsSaturated(w).AsUint8x64()
		c = c.DotProductPairsSaturated(w).AsUint8x64()
		d = d.DotProductPairsSaturated(w).AsUint8x64()
		e = e.DotProductPairsSaturated(w).AsUint8x64()
		f = f.DotProductPairsSaturated(w).AsUint8x64()
		g = g.DotProductPairsSaturated(w).AsUint8x64()
		h = h.DotProductPairsSaturated(w).AsUint8x64()
		i = i.DotProductPairsSaturated(w).AsUint8x64()
		j = j.DotProductPairsSaturated(w).AsUint8x64()
		k = k.DotProductPairsSaturated(w).AsUint8x64()
		l = l.DotProductPairsSaturated(w).AsUint8x64()
	}
	v := a.Add(b).Add(c).Add(d).Add(e).Add(f).Add(g).Add(h).Add(i).Add(j).Add(k).Add(l)
	v.Store((*[64]uint8)(p))
	archsimd.ClearAVXUpperBits()
}

// spin256 is spin512 with vectors of half the width.
//
//go:noinline
func spin256(p unsafe.Pointer, turns int) {
	start := func(i int) archsimd.Uint8x32 { return bytes256(unsafe.Add(p, 32*i)) }
	a, b, c, d, e, f := start(0), start(1), start(2), start(3), start(4), start(5)
	g, h, i, j, k, l := start(6), start(7), start(8), start(9), start(10), start(11)
	w := weights256(p)
	for range turns {
		a = a.DotProductPairsSaturated(w).AsUint8x32()
		b = b.DotProductPairsSaturated(w).AsUint8x32()
		c = c.DotProductPairsSaturated(w).AsUint8x32()
		d = d.DotProductPairsSaturated(w).AsUint8x32()
		e = e.DotProductPairsSaturated(w).AsUint8x32()
		f = f.DotProductPairsSaturated(w).AsUint8x32()
		g = g.DotProductPairsSaturated(w).AsUint8x32()
		h = h.DotProductPairsSaturated(w).AsUint8x32()
		i = i.DotProductPairsSaturated(w).AsUint8x32()
		j = j.DotProductPairsSaturated(w).AsUint8x32()
		k = k.DotProductPairsSaturated(w).AsUint8x32()
		l = l.DotProductPairsSaturated(w).AsUint8x32()
	}
	v := a.Add(b).Add(c).Add(d).Add(e).Add(f).Add(g).Add(h).Add(i).Add(j).Add(k).Add(l)
	v.Store((*[32]uint8)(p))
	archsimd.ClearAVXUpperBits()
}

// spinDots returns a function that multiplies and adds bytes in 32 bits (vpdpbusd), from the L1 cache; 12 vectors a turn.
func spinDots(convolve func(j *job), blocks, bytes, vectors int) func(unsafe.Pointer, int) {
	const taps = 256
	j := &job{memory: aligned(2 * bytes), pack: &pack{weights: make([]int32, 4*taps)}, taps: make([]int32, taps),
		dst: bytes, blocks: blocks, top: Top}
	return func(_ unsafe.Pointer, turns int) {
		for range 12 * turns / vectors / taps {
			convolve(j)
		}
	}
}

// peak returns the highest rate of multiply-adds of one core with the instructions of a level's kernels.
func peak(level simd.Level) float64 {
	const turns = 1 << 17
	memory := unsafe.Pointer(unsafe.SliceData(aligned(12 * 64)))
	rate := func(spin func(unsafe.Pointer, int), width int) float64 {
		start := time.Now()
		spin(memory, turns)
		return 12 * float64(width) * turns / time.Since(start).Seconds()
	}
	switch level {
	case simd.AVX2, simd.AVX512:
		return rate(spin256, 32)
	case simd.AVXVNNI:
		return max(rate(spin256, 32), rate(spinDots(convolveDots(dots256), 1, 96, 12), 32))
	}
	return max(rate(spin512, 64), rate(spinDots(convolveDots(dots512), 3, 384, 24), 64))
}

// BenchmarkRate measures one goroutine on a tile and prints its rate as a share of the peak of one core, with
// vpmaddubsw or vpdpbusd only. The fastest of many short measurements counts, because other programs slow down both.
func BenchmarkRate(b *testing.B) {
	m := contextModel(rand.New(rand.NewPCG(1, 2)), 16, 32, 48, 64, 64)
	const w, h = 1772, 608
	red, green, blue := noisePicture(rand.New(rand.NewPCG(1, 2)), w, h)
	pic := Picture{red, green, blue, w, h}
	dst, kinds := make([]uint8, w*h), make([]uint8, w*h)
	for _, level := range simd.Levels()[1:] {
		b.Run(level.String(), func(b *testing.B) {
			e := NewEngine(m, level)
			var scratch Scratch
			most, best := 0.0, 0.0
			for b.Loop() {
				most = max(most, peak(level))
				// The time for 16 rows of pixels is short enough to be undisturbed now and then. In the middle of a
				// picture all rows take the same time; the first ones also need rows above.
				s := &scratch.strip
				s.begin(e, pic, Rect{0, 192, w, h - 192}, &scratch, func() bool { return false })
				for y := 192; y < h-192; y += 16 {
					start := time.Now()
					for row := y; row < y+16; row++ {
						s.ensure(len(e.nodes)-1, row, 0)
						e.kernels.outputs(dst[row*w:][:w], kinds[row*w:][:w], s.cells(s.row(len(e.nodes)-1, row), w))
					}
					if y > 192 {
						best = max(best, m.MultiplyAdds()*w*16/time.Since(start).Seconds())
					}
				}
			}
			b.ReportMetric(best/1e9, "GMAC/s")
			b.ReportMetric(most/1e9, "peak-GMAC/s")
			b.ReportMetric(100*best/most, "%")
			b.ReportMetric(m.MultiplyAdds()*5300*3533/2/best, "s-18.7MP-two-cores")
		})
	}
}

// BenchmarkPicture measures the network on 5300 × 3533 pixels with all cores, relative to their simultaneous peak with
// vpmaddubsw or vpdpbusd only. The shortest time and the highest rate count.
func BenchmarkPicture(b *testing.B) {
	m := contextModel(rand.New(rand.NewPCG(1, 2)), 16, 32, 48, 64, 64)
	const w, h = 5300, 3533
	red, green, blue := noisePicture(rand.New(rand.NewPCG(1, 2)), w, h)
	pic := Picture{red, green, blue, w, h}
	dst, kinds := make([]uint8, w*h), make([]uint8, w*h)
	workers := runtime.GOMAXPROCS(0)
	// together calls f on all cores at once.
	together := func(f func(i int)) {
		var wait sync.WaitGroup
		for i := range workers {
			wait.Go(func() { f(i) })
		}
		wait.Wait()
	}
	for _, level := range simd.Levels()[1:] {
		b.Run(level.String(), func(b *testing.B) {
			e := NewEngine(m, level)
			scratch := make([]Scratch, workers)
			rates := make([]float64, workers)
			most, least := 0.0, time.Duration(math.MaxInt64)
			for b.Loop() {
				together(func(i int) { rates[i] = peak(level) })
				sum := 0.0
				for _, r := range rates {
					sum += r
				}
				most = max(most, sum)
				const tw, th = 2656, 3536
				start := time.Now()
				var next atomic.Int64
				together(func(i int) {
					for {
						n := int(next.Add(1)) - 1
						x, y := n%2*tw, n/2*th
						if y >= h {
							return
						}
						r := Rect{x, y, min(w, x+tw), min(h, y+th)}
						e.Run(dst, kinds, pic, r, 0, &scratch[i], func() bool { return false }, all)
					}
				})
				least = min(least, time.Since(start))
			}
			rate := m.MultiplyAdds() * w * h / least.Seconds()
			b.ReportMetric(float64(least.Milliseconds()), "ms-least")
			b.ReportMetric(rate/1e9, "GMAC/s")
			b.ReportMetric(most/1e9, "peak-GMAC/s")
			b.ReportMetric(100*rate/most, "%")
		})
	}
}

func bytes256(p unsafe.Pointer) archsimd.Uint8x32 { return archsimd.LoadUint8x32((*[32]uint8)(p)) }

func weights256(p unsafe.Pointer) archsimd.Int8x32 { return archsimd.LoadInt8x32((*[32]int8)(p)) }

func bytes512(p unsafe.Pointer) archsimd.Uint8x64 { return archsimd.LoadUint8x64((*[64]uint8)(p)) }

func weights512(p unsafe.Pointer) archsimd.Int8x64 { return archsimd.LoadInt8x64((*[64]int8)(p)) }
