//go:build cuda && linux && amd64

package cuda

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
	"blik/processing/args/argstest"
	"blik/processing/cpu"
)

var (
	integers = []processing.Kind{processing.U8, processing.U16}
	samples  = []processing.Kind{processing.U8, processing.U16, processing.F32}
	anyKind  = []processing.Kind{processing.U8, processing.U16, processing.U32, processing.F32}
)

func TestRefusals(t *testing.T) {
	dev, host := gpu(t), cpu.New()
	defer host.Close()
	argstest.Refusals(t, dev, host)
	if n, bytes := dev.Live(); n != 0 || bytes != 0 {
		t.Errorf("%d planes, %d bytes are left on the device", n, bytes)
	}
}

func kindOf(t *rapid.T, kinds []processing.Kind) processing.Kind {
	return rapid.SampledFrom(kinds).Draw(t, "kind")
}

func TestUploadHostGather(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		kind := kindOf(t, anyKind)
		s := p.drawn(t, kind, "src")
		p.equal("host", s)
		if kind == processing.F32 {
			return
		}
		index := rapid.SliceOf(rapid.Uint32Range(0, uint32(p.w*p.h-1))).Draw(t, "index")
		got, want := make([]uint32, len(index)), make([]uint32, len(index))
		p.both(p.host.Gather(background, want, s.host, index), p.dev.Gather(background, got, s.dev, index))
		same(t, "gather", 1, got, want)
	})
}

func TestLuma(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		pic := &processing.Picture{Width: p.w, Height: p.h, Channels: rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels"),
			Transfer: rapid.SampledFrom([]processing.Transfer{processing.TransferSRGB, processing.TransferLinear, processing.TransferGamma22}).Draw(t, "transfer")}
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
		p.both(p.host.Luma(background, y.host, v.host, pic, tables), p.dev.Luma(background, y.dev, v.dev, pic, tables))
		p.equal("luminance", y)
		p.equal("level", v)
	})
}

func TestMorph(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		size := func(name string) int {
			return 2*rapid.OneOf(rapid.IntRange(0, 6), rapid.IntRange(0, 130), rapid.IntRange(0, 900)).Draw(t, name) + 1
		}
		e := processing.Element{Direction: processing.Direction(rapid.IntRange(0, 4).Draw(t, "direction")), Size: size("size"), Size2: size("size2")}
		op := processing.MorphOp(rapid.IntRange(0, 4).Draw(t, "op"))
		kind := kindOf(t, samples)
		s := p.drawn(t, kind, "src")
		d := s
		if !rapid.Bool().Draw(t, "in place") {
			d = p.soiled(kind)
		}
		p.both(p.host.Morph(background, d.host, s.host, op, e), p.dev.Morph(background, d.dev, s.dev, op, e))
		p.equal(fmt.Sprintf("operation %d, element %+v", op, e), d)
	})
}

func TestMorphOfUndefined(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		values := make([]float32, p.w*p.h)
		for i, v := range noise[uint8](t, "src", len(values), 255) {
			values[i] = []float32{float32(v), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -1, 7, 8, 9}[v%8]
		}
		s, d := p.load(processing.F32, processing.Samples{F32: values}), p.soiled(processing.F32)
		op, e := processing.MorphOp(rapid.IntRange(0, 1).Draw(t, "op")), processing.Square(rapid.IntRange(0, 9).Draw(t, "r"))
		p.both(p.host.Morph(background, d.host, s.host, op, e), p.dev.Morph(background, d.dev, s.dev, op, e))
		p.equal("with NaN", d)
	})
}

func TestBoxMean(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		kind := kindOf(t, samples)
		s, d, r := p.drawn(t, kind, "src"), p.soiled(kind), rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(0, 900)).Draw(t, "r")
		p.both(p.host.BoxMean(background, d.host, s.host, r), p.dev.BoxMean(background, d.dev, s.dev, r))
		p.equal(fmt.Sprintf("radius %d", r), d)
	})
}

func TestMeanVariance(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s, r := p.drawn(t, kindOf(t, integers), "src"), radius(t, 127)
		m, v := p.soiled(processing.F32), p.soiled(processing.F32)
		p.both(p.host.MeanVariance(background, m.host, v.host, s.host, r), p.dev.MeanVariance(background, m.dev, v.dev, s.dev, r))
		p.equal(fmt.Sprintf("mean, radius %d", r), m)
		p.equal(fmt.Sprintf("variance, radius %d", r), v)
	})
}

func TestGuardRing(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s, z := p.drawn(t, kindOf(t, integers), "src"), p.soiled(processing.F32)
		core := rapid.IntRange(0, 20).Draw(t, "core")
		guard := rapid.IntRange(core, 60).Draw(t, "guard")
		outer := rapid.IntRange(guard+1, 127).Draw(t, "outer")
		noise := rapid.SampledFrom([]float64{0, 1.3, 250}).Draw(t, "noise")
		p.both(p.host.GuardRing(background, z.host, s.host, core, guard, outer, noise), p.dev.GuardRing(background, z.dev, s.dev, core, guard, outer, noise))
		p.equal(fmt.Sprintf("radii %d, %d, %d", core, guard, outer), z)
	})
}

