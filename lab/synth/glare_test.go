package synth

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/testpic"
	"blik/processing"
)

// pattern returns a picture with a smooth coloured pattern from dark to bright.
func pattern(w, h, channels, depth int, t processing.Transfer) *processing.Picture {
	p, err := newPicture(w, h, channels, depth, t)
	if err != nil {
		panic(err)
	}
	for y := range h {
		for x := range w {
			for c := range channels {
				v := 0.35 + 0.3*math.Sin(float64(x)/17+float64(c))*math.Cos(float64(y)/23) +
					0.05*math.Sin(float64(x*y)/5)
				i := (y*w+x)*channels + c
				switch depth {
				case 8:
					p.U8[i] = uint8(v*255 + 0.5)
				case 16:
					p.U16[i] = uint16(v*65535 + 0.5)
				default:
					p.F32[i] = float32(v)
				}
			}
		}
	}
	return p
}

func preset(t *testing.T, name string) GlareOptions {
	t.Helper()
	o, err := Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func render(t *testing.T, p *processing.Picture, o GlareOptions) (*processing.Picture, *processing.Mask, Stats) {
	t.Helper()
	return valid(t)(RenderGlare(context.Background(), p, o))
}

// valid returns a function that passes on a rendering, if it has succeeded and its picture is valid.
func valid(t *testing.T) func(*processing.Picture, *processing.Mask, Stats, error) (
	*processing.Picture, *processing.Mask, Stats,
) {
	return func(p *processing.Picture, m *processing.Mask, s Stats, err error) (
		*processing.Picture, *processing.Mask, Stats,
	) {
		t.Helper()
		if err == nil {
			err = p.Validate()
		}
		if err != nil {
			t.Fatal(err)
		}
		return p, m, s
	}
}

// The truth follows from its definition, applied to the noiseless rendering with and without glare, also if the whole
// picture is blurred.
func TestTruthIsTheDefinition(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	for _, channels := range []int{1, 3} {
		for _, name := range Presets() {
			for _, blur := range []float64{0, 1.2} {
				p := pattern(151, 123, channels, 32, processing.TransferLinear)
				o := preset(t, name)
				o.Seed, o.Count, o.NoiseGain, o.NoiseRead, o.PictureBlur = 7, 20, 0, 0, blur
				glare, mask, s := render(t, p, o)
				o.Count, o.Density = 0, 0
				clean, none, empty := render(t, p, o)
				if none.Area() != 0 || empty.Glints != 0 {
					t.Fatalf("%s: %d pixels of glare without glints", name, none.Area())
				}
				for i, got := range mask.Pix {
					y := func(p *processing.Picture) float64 {
						if channels == 1 {
							return float64(p.F32[i])
						}
						return 0.2126*float64(p.F32[3*i]) + 0.7152*float64(p.F32[3*i+1]) + 0.0722*float64(p.F32[3*i+2])
					}
					rise := y(glare) - y(clean)
					near := math.Min(math.Abs(rise-0.08), math.Abs(rise-0.25*y(clean)))
					want := rise > 0.08 && rise > 0.25*y(clean)
					if want != (got == 255) && near > 1e-6 || got != 0 && got != 255 {
						t.Fatalf("%s, %d channels, blur %g: pixel %d rose from %g by %g, marked %d", name, channels,
							blur, i, y(clean), rise, got)
					}
				}
				if s.Area != mask.Area() || s.Area == 0 {
					t.Errorf("%s: area %d, mask %d", name, s.Area, mask.Area())
				}
			}
		}
	}
}

func TestPixelsThatNoGlintTouchesAreCopied(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	for _, transfer := range []processing.Transfer{processing.TransferSRGB, processing.TransferLinear,
		processing.TransferGamma18, processing.TransferGamma22} {
		for _, depth := range []int{8, 16, 32} {
			p := pattern(400, 300, 3, depth, transfer)
			o := preset(t, "default")
			o.Seed, o.Count, o.NoiseGain, o.NoiseRead = 3, 12, 0, 0
			g, m, _ := render(t, p, o)
			same := 0
			for i := range p.Width * p.Height * 3 {
				var a, b float64
				switch depth {
				case 8:
					a, b = float64(p.U8[i]), float64(g.U8[i])
				case 16:
					a, b = float64(p.U16[i]), float64(g.U16[i])
				default:
					a, b = float64(p.F32[i]), float64(g.F32[i])
				}
				if a == b {
					same++
				} else if b < a-1e-6 {
					t.Fatalf("transfer %d, %d bits: light was added and sample %d fell from %g to %g", transfer, depth,
						i, a, b)
				}
			}
			// Twelve glints reach at most a few thousand of the 120,000 pixels.
			if share := float64(same) / float64(p.Width*p.Height*3); share < 0.9 || share == 1 {
				t.Errorf("transfer %d, %d bits: %.3f of the samples unchanged, %d pixels marked", transfer, depth,
					share, m.Area())
			}
		}
	}
}

// Every sample survives conversion to linear light and back.
func TestCurveRoundTrip(t *testing.T) {
	t.Parallel()
	for _, transfer := range []processing.Transfer{processing.TransferSRGB, processing.TransferLinear,
		processing.TransferGamma18, processing.TransferGamma22} {
		for _, depth := range []int{8, 16} {
			c := newCurve(depth, transfer)
			top := float32(len(c.decode) - 1)
			for i, v := range c.decode {
				if got := int(c.encoded(v)*top + 0.5); got != i {
					t.Fatalf("transfer %d, %d bits: sample %d comes back as %d", transfer, depth, i, got)
				}
			}
		}
	}
}

func TestSameBytesForAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	p := pattern(150, 301, 3, 16, processing.TransferSRGB)
	o := preset(t, "mixed")
	o.Seed, o.Count, o.PictureBlur, o.Workers = 11, 50, 0.7, 1
	g1, m1, s1 := render(t, p, o)
	for _, workers := range []int{2, 5} {
		o.Workers = workers
		g2, m2, s2 := render(t, p, o)
		if !slices.Equal(g1.U16, g2.U16) || !bytes.Equal(m1.Pix, m2.Pix) || s1 != s2 {
			t.Errorf("%d workers give another result than one", workers)
		}
	}
	o.Seed++
	if g3, _, _ := render(t, p, o); slices.Equal(g1.U16, g3.U16) {
		t.Error("another seed gives the same picture")
	}
}

