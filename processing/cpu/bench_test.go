package cpu

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// scene holds the planes of a detection under way: textured paint, and glints on a few pixels in ten thousand.
type scene struct {
	w, h                             int
	pic                              *processing.Picture
	tables                           *processing.LuminanceTables
	y, v, bg, mask, cls, seed, out16 processing.Plane
	out8                             processing.Plane
}

func newScene(b rapid.TB, be *Backend, w, h int) *scene {
	s := &scene{w: w, h: h, tables: processing.NewLuminanceTables(8, processing.TransferSRGB)}
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
		&s.seed: processing.U16, &s.out16: processing.U16, &s.out8: processing.U8,
	} {
		*p = empty(b, be, kind, w, h)
	}
	ctx := context.Background()
	must(b, be.Do(ctx, processing.Luminance{Y: s.y, V: s.v, Picture: s.pic, Tables: s.tables}))
	// Pixels as bright as a lamp count as glare, whatever the background is.
	must(b, be.Upload(ctx, s.bg, processing.Samples{U16: make([]uint16, w*h)}))
	must(b, be.Do(ctx, processing.DifferenceThreshold{Dst: s.mask, Y: s.y, Background: s.bg, V: s.v, Level: 240}))
	must(b, be.Do(ctx, processing.Morph{
		Dst: s.mask, Src: s.mask, Op: processing.Dilate, Element: processing.Square(3),
	}))
	must(b, be.Do(ctx, processing.Background{Dst: s.bg, Y: s.y, Exclude: s.mask, Radii: detectionRadii()}))
	must(b, be.Do(ctx, processing.Contrast{
		Class: s.cls, Seed: s.seed, Y: s.y, Background: s.bg, V: s.v, Rule: detectionRule(),
	}))
	return s
}

func detectionRadii() []int { return []int{5, 9, 17, 33} }

func detectionRule() processing.ContrastRule {
	return processing.ContrastRule{Absolute: 5243, Relative: 16384, SeedAbsolute: 13107, SeedLevel: 150}
}

// operation is an operation with a name.
type operation struct {
	name string
	op   processing.Op
}

// operations are named as the benchmark prints them.
func operations(s *scene) []operation {
	morph := func(name string, d, p *processing.Plane, m processing.MorphOp, e processing.Element) operation {
		return operation{name, processing.Morph{Dst: *d, Src: *p, Op: m, Element: e}}
	}
	return []operation{
		{"Luminance", processing.Luminance{Y: s.y, V: s.v, Picture: s.pic, Tables: s.tables}},
		morph("Open/U16/25x25", &s.out16, &s.y, processing.Open, processing.Square(12)),
		morph("Dilate/U16/15x15", &s.out16, &s.seed, processing.Dilate, processing.Square(7)),
		morph("Dilate/U16/3x3", &s.out16, &s.y, processing.Dilate, processing.Square(1)),
		morph("Dilate/U16/101x101", &s.out16, &s.y, processing.Dilate, processing.Square(50)),
		morph("Dilate/U8/3x3", &s.out8, &s.mask, processing.Dilate, processing.Square(1)),
		morph("Dilate/U8/25x25", &s.out8, &s.v, processing.Dilate, processing.Square(12)),
		morph("Open/U8/horizontal25", &s.out8, &s.v, processing.Open, processing.Element{Width: 25, Height: 1}),
		morph("Open/U8/vertical25", &s.out8, &s.v, processing.Open, processing.Element{Width: 1, Height: 25}),
		{"BoxMean/U16/12", processing.BoxMean{Dst: s.out16, Src: s.y, Radius: 12}},
		{"BoxMean/U8/12", processing.BoxMean{Dst: s.out8, Src: s.v, Radius: 12}},
		{"Background", processing.Background{Dst: s.out16, Y: s.y, Exclude: s.mask, Radii: detectionRadii()}},
		{"Contrast", processing.Contrast{
			Class: s.cls, Seed: s.seed, Y: s.y, Background: s.bg, V: s.v, Rule: detectionRule(),
		}},
		{"Cores", processing.Cores{
			Class: s.cls, Y: s.y, Background: s.bg, Peak: s.seed, Rule: processing.CoreRule{Core: 29491, Grow: 3277},
		}},
		{"DifferenceThreshold", processing.DifferenceThreshold{
			Dst: s.out8, Y: s.y, Background: s.bg, V: s.v, Over: 16384, Level: 150,
		}},
		{"Histogram/U8", processing.Histogram{Src: s.v, Exclude: s.mask, Out: new([]uint64)}},
		{"Gaussian/U8/1.6", processing.Gaussian{Dst: s.out8, Src: s.v, Sigma: 1.6}},
		{"NoiseTiles/64", processing.NoiseTiles{Src: s.v, Side: 64, Out: new([]float64)}},
		{"StarletBand", processing.StarletBand{Dst: s.out16, Src: s.v}},
	}
}

