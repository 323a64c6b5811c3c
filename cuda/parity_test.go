//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/optest"
	"blik/processing"
)

var (
	integers = []processing.Kind{processing.U8, processing.U16}
	samples  = []processing.Kind{processing.U8, processing.U16, processing.F32}
)

func TestEveryOperationIsAnswered(t *testing.T) {
	dev := gpu(t)
	t.Run("all", func(t *testing.T) { optest.Answered(t, dev) })
	released(t, dev)
}

func kindOf(t *rapid.T, kinds []processing.Kind) processing.Kind {
	return rapid.SampledFrom(kinds).Draw(t, "kind")
}

func TestUploadHost(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		p.equal("host", p.drawn(t, kindOf(t, samples), "src"))
	})
}

func TestLuma(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		pic := &processing.Picture{Width: p.w, Height: p.h,
			Channels: rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels"),
			Transfer: rapid.SampledFrom([]processing.Transfer{processing.TransferSRGB, processing.TransferLinear,
				processing.TransferGamma22}).Draw(t, "transfer")}
		n := p.w * p.h * pic.Channels
		switch kindOf(t, samples) {
		case processing.U8:
			pic.U8 = noise[uint8](t, "src", n, math.MaxUint8)
		case processing.U16:
			pic.U16 = noise[uint16](t, "src", n, math.MaxUint16)
		default:
			pic.F32 = make([]float32, n)
			for i, v := range noise[uint16](t, "src", n, math.MaxUint16) {
				pic.F32[i] = float32(v)/60000 - 0.02
				if v%1000 == 7 {
					pic.F32[i] = float32(math.NaN())
				}
			}
		}
		tables := pic.Tables()
		y, v := p.soiled(processing.U16), p.soiled(processing.U8)
		op := processing.Luminance{Y: y.host, V: v.host, Picture: pic, Tables: tables}
		if rapid.Bool().Draw(t, "for the network") {
			r, g, b := p.soiled(processing.U8), p.soiled(processing.U8), p.soiled(processing.U8)
			op.Red, op.Green, op.Blue = r.host, g.host, b.host
			if rapid.Bool().Draw(t, "for it alone") {
				op.Y, op.V = nil, nil
			}
			p.do(op)
			p.equal("red", r)
			p.equal("green", g)
			p.equal("blue", b)
		} else {
			p.do(op)
		}
		p.equal("luminance", y)
		p.equal("level", v)
	})
}

func TestMorph(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		size := func(name string) int {
			return 2*rapid.OneOf(rapid.IntRange(0, 6), rapid.IntRange(0, 130), rapid.IntRange(0, 900)).Draw(t, name) + 1
		}
		e := processing.Element{Width: size("width"), Height: size("height")}
		op := processing.MorphOp(rapid.IntRange(0, 3).Draw(t, "op"))
		kind := kindOf(t, integers)
		s := p.drawn(t, kind, "src")
		d := s
		if !rapid.Bool().Draw(t, "in place") {
			d = p.soiled(kind)
		}
		p.do(processing.Morph{Dst: d.host, Src: s.host, Op: op, Element: e})
		p.equal(fmt.Sprintf("operation %d, element %+v", op, e), d)
	})
}

func TestBoxMean(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		kind := kindOf(t, integers)
		s, d, r := p.drawn(t, kind, "src"), p.soiled(kind), rapid.OneOf(rapid.IntRange(0, 9),
			rapid.IntRange(0, 900)).Draw(t, "r")
		p.do(processing.BoxMean{Dst: d.host, Src: s.host, Radius: r})
		p.equal(fmt.Sprintf("radius %d", r), d)
	})
}

func TestBackground(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		y, e, d := p.drawn(t, processing.U16, "y"), p.drawn(t, processing.U8, "exclude"), p.soiled(processing.U16)
		// Up to 48 and up to 127, other kernels are used than beyond.
		radii := rapid.SliceOfN(rapid.IntRange(0, rapid.SampledFrom([]int{7, 48, 127, 300, 2047}).Draw(t, "largest")),
			1, 9).Draw(t, "radii")
		slices.Sort(radii)
		p.do(processing.Background{Dst: d.host, Y: y.host, Exclude: e.host, Radii: radii})
		p.equal(fmt.Sprintf("radii %v", radii), d)
	})
}