func TestSixteenBitsAreUsed(t *testing.T) {
	t.Parallel()
	p := pattern(64, 64, 3, 8, processing.TransferSRGB)
	wide, err := newPicture(64, 64, 3, 16, p.Transfer)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range p.U8 {
		wide.U16[i] = uint16(v) * 257
	}
	o := preset(t, "default")
	o.Count = 5
	g, _, _ := render(t, wide, o)
	fine := 0
	for _, v := range g.U16 {
		if v%257 != 0 {
			fine++
		}
	}
	if fine < len(g.U16)/2 {
		t.Errorf("only %d of %d samples lie between the levels of 8 bits", fine, len(g.U16))
	}
}

func TestSmallPictures(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{1, 1}, {1, 97}, {131, 1}, {2, 3}, {65, 64}, {63, 129}} {
		for _, name := range Presets() {
			for _, channels := range []int{1, 3} {
				p := pattern(size[0], size[1], channels, 8, processing.TransferSRGB)
				o := preset(t, name)
				o.Count, o.PictureBlur, o.JPEGQuality = 9, 2.5, 90
				g, m, s := render(t, p, o)
				if g.Width != size[0] || g.Height != size[1] || len(m.Pix) != size[0]*size[1] || s.Glints != 9 {
					t.Errorf("%s at %v: %d × %d, %d mask bytes, %d glints", name, size, g.Width, g.Height, len(m.Pix),
						s.Glints)
				}
			}
		}
	}
}