func TestBackground(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		y, e, d := p.drawn(t, processing.U16, "y"), p.drawn(t, processing.U8, "exclude"), p.soiled(processing.U16)
		// Up to 48 and 127 other kernels do it than beyond.
		radii := rapid.SliceOfN(rapid.IntRange(0, rapid.SampledFrom([]int{7, 48, 127, 300, 2047}).Draw(t, "largest")), 1, 9).Draw(t, "radii")
		slices.Sort(radii)
		p.both(p.host.Background(background, d.host, y.host, e.host, radii), p.dev.Background(background, d.dev, y.dev, e.dev, radii))
		p.equal(fmt.Sprintf("radii %v", radii), d)
	})
}

func TestDeviation(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		y, e, d, r := p.drawn(t, processing.U16, "y"), p.drawn(t, processing.U8, "exclude"), p.soiled(processing.U16), radius(t, 127)
		p.both(p.host.Deviation(background, d.host, y.host, e.host, r), p.dev.Deviation(background, d.dev, y.dev, e.dev, r))
		p.equal(fmt.Sprintf("radius %d", r), d)
	})
}

func TestBoxCount(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		c, d, r, bits := p.drawn(t, processing.U8, "class"), p.soiled(processing.U16), radius(t, 127), rapid.Uint8().Draw(t, "bits")
		p.both(p.host.BoxCount(background, d.host, c.host, bits, r), p.dev.BoxCount(background, d.dev, c.dev, bits, r))
		p.equal(fmt.Sprintf("radius %d", r), d)
	})
}

func TestClassify(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		y, bg, m := p.drawn(t, processing.U16, "y"), p.drawn(t, processing.U16, "b"), p.drawn(t, processing.U16, "m")
		v, cls, seed := p.drawn(t, processing.U8, "v"), p.soiled(processing.U8), p.soiled(processing.U16)
		rule := processing.ContrastRule{Absolute: rapid.Uint16().Draw(t, "absolute"), Relative: rapid.Uint32Range(0, 1<<18).Draw(t, "relative"),
			SeedAbsolute: rapid.Uint16().Draw(t, "seed"), SeedRelative: rapid.Uint32Range(0, 1<<18).Draw(t, "seed relative"), SeedLevel: rapid.Uint8().Draw(t, "level")}
		p.both(p.host.Contrast(background, cls.host, seed.host, y.host, bg.host, v.host, rule), p.dev.Contrast(background, cls.dev, seed.dev, y.dev, bg.dev, v.dev, rule))
		p.equal("class", cls)
		p.equal("seed", seed)
		share := processing.CoreRule{Core: rapid.Uint32Range(0, 1<<17).Draw(t, "core"), Grow: rapid.Uint32Range(0, 1<<17).Draw(t, "grow")}
		p.both(p.host.Cores(background, cls.host, y.host, bg.host, m.host, share), p.dev.Cores(background, cls.dev, y.dev, bg.dev, m.dev, share))
		p.equal("cores", cls)
		over, level := rapid.Uint16().Draw(t, "over"), rapid.Uint8().Draw(t, "excess level")
		p.both(p.host.Excess(background, cls.host, y.host, bg.host, v.host, over, level), p.dev.Excess(background, cls.dev, y.dev, bg.dev, v.dev, over, level))
		p.equal("excess", cls)
		src := y
		if rapid.Bool().Draw(t, "bytes") {
			src = v
		}
		at := rapid.Uint32Range(0, 70000).Draw(t, "threshold")
		p.both(p.host.Threshold(background, cls.host, src.host, at), p.dev.Threshold(background, cls.dev, src.dev, at))
		p.equal("threshold", cls)
	})
}

func TestGaussian(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		kind := kindOf(t, samples)
		s, d := p.drawn(t, kind, "src"), p.soiled(kind)
		sigma := rapid.OneOf(rapid.Float64Range(0, 6), rapid.Float64Range(0, 100)).Draw(t, "sigma")
		p.both(p.host.Gaussian(background, d.host, s.host, sigma), p.dev.Gaussian(background, d.dev, s.dev, sigma))
		p.equal(fmt.Sprintf("sigma %v", sigma), d)
	})
}

func TestWavelet(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s, d, back := p.drawn(t, kindOf(t, samples), "src"), p.soiled(processing.F32), p.soiled(processing.F32)
		wave := rapid.SampledFrom([]processing.Wavelet{processing.Haar, processing.Daubechies4}).Draw(t, "wave")
		p.both(p.host.Wavelet(background, d.host, s.host, wave), p.dev.Wavelet(background, d.dev, s.dev, wave))
		p.equal(fmt.Sprintf("wavelet %d", wave), d)
		p.both(p.host.InverseWavelet(background, back.host, d.host, wave), p.dev.InverseWavelet(background, back.dev, d.dev, wave))
		p.equal(fmt.Sprintf("inverse of wavelet %d", wave), back)
	})
}

