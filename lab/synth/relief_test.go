package synth

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

func relief(t *testing.T, p *processing.Picture, o ReliefOptions) (*processing.Picture, *processing.Mask, Stats) {
	t.Helper()
	return valid(t)(RenderRelief(context.Background(), p, o))
}

func condition(t *testing.T, name string) ReliefOptions {
	t.Helper()
	o, err := ReliefCondition(name)
	if err != nil {
		t.Fatal(err)
	}
	o.Seed = 5
	return o
}

func TestReliefIsDeterministic(t *testing.T) {
	t.Parallel()
	p := pattern(150, 110, 3, 8, processing.TransferSRGB)
	a, m, _ := relief(t, p, VariedRelief(3))
	b, n, _ := relief(t, p, VariedRelief(3))
	if !bytes.Equal(a.U8, b.U8) || !bytes.Equal(m.Pix, n.Pix) {
		t.Error("the same seed gave two renderings")
	}
	if c, _, _ := relief(t, p, VariedRelief(4)); bytes.Equal(a.U8, c.U8) {
		t.Error("two seeds gave the same rendering")
	}
}

// The truth follows from its rule, applied to the noiseless rendering with and without lamps.
func TestReliefTruthIsItsRule(t *testing.T) {
	t.Parallel()
	for _, channels := range []int{1, 3} {
		for _, rule := range []TruthRule{StrictTruth(), VisibleTruth()} {
			p := pattern(160, 120, channels, 32, processing.TransferLinear)
			o := condition(t, "dense")
			o.NoiseGain, o.NoiseRead, o.JPEGQuality, o.Tint, o.Truth = 0, 0, 0, 0.5, rule
			lit, truth, s := relief(t, p, o)
			o.Lamps = nil
			clean, none, _ := relief(t, p, o)
			if none.Area() != 0 || s.Area == 0 {
				t.Fatalf("%d pixels of glare with lamps, %d without", s.Area, none.Area())
			}
			marked := 0
			for i, got := range truth.Pix {
				a, b := clean.F32[i*channels:(i+1)*channels], lit.F32[i*channels:(i+1)*channels]
				rises := [][2]float64{{float64(luma(a, channels)), float64(luma(b, channels))}}
				if !rule.LuminanceOnly {
					rises = append(rises, [2]float64{float64(slices.Min(a)), float64(slices.Min(b))})
				}
				want, near := uint8(TruthNone), math.Inf(1)
				for _, r := range rises {
					d := r[1] - r[0]
					if d > rule.UnsureRise && d > rule.UnsureShare*r[0] {
						want = max(want, TruthUnsure)
					}
					if d > rule.Rise && d > rule.Share*r[0] {
						want = TruthGlare
					}
					limits := []float64{rule.Rise, rule.Share * r[0], rule.UnsureRise, rule.UnsureShare * r[0]}
					for _, limit := range limits {
						near = math.Min(near, math.Abs(d-limit))
					}
				}
				if got != want && near > 1e-6 {
					t.Fatalf("pixel %d went from %v to %v, marked %d, want %d", i, a, b, got, want)
				}
				if got == TruthGlare {
					marked++
				}
			}
			if marked != s.Area {
				t.Errorf("area %d, marked %d", s.Area, marked)
			}
		}
	}
}

func TestReliefConditionsLightTheShareAskedFor(t *testing.T) {
	testpic.Slow(t)
	t.Parallel()
	p := pattern(400, 300, 3, 8, processing.TransferSRGB)
	for _, name := range ReliefConditions() {
		o := condition(t, name)
		out, _, s := relief(t, p, o)
		if s.Share < o.Lit/3 || s.Share > o.Lit*3 {
			t.Errorf("%s: %.5f of the picture is lit, want %.5f", name, s.Share, o.Lit)
		}
		if want := 3; name != "grey" && out.Channels != want {
			t.Errorf("%s: %d channels", name, out.Channels)
		}
	}
}