func TestPresetsKeepTheirWord(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	p := pattern(700, 600, 3, 8, processing.TransferSRGB)
	stats := map[string]Stats{}
	for _, name := range Presets() {
		o := preset(t, name)
		o.Seed = 5
		_, _, stats[name] = render(t, p, o)
	}
	d := stats["default"]
	if d.AreaP10 < 2 || d.AreaP10 > 8 || d.AreaP50 < 7 || d.AreaP50 > 25 || d.AreaP90 < 35 || d.AreaP90 > 250 ||
		d.AreaMax > 2500 {
		t.Errorf("default: areas %+v", d)
	}
	if d.Clipped < 0.2 || d.Clipped > 0.5 {
		t.Errorf("default: %.2f of the truth clipped", d.Clipped)
	}
	if u := stats["unclipped"]; u.Clipped > 0.1 {
		t.Errorf("unclipped: %.2f of the truth clipped", u.Clipped)
	}
	if l := stats["large"]; l.AreaMax < 2000 {
		t.Errorf("large: largest area %d", l.AreaMax)
	}
	if few, dense := stats["few"].Glints, stats["dense"].Glints; few*9 > d.Glints+9 || dense < 5*d.Glints {
		t.Errorf("few %d, default %d, dense %d glints", few, d.Glints, dense)
	}
	o := preset(t, "default")
	o.Count = 17
	if _, _, s := render(t, p, o); s.Glints != 17 {
		t.Errorf("count 17 gave %d glints", s.Glints)
	}
}

func TestGlareHasTheColourOfTheLamp(t *testing.T) {
	t.Parallel()
	p, err := newPicture(200, 200, 3, 32, processing.TransferLinear)
	if err != nil {
		t.Fatal(err)
	}
	o := preset(t, "unclipped")
	o.Count, o.NoiseGain, o.NoiseRead = 5, 0, 0
	o.Peak = Range{0.2, 0.3}
	o.Lights = [][3]float64{{1, 0.5, 0.25}}
	g, m, _ := render(t, p, o)
	for i, v := range m.Pix {
		if r := float64(g.F32[3*i]); v != 0 && (math.Abs(float64(g.F32[3*i+1])-r/2) > 1e-5 ||
			math.Abs(float64(g.F32[3*i+2])-r/4) > 1e-5) {
			t.Fatalf("pixel %d is %v", i, g.F32[3*i:3*i+3])
		}
	}
	warm, cool := Lamp(2700, 5500), Lamp(9000, 5500)
	if !(warm[0] == 1 && warm[1] < 1 && warm[2] < warm[1]) || !(cool[2] == 1 && cool[0] < cool[1]) {
		t.Errorf("warm %v, cool %v", warm, cool)
	}
	for _, v := range Lamp(5500, 5500) {
		if math.Abs(v-1) > 1e-12 {
			t.Errorf("the lamp that the picture is balanced for is not white: %v", v)
		}
	}
}

// A glint at twice the scale has the same shape and four times the area.
func TestScale(t *testing.T) {
	t.Parallel()
	o := preset(t, "default")
	o.Shapes = Shapes{Ellipse: 1}
	o.Placement = Placement{Scatter: 1}
	o.Radius = Range{2, 2}
	o.Count, o.Seed = 20, 2
	dark, err := newPicture(1200, 1200, 3, 8, processing.TransferSRGB)
	if err != nil {
		t.Fatal(err)
	}
	_, m1, _ := render(t, dark, o)
	o.Scale = 1.2
	_, m2, _ := render(t, dark, o)
	if ratio := float64(m2.Area()) / float64(m1.Area()); math.Abs(ratio-1.44) > 0.1 {
		t.Errorf("at scale 1.2 the area grew %.2f times, not 1.44", ratio)
	}
}

func TestNoiseHasTheVarianceAsked(t *testing.T) {
	t.Parallel()
	p, err := newPicture(300, 300, 1, 32, processing.TransferLinear)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.F32 {
		p.F32[i] = 0.4
	}
	g, _, _ := render(t, p, GlareOptions{NoiseGain: 2e-4, NoiseRead: 4e-4})
	var sum, sum2 float64
	for _, v := range g.F32 {
		d := float64(v) - 0.4
		sum += d
		sum2 += d * d
	}
	n := float64(len(g.F32))
	want := 2e-4*0.4 + 4e-4*4e-4
	if variance := sum2 / n; math.Abs(variance/want-1) > 0.03 || math.Abs(sum/n) > 4*math.Sqrt(want/n) {
		t.Errorf("mean %g, variance %g, want 0 and %g", sum/n, variance, want)
	}
}