func TestClassify(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		y, bg, m := p.drawn(t, processing.U16, "y"), p.drawn(t, processing.U16, "b"), p.drawn(t, processing.U16, "m")
		v, cls, seed := p.drawn(t, processing.U8, "v"), p.soiled(processing.U8), p.soiled(processing.U16)
		rule := processing.ContrastRule{Absolute: rapid.Uint16().Draw(t, "absolute"),
			Relative:     rapid.Uint32Range(0, 1<<18).Draw(t, "relative"),
			SeedAbsolute: rapid.Uint16().Draw(t, "seed"), SeedRelative: rapid.Uint32Range(0,
				1<<18).Draw(t, "seed relative"), SeedLevel: rapid.Uint8().Draw(t, "level")}
		p.do(processing.Contrast{
			Class: cls.host, Seed: seed.host, Y: y.host, Background: bg.host, V: v.host, Rule: rule,
		})
		p.equal("class", cls)
		p.equal("seed", seed)
		share := processing.CoreRule{Core: rapid.Uint32Range(0, 1<<17).Draw(t, "core"),
			Grow: rapid.Uint32Range(0, 1<<17).Draw(t, "grow")}
		p.do(processing.Cores{Class: cls.host, Y: y.host, Background: bg.host, Peak: m.host, Rule: share})
		p.equal("cores", cls)
		over, level := rapid.Uint16().Draw(t, "over"), rapid.Uint8().Draw(t, "excess level")
		p.do(processing.DifferenceThreshold{
			Dst: cls.host, Y: y.host, Background: bg.host, V: v.host, Over: over, Level: level,
		})
		p.equal("excess", cls)
	})
}

func TestGaussian(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s, d := p.drawn(t, processing.U8, "src"), p.soiled(processing.U8)
		sigma := rapid.OneOf(rapid.Float64Range(0, 6), rapid.Float64Range(0, 100)).Draw(t, "sigma")
		p.do(processing.Gaussian{Dst: d.host, Src: s.host, Sigma: sigma})
		p.equal(fmt.Sprintf("sigma %v", sigma), d)
	})
}

func TestStarletBand(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s, d := p.drawn(t, processing.U8, "src"), p.soiled(processing.U16)
		p.do(processing.StarletBand{Dst: d.host, Src: s.host})
		p.equal("starlet band", d)
	})
}

func TestNoiseTiles(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s, tile := p.drawn(t, processing.U8, "src"), rapid.OneOf(rapid.IntRange(2, 70),
			rapid.IntRange(2, 1500)).Draw(t, "tile")
		want, err := processing.Evaluate(background, p.host, processing.NoiseTiles{Src: s.host, Side: tile})
		p.must(err)
		got, err := processing.Evaluate(background, p.dev, processing.NoiseTiles{Src: s.dev, Side: tile})
		p.must(err)
		if !slices.Equal(got, want) {
			t.Fatalf("tiles of %d: %v on the GPU, %v on the CPU", tile, got, want)
		}
	})
}

func TestHistogram(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s, e := p.drawn(t, processing.U8, "src"), planes{}
		if rapid.Bool().Draw(t, "with exclusion") {
			e = p.drawn(t, processing.U8, "exclude")
		}
		want, err := processing.Evaluate(background, p.host, processing.Histogram{Src: s.host, Exclude: e.host})
		p.must(err)
		got, err := processing.Evaluate(background, p.dev, processing.Histogram{Src: s.dev, Exclude: e.dev})
		p.must(err)
		if !slices.Equal(got, want) {
			t.Fatal("histograms differ")
		}
	})
}

// Operations with a thread or a block for each row or column, on pictures of the greatest length: grids have limits,
// too.
func TestLongestGrids(t *testing.T) {
	dev := gpu(t)
	sizes := [][2]int{{1, MaxSide}, {MaxSide, 1}}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, size := range sizes {
		p := newPair(t, dev, size[0], size[1])
		u8, d8 := p.load(processing.U8, random(processing.U8, MaxSide)), p.soiled(processing.U8)
		for _, r := range []int{0, 1} {
			p.do(processing.BoxMean{Dst: d8.host, Src: u8.host, Radius: r})
			p.equal(fmt.Sprintf("mean over radius %d", r), d8)
		}
		p.do(processing.Gaussian{Dst: d8.host, Src: u8.host, Sigma: 1})
		p.equal("Gaussian of U8", d8)
		want, err := processing.Evaluate(background, p.host, processing.NoiseTiles{Src: u8.host, Side: 2})
		p.must(err)
		got, err := processing.Evaluate(background, p.dev, processing.NoiseTiles{Src: u8.dev, Side: 2})
		p.must(err)
		if !slices.Equal(got, want) {
			t.Errorf("%d × %d pixels: another noise", p.w, p.h)
		}
		p.close()
	}
}
