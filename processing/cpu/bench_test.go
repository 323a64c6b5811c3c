package cpu

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// scene holds the planes that detection has at hand in the middle of its work: textured paint, and glints on a few
// pixels in ten thousand.
type scene struct {
	w, h                             int
	pic                              *processing.Picture
	tables                           *processing.LumaTables
	y, v, bg, mask, cls, seed, out16 processing.Plane
	out8, float, float2, float3      processing.Plane
}

func newScene(b rapid.TB, be *Backend, w, h int) *scene {
	s := &scene{w: w, h: h, tables: processing.NewLumaTables(8, processing.TransferSRGB)}
	pix := make([]uint8, 3*w*h)
	state := uint32(1)
	for i := range w * h {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		x, y := i%w, i/w
		base := 90 + 50*math.Sin(float64(x)/37)*math.Cos(float64(y)/53)
		grain := float64(state>>24)/8 - 16
		for c := range 3 {
			pix[3*i+c] = uint8(base + grain + 10*float64(c))
		}
		if x*2654435761>>7%97 == 3 && y*40503>>3%89 == 5 {
			for dy := range min(4, y+1) {
				for dx := range min(5, x+1) {
					for c := range 3 {
						pix[3*((y-dy)*w+x-dx)+c] = 250
					}
				}
			}
		}
	}
	s.pic = &processing.Picture{Width: w, Height: h, Channels: 3, U8: pix}
	for p, kind := range map[*processing.Plane]processing.Kind{
		&s.y: processing.U16, &s.v: processing.U8, &s.bg: processing.U16, &s.mask: processing.U8, &s.cls: processing.U8,
		&s.seed: processing.U16, &s.out16: processing.U16, &s.out8: processing.U8, &s.float: processing.F32,
		&s.float2: processing.F32, &s.float3: processing.F32,
	} {
		*p = empty(b, be, kind, w, h)
	}
	ctx := context.Background()
	must(b, be.Luma(ctx, s.y, s.v, s.pic, s.tables))
	must(b, be.Threshold(ctx, s.mask, s.v, 240))
	must(b, be.Morph(ctx, s.mask, s.mask, processing.Dilate, processing.Square(3)))
	must(b, be.Background(ctx, s.bg, s.y, s.mask, detectionRadii()))
	must(b, be.Contrast(ctx, s.cls, s.seed, s.y, s.bg, s.v, detectionRule()))
	return s
}

func detectionRadii() []int { return []int{5, 9, 17, 33} }

func detectionRule() processing.ContrastRule {
	return processing.ContrastRule{Absolute: 5243, Relative: 16384, SeedAbsolute: 13107, SeedLevel: 150}
}