func TestHeadroomPinsClippedGlare(t *testing.T) {
	t.Parallel()
	p := pattern(200, 200, 1, 8, processing.TransferSRGB)
	o := preset(t, "default")
	o.Count, o.Peak, o.Edge = 10, Range{50, 50}, Range{6, 6}
	whites := func(o GlareOptions) int {
		g, _, _ := render(t, p, o)
		n := 0
		for _, v := range g.U8 {
			if v == 255 {
				n++
			}
		}
		return n
	}
	low := whites(o)
	o.Headroom = 4
	if high := whites(o); float64(high) < 1.2*float64(low) {
		t.Errorf("%d white pixels with headroom, %d without", high, low)
	}
}

func TestCancelledRendering(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := pattern(300, 300, 3, 8, processing.TransferSRGB)
	if _, _, _, err := RenderGlare(ctx, p, preset(t, "default")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, _, err := Vary(ctx, p, processing.NewMask(300, 300), Variation{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestWrongGlareOptions(t *testing.T) {
	t.Parallel()
	p := pattern(8, 8, 3, 16, processing.TransferSRGB)
	for name, change := range map[string]func(*GlareOptions){
		"negative count":    func(o *GlareOptions) { o.Count = -1 },
		"negative density":  func(o *GlareOptions) { o.Density = -1 },
		"endless count":     func(o *GlareOptions) { o.Count = 1 << 40 },
		"endless density":   func(o *GlareOptions) { o.Density = 1e9 },
		"tiny scale":        func(o *GlareOptions) { o.Scale = 1e-6 },
		"NaN":               func(o *GlareOptions) { o.Density = math.NaN() },
		"radius of zero":    func(o *GlareOptions) { o.Radius.Min = 0 },
		"radius reversed":   func(o *GlareOptions) { o.Radius = Range{5, 4} },
		"peak of zero":      func(o *GlareOptions) { o.Peak.Min = 0 },
		"edge reversed":     func(o *GlareOptions) { o.Edge = Range{4, 2} },
		"halo above one":    func(o *GlareOptions) { o.Halo.Max = 2 },
		"blur too wide":     func(o *GlareOptions) { o.GlareBlur.Max = 100 },
		"picture blur":      func(o *GlareOptions) { o.PictureBlur = -1 },
		"no placement":      func(o *GlareOptions) { o.Placement = Placement{} },
		"no shape":          func(o *GlareOptions) { o.Shapes = Shapes{} },
		"negative light":    func(o *GlareOptions) { o.Lights = [][3]float64{{1, -1, 1}} },
		"negative noise":    func(o *GlareOptions) { o.NoiseGain = -1 },
		"negative scale":    func(o *GlareOptions) { o.Scale = -1 },
		"JPEG quality":      func(o *GlareOptions) { o.JPEGQuality = 101 },
		"JPEG of 16 bits":   func(o *GlareOptions) { o.JPEGQuality = 90 },
		"infinite headroom": func(o *GlareOptions) { o.Headroom = math.Inf(1) },
	} {
		o := preset(t, "default")
		change(&o)
		if _, _, _, err := RenderGlare(context.Background(), p, o); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := Preset("blinding"); err == nil {
		t.Error("an unknown preset is accepted")
	}
	if _, _, _, err := RenderGlare(context.Background(), &processing.Picture{}, GlareOptions{}); err == nil {
		t.Error("an empty picture is accepted")
	}
}

// componentAreas compared with a flood fill.
func TestComponentAreas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 25).Draw(t, "w"), rapid.IntRange(1, 25).Draw(t, "h")
		m := processing.NewMask(w, h)
		limit := rapid.Uint8().Draw(t, "density")
		for i := range m.Pix {
			if rapid.Uint8().Draw(t, "pixel") < limit {
				m.Pix[i] = 255
			}
		}
		got := componentAreas(m)
		var want []int
		seen := make([]bool, w*h)
		var fill func(x, y int) int
		fill = func(x, y int) int {
			if x < 0 || y < 0 || x >= w || y >= h || seen[y*w+x] || m.Pix[y*w+x] == 0 {
				return 0
			}
			seen[y*w+x] = true
			n := 1
			for dy := -1; dy <= 1; dy++ {
				for dx := -1; dx <= 1; dx++ {
					n += fill(x+dx, y+dy)
				}
			}
			return n
		}
		for y := range h {
			for x := range w {
				if n := fill(x, y); n > 0 {
					want = append(want, n)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("areas %v, want %v", got, want)
		}
	})
}

// The blur of a stamp and of a picture compared with the two-dimensional sum.
func TestBlur(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 12).Draw(t, "w"), rapid.IntRange(1, 12).Draw(t, "h")
		sigma := rapid.Float64Range(0.2, 2.5).Draw(t, "sigma")
		p := &plane{w: w, h: h, ch: 1, pix: make([]float32, w*h)}
		for i := range p.pix {
			p.pix[i] = rapid.Float32Range(0, 1).Draw(t, "v")
		}
		k := gaussianKernel(sigma)
		r := len(k) / 2
		got := p.blurred(sigma)
		fw, fh := w+2*r, h+2*r
		framed := make([]float32, fw*fh)
		for y := range fh {
			for x := range fw {
				framed[y*fw+x] = p.pix[reflect(y-r, h)*w+reflect(x-r, w)]
			}
		}
		var b blurrer
		inner := b.inner(framed, fw, fh, sigma, r)
		for y := range h {
			for x := range w {
				var want float64
				for j, ty := range k {
					for i, tx := range k {
						want += float64(ty) * float64(tx) * float64(framed[(y+j)*fw+x+i])
					}
				}
				if math.Abs(float64(got.pix[y*w+x])-want) > 1e-5 || math.Abs(float64(inner[y*w+x])-want) > 1e-5 {
					t.Fatalf("(%d, %d): %g and %g, want %g", x, y, got.pix[y*w+x], inner[y*w+x], want)
				}
			}
		}
	})
}

