package detect_test

import (
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
// those of the candidate.
func TestTouchFindsWhatDetectionFinds(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	be := cpu.New()
	for _, depth := range []int{8, 16} {
		pic, p := glaring(t, 200, 150, depth, 3), processing.DefaultParams()
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
