//go:build goexperiment.simd && amd64

package network

import (
	"math/rand/v2"
	"simd/archsimd"
	"testing"
	"time"
	"unsafe"

	"blik/internal/simd"
)

// spin512 multiplies and adds pairs in registers, twelve chains that do not wait for each other: 12·64 products a turn.
//
//go:noinline
func spin512(p unsafe.Pointer, turns int) {
	a, b, c, d := bytes512(p), bytes512(p), bytes512(p), bytes512(p)
	e, f, g, h := a, b, c, d
	i, j, k, l := a, b, c, d
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

// spin256 is spin512 with half the width.
//
//go:noinline
func spin256(p unsafe.Pointer, turns int) {
	a, b, c, d := bytes256(p), bytes256(p), bytes256(p), bytes256(p)
	e, f, g, h := a, b, c, d
	i, j, k, l := a, b, c, d
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

// BenchmarkRate is one goroutine on a tile, beside the most that one core multiplies by vpmaddubsw alone: the share of
// it is printed. Of many short measurements the fastest counts, as other programs take time from both.
func BenchmarkRate(b *testing.B) {
	m := defaultModel(b)
	const w, h = 1772, 608
	red, green, blue := noisePicture(rand.New(rand.NewPCG(1, 2)), w, h)
	pic := Picture{red, green, blue, w, h}
	dst := make([]uint8, w*h)
	for _, level := range levels()[1:] {
		b.Run(level.String(), func(b *testing.B) {
			e := NewEngine(m, level)
			spin, width := spin256, 32
			if level == simd.AVX512 {
				spin, width = spin512, 64
			}
			var scratch Scratch
			most, best := 0.0, 0.0
			memory := aligned(64)
			for b.Loop() {
				const turns = 1 << 17
				start := time.Now()
				spin(unsafe.Pointer(unsafe.SliceData(memory)), turns)
				most = max(most, 12*float64(width)*turns/time.Since(start).Seconds())
				// The time of 16 rows of pixels is short enough to be undisturbed now and then. In the middle of a picture
				// each of them takes as much, but the first, which need rows above.
				s := &scratch.strip
				s.begin(e, pic, Rect{0, 200, w, h - 200}, &scratch, func() bool { return false })
				for y := 100; y < h/2-100; y += 8 {
					start = time.Now()
					for row := y; row < y+8; row++ {
						s.ensure(len(e.nodes)-1, row, 0)
						s.emit(dst, row, Rect{0, 200, w, h - 200})
					}
					if y > 100 {
						best = max(best, m.MultiplyAdds()*w*16/time.Since(start).Seconds())
					}
				}
			}
			b.ReportMetric(best/1e9, "GMAC/s")
			b.ReportMetric(most/1e9, "vpmaddubsw-GMAC/s")
			b.ReportMetric(100*best/most, "%")
		})
	}
}
