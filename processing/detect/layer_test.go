package detect_test

import (
	"context"
	"errors"
	"image"
	"math"
	"slices"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// inspect computes a layer of a part of a picture on the processor.
func inspect(t testing.TB, pic *processing.Picture, p processing.Params, o detect.LayerOptions) *detect.LayerMap {
	t.Helper()
	o.Network = testpic.Network()
	m, err := detect.Inspect(t.Context(), cpu.New(), pic, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// In any part of the picture every layer has the values that it has in the whole one.
func TestLayersOfAPart(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	pic, p := glaring(t, 330, 190, 8, 5), processing.DefaultParams()
	all := image.Rect(0, 0, pic.Width, pic.Height)
	for _, spec := range detect.Layers() {
		whole := inspect(t, pic, p, detect.LayerOptions{Layer: spec.Layer, Rect: all})
		if len(whole.Pix) != pic.Width*pic.Height || slices.Max(whole.Pix) == slices.Min(whole.Pix) {
			t.Fatalf("%s: %d samples, all the same", spec.ID, len(whole.Pix))
		}
		for _, r := range []image.Rectangle{
			image.Rect(-5, -9, 31, 27), image.Rect(13, 17, 14, 18), image.Rect(301, 101, 400, 400),
		} {
			m := inspect(t, pic, p, detect.LayerOptions{Layer: spec.Layer, Rect: r})
			if m.Rect != r.Intersect(all) {
				t.Fatalf("%s: %v of %v", spec.ID, m.Rect, r)
			}
			for v := m.Rect.Min.Y; v < m.Rect.Max.Y; v++ {
				for u := m.Rect.Min.X; u < m.Rect.Max.X; u++ {
					got, known := m.At(u, v)
					if want, there := whole.At(u, v); got != want || known != there {
						t.Fatalf("%s at (%d, %d) of %v: %v, in the whole %v", spec.ID, u, v, m.Rect, got, want)
					}
				}
			}
		}
	}
}

// The layers are the planes of detection: contrast is luminance minus background, and scores are those of components.
func TestLayersAreThoseOfDetection(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	pic, p := glaring(t, 200, 150, 8, 7), processing.DefaultParams()
	all := image.Rect(0, 0, pic.Width, pic.Height)
	maps := map[detect.Layer]*detect.LayerMap{}
	for _, s := range detect.Layers() {
		maps[s.Layer] = inspect(t, pic, p, detect.LayerOptions{Layer: s.Layer, Rect: all})
	}
	at := func(l detect.Layer, x, y int) float64 {
		v, _ := maps[l].At(x, y)
		return v
	}
	scores := make([]float64, pic.Width*pic.Height)
	for i := range scores {
		scores[i] = math.Inf(-1)
	}
	r := found(t, pic, p, options())
	d, err := processing.DefaultDecision()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Table.Components {
		for _, s := range c.Spans {
			for x := s.X0; x < s.X1; x++ {
				i := int(s.Y)*pic.Width + int(x)
				scores[i] = max(scores[i], d.Score(c.Strength))
			}
		}
	}
	for y := range pic.Height {
		for x := range pic.Width {
			rise := at(detect.LayerLuminance, x, y) - at(detect.LayerBackground, x, y)
			if d := at(detect.LayerContrast, x, y) - rise; math.Abs(d) > 0.0031 {
				t.Fatalf("contrast at (%d, %d) is off by %v", x, y, d)
			}
			s, known := maps[detect.LayerScore].At(x, y)
			if want := scores[y*pic.Width+x]; known != !math.IsInf(want, -1) || known && math.Abs(s-want) > 0.001 {
				t.Fatalf("score at (%d, %d): %v, %v, the component has %v", x, y, s, known, want)
			}
		}
	}
	// Findings have scores at or above the threshold, and on average a higher contrast and logit than the rest.
	spec := maps[detect.LayerScore].Spec
	least := spec.Thresholds(p)[0].Value
	var sums [2][2]float64
	for i, v := range r.Mask.Pix {
		x, y := i%pic.Width, i/pic.Width
		if v >= processing.MaskLevel {
			sums[1][0] += at(detect.LayerNetwork, x, y) / float64(r.Mask.Area())
			sums[1][1] += at(detect.LayerContrast, x, y) / float64(r.Mask.Area())
		} else {
			sums[0][0] += at(detect.LayerNetwork, x, y) / float64(len(r.Mask.Pix)-r.Mask.Area())
			sums[0][1] += at(detect.LayerContrast, x, y) / float64(len(r.Mask.Pix)-r.Mask.Area())
		}
	}
	if sums[1][0] < sums[0][0]+2 || sums[1][1] < sums[0][1]+5 {
		t.Errorf("mean logit and contrast of glare %v, of the rest %v", sums[1], sums[0])
	}
	for _, f := range r.Findings {
		if s, ok := maps[detect.LayerScore].At(f.Runs[0].X0, f.Runs[0].Y); !ok || s < least-0.01 {
			t.Errorf("finding %d has the score %v, %v", f.ID, s, ok)
		}
	}
}

// Histograms count every pixel once, in the bin where a slow count puts it.
func TestLayerHistograms(t *testing.T) {
	t.Parallel()
	pic, p := glaring(t, 160, 120, 8, 8), processing.DefaultParams()
	region := &processing.Region{Shape: processing.EllipseShape, Points: []processing.Point{{X: 20, Y: 10}, {X: 99, Y: 90}}}
	all, inside, err := detect.LevelHistogram(t.Context(), cpu.New(), pic, region)
	if err != nil {
		t.Fatal(err)
	}
	var wantAll, wantInside [256]uint64
	m := inspect(t, pic, p, detect.LayerOptions{Layer: detect.LayerLevel, Rect: image.Rect(0, 0, 160, 120)})
	for y := range pic.Height {
		in := make([]bool, pic.Width)
		for _, r := range region.Spans(y, pic.Width) {
			for x := r.X0; x < r.X1; x++ {
				in[x] = true
			}
		}
		for x := range pic.Width {
			v, _ := m.At(x, y)
			wantAll[int(v)]++
			if in[x] {
				wantInside[int(v)]++
			}
		}
	}
	if !slices.Equal(all, wantAll[:]) || !slices.Equal(inside, wantInside[:]) {
		t.Error("the levels are counted otherwise")
	}
	if _, inside, err := detect.LevelHistogram(t.Context(), cpu.New(), pic, nil); err != nil || inside != nil {
		t.Errorf("without a region: %v, %v", inside, err)
	}
	for _, spec := range detect.Layers() {
		m := inspect(t, pic, p, detect.LayerOptions{Layer: spec.Layer, Rect: image.Rect(3, 4, 90, 95)})
		const n = 40
		var want [n]uint64
		for y := range pic.Height {
			for x := range pic.Width {
				if v, ok := m.At(x, y); ok {
					at := math.Floor((v - spec.Low) / (spec.High - spec.Low) * n)
					want[int(min(max(at, 0), n-1))]++
				}
			}
		}
		got := m.Histogram(n)
		moved := uint64(0)
		for i := range want {
			moved += max(want[i], got[i]) - min(want[i], got[i])
		}
		// A value on the edge of a bin may be rounded into the next.
		if total := uint64(len(m.Pix)); 50*moved > total {
			t.Errorf("%s: %d of %d pixels are counted elsewhere", spec.ID, moved, total)
		}
	}
}

// Descriptions are complete, and adaptive mode shows the thresholds that it uses, not those that are set.
func TestLayerSpecs(t *testing.T) {
	t.Parallel()
	for i, s := range detect.Layers() {
		if int(s.Layer) != i || s.ID == "" || s.Name.String() == "" || s.Help.String() == "" || s.Low >= s.High {
			t.Errorf("layer %d: %+v", i, s)
		}
		for _, th := range s.Thresholds(processing.DefaultParams()) {
			if th.Name.String() == "" || th.Value < s.Low || th.Value > s.High {
				t.Errorf("%s: threshold %+v lies outside its scale", s.ID, th)
			}
		}
	}
	p := processing.DefaultParams()
	p.Level, p.Sensitivity = 33, 1.5
	level, score := detect.Layers()[detect.LayerLevel], detect.Layers()[detect.LayerScore]
	if th := level.Thresholds(p); len(th) != 1 || th[0].Value != 150 {
		t.Errorf("adaptive mode: %+v", th)
	}
	if th := score.Thresholds(p); len(th) != 1 || th[0].Value != -1.5 {
		t.Errorf("more sensitivity: %+v", th)
	}
	p.Mode = processing.Manual
	if th := level.Thresholds(p); len(th) != 1 || th[0].Value != 33 {
		t.Errorf("manual mode: %+v", th)
	}
}

// The smallest pictures have all layers; invalid requests are refused; a cancel is obeyed.
func TestLayersAtTheLimits(t *testing.T) {
	t.Parallel()
	p := processing.DefaultParams()
	for _, pic := range []*processing.Picture{
		spots(1, 1, [3]uint8{9, 9, 9}),
		{Width: 3, Height: 1, Channels: 1, F32: []float32{float32(math.NaN()), 2, -1}},
		{Width: 1, Height: 2, Channels: 4, U16: make([]uint16, 8)},
	} {
		for _, s := range detect.Layers() {
			m := inspect(t, pic, p, detect.LayerOptions{Layer: s.Layer, Rect: image.Rect(-9, -9, 9, 9)})
			if m.Rect != image.Rect(0, 0, pic.Width, pic.Height) {
				t.Errorf("%s: %v", s.ID, m.Rect)
			}
			if _, ok := m.At(pic.Width, 0); ok {
				t.Errorf("%s has a value beside the picture", s.ID)
			}
		}
	}
	pic := spots(40, 30, [3]uint8{9, 9, 9})
	if _, err := detect.Inspect(t.Context(), cpu.New(), pic, p, detect.LayerOptions{
		Rect: image.Rect(40, 0, 50, 10)}); !errors.Is(err, detect.ErrOutside) {
		t.Errorf("beside the picture: %v", err)
	}
	if _, err := detect.Inspect(t.Context(), cpu.New(), pic, p, detect.LayerOptions{
		Layer: 99, Rect: image.Rect(0, 0, 5, 5)}); err == nil {
		t.Error("an unknown layer is computed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range detect.Layers() {
		if _, err := detect.Inspect(ctx, cpu.New(), pic, p, detect.LayerOptions{
			Layer: s.Layer, Rect: image.Rect(0, 0, 40, 30)}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after a cancel: %v", s.ID, err)
		}
	}
	if _, _, err := detect.LevelHistogram(ctx, cpu.New(), pic, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("histogram after a cancel: %v", err)
	}
}

// A part with its surroundings gives the same mask as the whole picture, whatever the parameters and wherever the part
// lies.
func TestPartsAreThoseOfTheWhole(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	const w, h = 600, 420
	pic := glaring(t, w, h, 8, 3)
	marked := 0
	for name, p := range detectors() {
		for _, change := range []func(*processing.Params, *detect.Options){
			func(*processing.Params, *detect.Options) {},
			func(p *processing.Params, _ *detect.Options) { p.Margin, p.Close, p.Sensitivity = 3, 1, 2 },
			func(_ *processing.Params, o *detect.Options) {
				o.Region = &processing.Region{Shape: processing.EllipseShape,
					Points: []processing.Point{{X: 200, Y: 100}, {X: 690, Y: 400}}}
			},
			func(p *processing.Params, _ *detect.Options) { p.Mode, p.Window, p.Core = processing.Manual, 19, 30 },
		} {
			p, o := p, options()
			change(&p, &o)
			whole := found(t, pic, p, o)
			for _, inside := range []image.Rectangle{image.Rect(301, 203, 420, 290), image.Rect(550, -9, 900, 33)} {
				part, ok, err := detect.NewPart(pic, p, o, inside)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					if o.Region == nil {
						t.Fatalf("%s: no part %v", name, inside)
					}
					continue
				}
				mask, from := part.Mask(found(t, part.Picture, p, part.Options))
				differ := 0
				for y := range mask.Height {
					for x := range mask.Width {
						v := mask.Pix[y*mask.Width+x]
						if v != whole.Mask.Pix[(from.Y+y)*w+from.X+x] {
							differ++
						}
						marked += int(v) / 255
					}
				}
				if differ > 0 {
					t.Errorf("%s with %+v: %d pixels of %v differ", name, p, differ, inside)
				}
			}
		}
	}
	if marked == 0 {
		t.Error("no part has glare")
	}
	if _, ok, err := detect.NewPart(pic, processing.DefaultParams(), options(), image.Rect(800, 0, 900, 9)); ok ||
		err != nil {
		t.Errorf("a part beside the picture: %v, %v", ok, err)
	}
}

// overlap is the intersection of two sets of pixels over their union.
func overlap(a, b []processing.Run) float64 {
	in := map[[2]int]bool{}
	for _, r := range a {
		for x := r.X0; x < r.X1; x++ {
			in[[2]int{x, r.Y}] = true
		}
	}
	both, all := 0, len(in)
	for _, r := range b {
		for x := r.X0; x < r.X1; x++ {
			if in[[2]int{x, r.Y}] {
				both++
			} else {
				all++
			}
		}
	}
	return float64(both) / float64(all)
}

// Without candidates of a detection, pointing at each of its findings gives nearly the same pixels; with them, exactly
// those of the candidate, which are not those of a finding that joins several.
func TestTouchFindsWhatDetectionFinds(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	be := cpu.New()
	for _, depth := range []int{8, 16} {
		pic, p := glaring(t, 260, 200, depth, 3), processing.DefaultParams()
		r := found(t, pic, p, options())
		if len(r.Findings) < 5 {
			t.Fatalf("only %d findings", len(r.Findings))
		}
		alike, remembered, sum := 0, 0, 0.
		for _, f := range r.Findings {
			o := detect.TouchOptions{X: f.X, Y: f.Y, Slack: 1}
			got, err := detect.Touch(t.Context(), be, pic, p, o)
			if errors.Is(err, detect.ErrNoGlint) {
				// This is a speck that the network finds beside a larger glint.
				continue
			}
			if err != nil {
				t.Fatalf("%d bits: finding %+v: %v, %v", depth, f, got, err)
			}
			o.Table = r.Table
			if known, err := detect.Touch(t.Context(), be, pic, p, o); err == nil && slices.Equal(known.Runs, f.Runs) {
				remembered++
			}
			share := overlap(got.Runs, f.Runs)
			sum += share
			if share >= 0.5 {
				alike++
			}
		}
		n := len(r.Findings)
		t.Logf("%d bits: of %d findings %d are alike, overlap %.3f on average, %d are remembered", depth, n, alike,
			sum/float64(n), remembered)
		if 10*alike < 8*n || 10*remembered < 9*n {
			t.Errorf("%d bits: of %d findings only %d are alike and %d remembered", depth, n, alike, remembered)
		}
	}
}

// disc is a picture with a bright disc on a slope.
func disc(w, h, channels int, x, y, radius, rise, slope float64) *processing.Picture {
	pic := &processing.Picture{Width: w, Height: h, Channels: channels, U8: make([]uint8, w*h*channels)}
	for v := range h {
		for u := range w {
			level := 70 + slope*float64(u)
			if math.Hypot(float64(u)+0.5-x, float64(v)+0.5-y) <= radius {
				level += rise
			}
			for c := range channels {
				pic.U8[(v*w+u)*channels+c] = uint8(min(level, 255))
			}
		}
	}
	return pic
}

// A disc is found exactly, from any place within the slack, on flat ground and on a slope, beside the edge of the
// picture, and next to one that is already marked.
func TestTouchDisc(t *testing.T) {
	t.Parallel()
	be, p := cpu.New(), processing.DefaultParams()
	p.Margin, p.Feather, p.Close, p.Fill = 0, 0, 0, false
	for _, c := range []struct{ x, y, radius, rise, slope float64 }{
		{50.5, 40.5, 0.6, 100, 0}, {50, 40, 3, 60, 0}, {50, 40, 6, 120, 0.4}, {0.5, 0.5, 4, 90, 0},
		{99, 79, 5, 90, 0.2}, {50, 40, 12, 40, 0},
	} {
		pic := disc(100, 80, 3, c.x, c.y, c.radius, c.rise, c.slope)
		want := 0
		for v := range 80 {
			for u := range 100 {
				if math.Hypot(float64(u)+0.5-c.x, float64(v)+0.5-c.y) <= c.radius {
					want++
				}
			}
		}
		for _, off := range []float64{0, 2} {
			o := detect.TouchOptions{X: min(c.x+off, 99.9), Y: c.y, Slack: 4}
			got, err := detect.Touch(t.Context(), be, pic, p, o)
			if err != nil {
				t.Errorf("%+v from %g px beside: %v", c, off, err)
				continue
			}
			if n := got.Mask.Area(); n != want {
				t.Errorf("%+v from %g px beside: %d pixels, want %d", c, off, n, want)
			}
			taken := processing.NewMask(100, 80)
			for _, r := range got.Runs {
				for x := r.X0; x < r.X1; x++ {
					taken.Pix[r.Y*100+x] = 255
				}
			}
			o.Taken, o.Slack = taken, 0
			if _, err := detect.Touch(t.Context(), be, pic, p, o); !errors.Is(err, detect.ErrNoGlint) {
				t.Errorf("%+v: touched again although it is marked: %v", c, err)
			}
		}
	}
}

// The cleanup is that of detection: a margin of two pixels is two pixels.
func TestTouchCleansUp(t *testing.T) {
	t.Parallel()
	p := processing.DefaultParams()
	p.Open, p.Close, p.Margin, p.Feather, p.Fill = 3, 0, 2, 0, false
	pic := disc(60, 60, 1, 30.5, 30.5, 0.5, 100, 0)
	got, err := detect.Touch(t.Context(), cpu.New(), pic, p, detect.TouchOptions{X: 30.5, Y: 30.5})
	if err != nil || got.Mask.Area() != 25 || len(got.Runs) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	for y := range got.Mask.Height {
		for x := range got.Mask.Width {
			near := max(abs(got.Left+x-30), abs(got.Top+y-30)) <= 2
			if (got.Mask.Pix[y*got.Mask.Width+x] != 0) != near {
				t.Fatalf("pixel (%d, %d) is %d", got.Left+x, got.Top+y, got.Mask.Pix[y*got.Mask.Width+x])
			}
		}
	}
}

func abs(x int) int { return max(x, -x) }

// Nothing rises in a flat picture or outside the picture; nothing fails in the smallest pictures and at any depth.
func TestTouchNothing(t *testing.T) {
	t.Parallel()
	be, p := cpu.New(), processing.DefaultParams()
	flat := disc(40, 30, 3, -99, 0, 0, 0, 0)
	for _, at := range [][2]float64{{20, 15}, {0, 0}, {39.9, 29.9}, {-1, 5}, {40, 5}, {5, 1e300}, {math.NaN(), 5},
		{5, math.Inf(1)}} {
		_, err := detect.Touch(t.Context(), be, flat, p, detect.TouchOptions{X: at[0], Y: at[1], Slack: 6})
		if !errors.Is(err, detect.ErrNoGlint) {
			t.Errorf("at %v: %v", at, err)
		}
	}
	for _, channels := range []int{1, 3, 4} {
		for _, size := range [][2]int{{1, 1}, {2, 1}, {1, 3}} {
			w, h := size[0], size[1]
			n := w * h * channels
			for _, pic := range []*processing.Picture{
				{U8: make([]uint8, n)}, {U16: make([]uint16, n)}, {F32: make([]float32, n)},
			} {
				pic.Width, pic.Height, pic.Channels = w, h, channels
				o := detect.TouchOptions{X: 0.5, Y: 0.5, Slack: 1e9}
				if _, err := detect.Touch(t.Context(), be, pic, p, o); !errors.Is(err, detect.ErrNoGlint) {
					t.Errorf("%d × %d, %d channels, %d bits: %v", w, h, channels, pic.Depth(), err)
				}
			}
		}
	}
	p.Sensitivity = math.NaN()
	if _, err := detect.Touch(t.Context(), be, flat, p, detect.TouchOptions{}); err == nil {
		t.Error("parameters that are not valid are taken")
	}
}