func TestStarlet(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s, smooth := p.drawn(t, kindOf(t, samples), "src"), p.soiled(processing.F32)
		var host, dev []processing.Plane
		var bands []planes
		for range rapid.IntRange(0, 6).Draw(t, "bands") {
			b := p.soiled(processing.F32)
			bands, host, dev = append(bands, b), append(host, b.host), append(dev, b.dev)
		}
		p.both(p.host.Starlet(background, host, smooth.host, s.host), p.dev.Starlet(background, dev, smooth.dev, s.dev))
		for i, b := range bands {
			p.equal(fmt.Sprintf("band %d", i+1), b)
		}
		p.equal("smooth", smooth)
	})
}

func TestStarletBand(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s, d, level := p.drawn(t, processing.U8, "src"), p.soiled(processing.U16), rapid.IntRange(1, 3).Draw(t, "level")
		p.both(p.host.StarletBand(background, d.host, s.host, level), p.dev.StarletBand(background, d.dev, s.dev, level))
		p.equal(fmt.Sprintf("level %d", level), d)
	})
}

func TestNoiseTiles(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s, tile := p.drawn(t, kindOf(t, integers), "src"), rapid.OneOf(rapid.IntRange(2, 70), rapid.IntRange(2, 1500)).Draw(t, "tile")
		want, err := p.host.NoiseTiles(background, s.host, tile)
		p.must(err)
		got, err := p.dev.NoiseTiles(background, s.dev, tile)
		p.must(err)
		if !slices.Equal(got, want) {
			t.Fatalf("tiles of %d: %v on the GPU, %v on the CPU", tile, got, want)
		}
	})
}

func TestHistogram(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s, e := p.drawn(t, kindOf(t, integers), "src"), planes{}
		if rapid.Bool().Draw(t, "with exclusion") {
			e = p.drawn(t, processing.U8, "exclude")
		}
		want, err := p.host.Histogram(background, s.host, e.host)
		p.must(err)
		got, err := p.dev.Histogram(background, s.dev, e.dev)
		p.must(err)
		if !slices.Equal(got, want) {
			t.Fatal("histograms differ")
		}
	})
}

func TestMoments(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s := p.drawn(t, kindOf(t, anyKind), "src")
		want, err := p.host.Moments(background, s.host)
		p.must(err)
		got, err := p.dev.Moments(background, s.dev)
		p.must(err)
		if got != want {
			t.Fatalf("%+v on the GPU, %+v on the CPU", got, want)
		}
	})
}

// Operations with a thread or a block for each row or column, on pictures as long as may be: grids have limits, too.
func TestLongestGrids(t *testing.T) {
	dev := gpu(t)
	sizes := [][2]int{{1, maxSide}, {maxSide, 1}}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, size := range sizes {
		p := newPair(t, dev, size[0], size[1])
		u8, f32 := p.load(processing.U8, random(processing.U8, maxSide)), p.load(processing.F32, random(processing.F32, maxSide))
		d8, dF, eF := p.soiled(processing.U8), p.soiled(processing.F32), p.soiled(processing.F32)
		for _, r := range []int{0, 1} {
			p.both(p.host.BoxMean(background, dF.host, f32.host, r), p.dev.BoxMean(background, dF.dev, f32.dev, r))
			p.equal(fmt.Sprintf("mean over radius %d", r), dF)
		}
		p.both(p.host.Gaussian(background, d8.host, u8.host, 1), p.dev.Gaussian(background, d8.dev, u8.dev, 1))
		p.equal("Gaussian of U8", d8)
		p.both(p.host.Gaussian(background, dF.host, f32.host, 1), p.dev.Gaussian(background, dF.dev, f32.dev, 1))
		p.equal("Gaussian of F32", dF)
		p.both(p.host.Wavelet(background, dF.host, u8.host, processing.Haar), p.dev.Wavelet(background, dF.dev, u8.dev, processing.Haar))
		p.equal("wavelet", dF)
		p.both(p.host.InverseWavelet(background, eF.host, dF.host, processing.Haar), p.dev.InverseWavelet(background, eF.dev, dF.dev, processing.Haar))
		p.equal("inverse wavelet", eF)
		p.both(p.host.Starlet(background, []processing.Plane{dF.host}, eF.host, f32.host), p.dev.Starlet(background, []processing.Plane{dF.dev}, eF.dev, f32.dev))
		p.equal("starlet", dF)
		want, err := p.host.NoiseTiles(background, u8.host, 2)
		p.must(err)
		got, err := p.dev.NoiseTiles(background, u8.dev, 2)
		p.must(err)
		if !slices.Equal(got, want) {
			t.Errorf("%d × %d pixels: another noise", p.w, p.h)
		}
		p.close()
	}
}