// operations are named as the benchmark prints them.
func operations(be *Backend, s *scene) []struct {
	name string
	run  func(ctx context.Context) error
} {
	type op = struct {
		name string
		run  func(ctx context.Context) error
	}
	morph := func(name string, d, p *processing.Plane, m processing.MorphOp, e processing.Element) op {
		return op{name, func(ctx context.Context) error { return be.Morph(ctx, *d, *p, m, e) }}
	}
	line := func(dir processing.Direction) processing.Element {
		return processing.Element{Direction: dir, Size: 25}
	}
	return []op{
		{"Luma", func(ctx context.Context) error { return be.Luma(ctx, s.y, s.v, s.pic, s.tables) }},
		morph("Open/U16/25x25", &s.out16, &s.y, processing.Open, processing.Square(12)),
		morph("Dilate/U16/15x15", &s.out16, &s.seed, processing.Dilate, processing.Square(7)),
		morph("Dilate/U16/3x3", &s.out16, &s.y, processing.Dilate, processing.Square(1)),
		morph("Dilate/U16/101x101", &s.out16, &s.y, processing.Dilate, processing.Square(50)),
		morph("Dilate/U8/3x3", &s.out8, &s.mask, processing.Dilate, processing.Square(1)),
		morph("Dilate/U8/25x25", &s.out8, &s.v, processing.Dilate, processing.Square(12)),
		morph("Open/U8/horizontal25", &s.out8, &s.v, processing.Open, line(processing.Horizontal)),
		morph("Open/U8/vertical25", &s.out8, &s.v, processing.Open, line(processing.Vertical)),
		morph("Open/U8/rising25", &s.out8, &s.v, processing.Open, line(processing.Rising)),
		morph("Open/U8/falling25", &s.out8, &s.v, processing.Open, line(processing.Falling)),
		{"BoxMean/U16/12", func(ctx context.Context) error { return be.BoxMean(ctx, s.out16, s.y, 12) }},
		{"BoxMean/U8/12", func(ctx context.Context) error { return be.BoxMean(ctx, s.out8, s.v, 12) }},
		{"BoxMean/F32/12", func(ctx context.Context) error { return be.BoxMean(ctx, s.float2, s.float, 12) }},
		{"Background", func(ctx context.Context) error {
			return be.Background(ctx, s.out16, s.y, s.mask, detectionRadii())
		}},
		{"Deviation/9", func(ctx context.Context) error { return be.Deviation(ctx, s.out16, s.y, s.mask, 9) }},
		{"BoxCount/32", func(ctx context.Context) error { return be.BoxCount(ctx, s.out16, s.cls, 1, 32) }},
		{"Contrast", func(ctx context.Context) error {
			return be.Contrast(ctx, s.cls, s.seed, s.y, s.bg, s.v, detectionRule())
		}},
		{"Cores", func(ctx context.Context) error {
			return be.Cores(ctx, s.cls, s.y, s.bg, s.seed, processing.CoreRule{Core: 29491, Grow: 3277})
		}},
		{"Threshold", func(ctx context.Context) error { return be.Threshold(ctx, s.out8, s.v, 128) }},
		{"Excess", func(ctx context.Context) error { return be.Excess(ctx, s.out8, s.y, s.bg, s.v, 16384, 150) }},
		{"Histogram/U8", func(ctx context.Context) error { _, err := be.Histogram(ctx, s.v, s.mask); return err }},
		{"Histogram/U16", func(ctx context.Context) error { _, err := be.Histogram(ctx, s.y, s.mask); return err }},
		{"MeanVariance/U16/12", func(ctx context.Context) error { return be.MeanVariance(ctx, s.float, s.float2, s.y, 12) }},
		{"GuardRing/U8", func(ctx context.Context) error { return be.GuardRing(ctx, s.float, s.v, 1, 6, 15, 1) }},
		{"Gaussian/U8/1.6", func(ctx context.Context) error { return be.Gaussian(ctx, s.out8, s.v, 1.6) }},
		{"Wavelet/Haar", func(ctx context.Context) error { return be.Wavelet(ctx, s.float, s.v, processing.Haar) }},
		{"Wavelet/D4", func(ctx context.Context) error { return be.Wavelet(ctx, s.float, s.v, processing.Daubechies4) }},
		{"InverseWavelet/D4", func(ctx context.Context) error {
			return be.InverseWavelet(ctx, s.float2, s.float, processing.Daubechies4)
		}},
		{"Starlet/2", func(ctx context.Context) error {
			return be.Starlet(ctx, []processing.Plane{s.float, s.float2}, s.float3, s.v)
		}},
		{"NoiseTiles/64", func(ctx context.Context) error { _, err := be.NoiseTiles(ctx, s.v, 64); return err }},
		{"Moments/U16", func(ctx context.Context) error { _, err := be.Moments(ctx, s.y); return err }},
		{"Moments/F32", func(ctx context.Context) error { _, err := be.Moments(ctx, s.float); return err }},
		{"Upload", func(ctx context.Context) error {
			return be.Upload(ctx, s.out8, processing.Samples{U8: s.pic.U8[:s.w*s.h]})
		}},
		{"StarletBand/2", func(ctx context.Context) error { return be.StarletBand(ctx, s.out16, s.v, 2) }},
	}
}

// BenchmarkOperations prints the time of every operation; MB/s are millions of pixels a second.
func BenchmarkOperations(b *testing.B) {
	for _, size := range [][2]int{{1024, 1024}, {5300, 3533}} {
		be := New()
		s := newScene(b, be, size[0], size[1])
		for _, op := range operations(be, s) {
			b.Run(fmt.Sprintf("%s/%dx%d", op.name, size[0], size[1]), func(b *testing.B) {
				b.SetBytes(int64(size[0] * size[1]))
				for b.Loop() {
					must(b, op.run(context.Background()))
				}
			})
		}
	}
}

// BenchmarkDetection runs what adaptive detection asks of a backend, in sizes that show whether the time is linear in
// pixels.
func BenchmarkDetection(b *testing.B) {
	for _, size := range [][2]int{{1224, 816}, {5300, 3533}, {12248, 8165}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			be := New()
			s := newScene(b, be, size[0], size[1])
			ctx := context.Background()
			b.SetBytes(int64(size[0] * size[1]))
			for b.Loop() {
				must(b, be.Luma(ctx, s.y, s.v, s.pic, s.tables))
				must(b, be.Morph(ctx, s.out16, s.y, processing.Open, processing.Square(12)))
				must(b, be.BoxMean(ctx, s.bg, s.out16, 12))
				must(b, be.Excess(ctx, s.cls, s.y, s.bg, s.v, 16384, 150))
				must(b, be.Morph(ctx, s.mask, s.cls, processing.Dilate, processing.Square(3)))
				for range 4 {
					must(b, be.Background(ctx, s.bg, s.y, s.mask, detectionRadii()))
					must(b, be.Contrast(ctx, s.cls, s.seed, s.y, s.bg, s.v, detectionRule()))
					must(b, be.Morph(ctx, s.out16, s.seed, processing.Dilate, processing.Square(7)))
					must(b, be.Cores(ctx, s.cls, s.y, s.bg, s.out16, processing.CoreRule{Core: 29491, Grow: 3277}))
					must(b, be.Threshold(ctx, s.mask, s.cls, uint32(processing.ClassCore)))
					must(b, be.Morph(ctx, s.mask, s.mask, processing.Dilate, processing.Square(1)))
				}
				must(b, be.Deviation(ctx, s.out16, s.y, s.mask, 9))
				must(b, be.BoxCount(ctx, s.out16, s.cls, processing.ClassWide, 32))
				must(b, be.StarletBand(ctx, s.out16, s.v, 2))
				_, err := be.Histogram(ctx, s.y, s.mask)
				must(b, err)
			}
		})
	}
}