// BenchmarkOperations prints the time of every operation; MB/s are millions of pixels per second.
func BenchmarkOperations(b *testing.B) {
	for _, size := range [][2]int{{1024, 1024}, {5300, 3533}} {
		be := New()
		s := newScene(b, be, size[0], size[1])
		for _, op := range operations(s) {
			b.Run(fmt.Sprintf("%s/%dx%d", op.name, size[0], size[1]), func(b *testing.B) {
				b.SetBytes(int64(size[0] * size[1]))
				for b.Loop() {
					must(b, be.Do(context.Background(), op.op))
				}
			})
		}
	}
}

// BenchmarkDetection runs the operations of adaptive detection, in sizes that show whether the time is linear in
// pixels.
func BenchmarkDetection(b *testing.B) {
	for _, size := range [][2]int{{1224, 816}, {5300, 3533}, {12248, 8165}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			be := New()
			s := newScene(b, be, size[0], size[1])
			ctx := context.Background()
			b.SetBytes(int64(size[0] * size[1]))
			for b.Loop() {
				must(b, be.Do(ctx, processing.Luminance{Y: s.y, V: s.v, Picture: s.pic, Tables: s.tables}))
				must(b, be.Do(ctx, processing.Morph{
					Dst: s.out16, Src: s.y, Op: processing.Open, Element: processing.Square(12),
				}))
				must(b, be.Do(ctx, processing.BoxMean{Dst: s.bg, Src: s.out16, Radius: 12}))
				must(b, be.Do(ctx, processing.DifferenceThreshold{
					Dst: s.cls, Y: s.y, Background: s.bg, V: s.v, Over: 16384, Level: 150,
				}))
				must(b, be.Do(ctx, processing.Morph{
					Dst: s.mask, Src: s.cls, Op: processing.Dilate, Element: processing.Square(3),
				}))
				for range 4 {
					must(b, be.Do(ctx, processing.Background{
						Dst: s.bg, Y: s.y, Exclude: s.mask, Radii: detectionRadii(),
					}))
					must(b, be.Do(ctx, processing.Contrast{
						Class: s.cls, Seed: s.seed, Y: s.y, Background: s.bg, V: s.v, Rule: detectionRule(),
					}))
					must(b, be.Do(ctx, processing.Morph{
						Dst: s.out16, Src: s.seed, Op: processing.Dilate, Element: processing.Square(7),
					}))
					must(b, be.Do(ctx, processing.Cores{
						Class: s.cls, Y: s.y, Background: s.bg, Peak: s.out16,
						Rule: processing.CoreRule{Core: 29491, Grow: 3277},
					}))
					must(b, be.Do(ctx, processing.DifferenceThreshold{
						Dst: s.mask, Y: s.y, Background: s.bg, V: s.cls, Level: processing.ClassCore,
					}))
					must(b, be.Do(ctx, processing.Morph{
						Dst: s.mask, Src: s.mask, Op: processing.Dilate, Element: processing.Square(1),
					}))
				}
				must(b, be.Do(ctx, processing.StarletBand{Dst: s.out16, Src: s.v}))
				_, err := processing.Evaluate(ctx, be, processing.Histogram{Src: s.v, Exclude: s.mask})
				must(b, err)
			}
		})
	}
}