// Renderings resemble labelled glints in real photographs: a few pixels large, and often below white.
func TestVariedReliefLooksLikePhotographs(t *testing.T) {
	testpic.Slow(t)
	t.Parallel()
	var areas, levels []int
	for seed := range uint64(8) {
		p, err := Paint(t.Context(), 300, 225, 8, PaintOptions{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		out, truth, s := relief(t, p, VariedRelief(seed))
		areas = append(areas, s.AreaP50)
		var dark []int
		for i, m := range truth.Pix {
			if m == TruthGlare {
				dark = append(dark, int(slices.Min(out.U8[i*out.Channels:(i+1)*out.Channels])))
			}
		}
		slices.Sort(dark)
		levels = append(levels, dark[len(dark)/2])
	}
	slices.Sort(areas)
	slices.Sort(levels)
	if m := areas[len(areas)/2]; m < 4 || m > 12 {
		t.Errorf("median area %d px (%v)", m, areas)
	}
	if m := levels[len(levels)/2]; m < 65 || m > 170 {
		t.Errorf("median level of the darkest channel %d (%v)", m, levels)
	}
}

func TestPaintedDabsAreNotGlare(t *testing.T) {
	t.Parallel()
	p := pattern(200, 150, 3, 8, processing.TransferSRGB)
	o := ReliefOptions{Seed: 1, Dabs: 2000, Truth: StrictTruth()}
	out, truth, _ := relief(t, p, o)
	if truth.Area() != 0 {
		t.Error("a dab is glare")
	}
	if changed := differing(out.U8, p.U8); changed < 500 {
		t.Errorf("only %d samples were painted over", changed)
	}
}

func TestStrokesRepaintThePainting(t *testing.T) {
	t.Parallel()
	for _, channels := range []int{1, 3} {
		p := pattern(200, 150, channels, 8, processing.TransferSRGB)
		o := ReliefOptions{Seed: 1, StrokeWidth: 8, Truth: StrictTruth()}
		out, truth, _ := relief(t, p, o)
		if truth.Area() != 0 {
			t.Error("a stroke is glare")
		}
		if changed := differing(out.U8, p.U8); changed < len(p.U8)/2 {
			t.Errorf("%d channels: only %d of %d samples were painted over", channels, changed, len(p.U8))
		}
	}
}

func TestGrade(t *testing.T) {
	t.Parallel()
	p := &plane{w: 2, h: 1, ch: 3, pix: []float32{0.25, 0.25, 0.25, 0.5, 0.25, 0.125}}
	grade(p, 2, 4)
	if want := float32(0.0625); p.pix[0] != want || p.pix[1] != want || p.pix[2] != want {
		t.Errorf("grey of 0.25 squared is %v", p.pix[:3])
	}
	if c := p.pix[3:]; !(c[0] > 0.25 && c[2] == 0) {
		t.Errorf("a saturated colour became %v", c)
	}
}

func differing(a, b []uint8) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

func TestReliefRefusesNonsense(t *testing.T) {
	t.Parallel()
	p := pattern(64, 64, 3, 8, processing.TransferSRGB)
	for name, spoil := range map[string]func(*ReliefOptions){
		"no relief":    func(o *ReliefOptions) { o.Relief = PaintRelief{ThreadPitch: 7} },
		"negative":     func(o *ReliefOptions) { o.Lens = -1 },
		"not a number": func(o *ReliefOptions) { o.Peak = math.NaN() },
		"supersample":  func(o *ReliefOptions) { o.Relief.Supersample = 9 },
		"threads":      func(o *ReliefOptions) { o.Relief.ThreadPitch = 1 },
		"bumps":        func(o *ReliefOptions) { o.Relief.BumpRadius = Range{5, 1} },
		"blur":         func(o *ReliefOptions) { o.Blur = 50 },
		"lit":          func(o *ReliefOptions) { o.Lit = 0.5 },
		"roughness":    func(o *ReliefOptions) { o.Roughness = Range{} },
		"tint":         func(o *ReliefOptions) { o.Tint = 2 },
		"JPEG":         func(o *ReliefOptions) { o.JPEGQuality = 101 },
		"strokes":      func(o *ReliefOptions) { o.StrokeWidth = 1 },
		"contrast":     func(o *ReliefOptions) { o.Contrast = 5 },
		"saturation":   func(o *ReliefOptions) { o.Saturation = 9 },
		"ridges":       func(o *ReliefOptions) { o.Relief.RidgeAlong = 1.5 },
		"truth":        func(o *ReliefOptions) { o.Truth.UnsureRise = 1 },
	} {
		o := condition(t, "sharp")
		spoil(&o)
		if _, _, _, err := RenderRelief(t.Context(), p, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := ReliefCondition("foggy"); err == nil {
		t.Error("an unknown condition")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := RenderRelief(ctx, p, condition(t, "sharp")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	cmyk := &processing.Picture{Width: 64, Height: 64, Channels: 4, U8: make([]uint8, 64*64*4)}
	if _, _, _, err := RenderRelief(t.Context(), cmyk, condition(t, "sharp")); err == nil {
		t.Error("a CMYK picture")
	}
}

func TestExamples(t *testing.T) {
	t.Parallel()
	painting := pattern(300, 220, 3, 16, processing.TransferSRGB)
	kinds, shares := ExampleKinds()
	if len(kinds) != len(shares) {
		t.Fatal("kinds and shares differ in number")
	}
	for _, kind := range append(kinds, "") {
		e, err := NewExample(t.Context(), painting, 128, 96, kind, 7)
		if err != nil {
			t.Fatal(err)
		}
		again, err := NewExample(t.Context(), painting, 128, 96, kind, 7)
		if err != nil || !bytes.Equal(e.Picture.U8, again.Picture.U8) || !bytes.Equal(e.Truth.Pix, again.Truth.Pix) {
			t.Errorf("%s: the same seed gave two examples (%v)", kind, err)
		}
		if e.Picture.Width != 128 || e.Picture.Height != 96 || len(e.Truth.Pix) != 128*96 {
			t.Errorf("%s: %d × %d", kind, e.Picture.Width, e.Picture.Height)
		}
		if kind == "clean" && e.Stats.Area > 0 || kind == "varied" && e.Stats.Area == 0 {
			t.Errorf("%s: %d pixels of glare", kind, e.Stats.Area)
		}
	}
	for _, bad := range []struct {
		side int
		kind string
	}{{8, "clean"}, {128, "stars"}} {
		if _, err := NewExample(t.Context(), painting, bad.side, bad.side, bad.kind, 1); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

func TestResampledKeepsLight(t *testing.T) {
	t.Parallel()
	// A checkerboard of black and white has half of white's light at every scale that averages whole squares.
	p := &processing.Picture{Width: 64, Height: 64, Channels: 1, U8: make([]uint8, 64*64)}
	for i := range p.U8 {
		if (i+i/64)&1 != 0 {
			p.U8[i] = 255
		}
	}
	half := processing.TransferSRGB.Encode(0.5) * 255
	for _, v := range resampled(p, 8, 8, 2, 16, 16).U8 {
		if math.Abs(float64(v)-half) > 1 {
			t.Fatalf("%d, want %.1f", v, half)
		}
	}
	if same := resampled(p, 0, 0, 1, 64, 64); !bytes.Equal(same.U8, p.U8) {
		t.Error("the whole picture at its own scale changed")
	}
}