func TestReflect(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		i := rapid.IntRange(-50, 50).Draw(t, "i")
		want, step := 0, 1
		// Walk from 0, reversing at the ends.
		for range max(i, -i) {
			if n == 1 {
				break
			}
			if want+step < 0 || want+step >= n {
				step = -step
			}
			want += step
		}
		if got := reflect(i, n); got != want {
			t.Fatalf("reflect(%d, %d) = %d, want %d", i, n, got, want)
		}
	})
}

// The light cut off at the end of a glint would be invisible.
func TestGlintsEndUnseen(t *testing.T) {
	t.Parallel()
	p := pattern(120, 120, 3, 8, processing.TransferSRGB)
	c := newCurve(8, p.Transfer)
	st := &stamper{surf: &surface{pic: p, curve: c}}
	rapid.Check(t, func(t *rapid.T) {
		g := glint{
			x: 60, y: 60,
			r:      rapid.Float64Range(0.5, 30).Draw(t, "r"),
			angle:  rapid.Float64Range(-3, 3).Draw(t, "angle"),
			aspect: rapid.Float64Range(1, 3.2).Draw(t, "aspect"),
			peak:   rapid.Float64Range(0.05, 10).Draw(t, "peak"),
			edge:   rapid.Float64Range(1, 5).Draw(t, "edge"),
			shape:  rapid.SampledFrom([]shape{ellipse, star, worm, facet, woven}).Draw(t, "shape"),
			seed:   rapid.Uint64().Draw(t, "seed"),
			canvas: &canvas{pitch: 8, cos: 1},
		}
		g.prepare()
		distance := g.distance(st)
		sin, cos := math.Sincos(rapid.Float64Range(0, 2*math.Pi).Draw(t, "direction"))
		for _, far := range []float64{1, 1.1, 1.5, 3} {
			v := g.peak * g.profile(distance(cos*g.reach*far, sin*g.reach*far))
			if v > 2*faint {
				t.Fatalf("%g at %g times the reach", v, far)
			}
		}
		if d := g.profile(distance(0, 0)); (g.shape == ellipse || g.shape == star) && d < 1 {
			t.Fatalf("the middle of shape %d has %g of the peak", g.shape, d)
		}
	})
}
