package detect_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"math"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blik/internal/message"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// options are those of the network whose answers are known.
func options() detect.Options { return detect.Options{Network: testpic.Network()} }

// found detects on the CPU and checks that no plane is left behind.
func found(t testing.TB, pic *processing.Picture, p processing.Params, o detect.Options) *detect.Result {
	t.Helper()
	be := cpu.New()
	defer be.Close()
	r, err := detect.Detect(t.Context(), be, pic, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if planes, size := be.Live(); planes != 0 {
		t.Fatalf("%d planes of %d bytes were not released", planes, size)
	}
	return r
}

// detectors returns parameters for the network and for the classical detector.
func detectors() map[string]processing.Params {
	network, classic := processing.DefaultParams(), processing.DefaultParams()
	classic.Detector = processing.DetectorClassic
	return map[string]processing.Params{"network": network, "classic": classic}
}

// Discs are found exactly, with what they were judged by.
func TestDiscs(t *testing.T) {
	t.Parallel()
	discs := [][3]int{{30, 30, 2}, {90, 40, 4}, {60, 90, 5}}
	for name, p := range detectors() {
		r := found(t, spots(120, 120, [3]uint8{255, 255, 255}, discs...), p, options())
		if len(r.Findings) != len(discs) {
			t.Fatalf("%s: %d findings, want %d: %+v", name, len(r.Findings), len(discs), r.Findings)
		}
		sum := 0
		for i, f := range r.Findings {
			d := discs[i]
			if math.Abs(f.X-float64(d[0])-0.5) > 0.01 || math.Abs(f.Y-float64(d[1])-0.5) > 0.01 || f.ID != i+1 {
				t.Errorf("%s: finding %d at %.2f, %.2f, want the middle of pixel %d, %d", name, f.ID, f.X, f.Y, d[0], d[1])
			}
			if f.Left != d[0]-d[2] || f.Top != d[1]-d[2] || f.Width != 2*d[2]+1 || f.Height != 2*d[2]+1 {
				t.Errorf("%s: finding %d has the box %d,%d %d×%d", name, f.ID, f.Left, f.Top, f.Width, f.Height)
			}
			if f.Peak != 255 || f.Rise != 255-70 || f.Elongation > 1.05 || f.Contrast < 0.9 {
				t.Errorf("%s: finding %+v", name, f)
			}
			if byNetwork := name == "network"; byNetwork != (f.Strength > 1 && f.Shares[processing.KindGlare] == 1) {
				t.Errorf("%s: finding %+v", name, f)
			}
			for _, run := range f.Runs {
				sum += run.X1 - run.X0
				for x := run.X0; x < run.X1; x++ {
					if r.Mask.Pix[run.Y*120+x] != 255 {
						t.Fatalf("%s: pixel %d,%d of finding %d is not in the mask", name, x, run.Y, f.ID)
					}
				}
			}
			sum -= f.Area
		}
		if sum != 0 {
			t.Errorf("%s: areas and runs differ by %d pixels", name, sum)
		}
	}
}

// A warm spot is painted light for this network, and so must be looked at, as must a large one of unknown certainty.
func TestCheck(t *testing.T) {
	t.Parallel()
	pic := spots(120, 60, [3]uint8{255, 250, 160}, [3]int{30, 30, 1})
	white := spots(120, 60, [3]uint8{255, 255, 255}, [3]int{90, 30, 1}, [3]int{60, 30, 4})
	for i, v := range white.U8 {
		pic.U8[i] = max(pic.U8[i], v)
	}
	p := processing.DefaultParams()
	p.Sensitivity = 2
	r := found(t, pic, p, options())
	if len(r.Findings) != 3 {
		t.Fatalf("%d findings", len(r.Findings))
	}
	for i, want := range []struct {
		x     float64
		kind  detect.GlintKind
		check bool
	}{{60.5, processing.KindGlare, true}, {30.5, processing.KindPaint, true}, {90.5, processing.KindGlare, false}} {
		f := &r.Findings[i]
		if f.X != want.x || f.Kind != want.kind || f.Check != want.check || len(f.Reasons()) < 3 {
			t.Errorf("finding %d: %+v", i, f)
		}
	}
}

// Pictures without glare, and of odd sizes: nothing fails, and nothing is found.
func TestExtremes(t *testing.T) {
	t.Parallel()
	o := options()
	p := processing.DefaultParams()
	for _, size := range [][2]int{{1, 1}, {1, 97}, {97, 1}, {2, 2}, {3, 5}, {130, 67}} {
		for _, channels := range []int{1, 3, 4} {
			for _, v := range []uint16{0, 65535, 1, 32768} {
				w, h := size[0], size[1]
				n := w * h * channels
				pics := []*processing.Picture{{U8: make([]uint8, n)}, {U16: make([]uint16, n)}, {F32: make([]float32, n)}}
				for i := range n {
					pics[0].U8[i], pics[1].U16[i], pics[2].F32[i] = uint8(v>>8), v, float32(v)/65535
				}
				for _, pic := range pics {
					pic.Width, pic.Height, pic.Channels = w, h, channels
					if r := found(t, pic, p, o); r.Mask.Area() != 0 || len(r.Findings) != 0 {
						t.Errorf("%v, %d bits, %d channels, all %d: %d pixels found", size, pic.Depth(), channels, v,
							r.Mask.Area())
					}
				}
			}
		}
	}
	found(t, &processing.Picture{Width: 2, Height: 1, Channels: 1,
		F32: []float32{float32(math.NaN()), float32(math.Inf(1))}}, p, o)
	noise := &processing.Picture{Width: 201, Height: 103, Channels: 3, U16: make([]uint16, 3*201*103)}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise.U16 {
		noise.U16[i] = uint16(random.Uint32())
	}
	p.Sensitivity = 5
	if r := found(t, noise, p, o); len(r.Findings) == 0 {
		t.Error("nothing is found in noise: the test shows little")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	good := spots(20, 20, [3]uint8{255, 255, 255}, [3]int{9, 9, 2})
	even, learned, basis := processing.DefaultParams(), processing.DefaultParams(), processing.DefaultParams()
	even.Mode, even.Window = processing.Manual, 12
	learned.Mode, learned.Learned = processing.Manual, &processing.Learned{}
	basis.Learned = &processing.Learned{Basis: "other"}
	for name, c := range map[string]struct {
		pic *processing.Picture
		p   processing.Params
		r   *processing.Region
	}{
		"broken picture": {&processing.Picture{Width: 20, Height: 20, Channels: 3, U8: make([]uint8, 5)},
			processing.DefaultParams(), nil},
		"even window": {good, even, nil},
		"region outside": {good, processing.DefaultParams(),
			&processing.Region{Points: []processing.Point{{X: 100, Y: 100}, {X: 120, Y: 120}}}},
		"learned without network":      {good, learned, nil},
		"learned with another network": {good, basis, nil},
	} {
		be := cpu.New()
		o := options()
		o.Region = c.r
		if r, err := detect.Detect(t.Context(), be, c.pic, c.p, o); err == nil {
			t.Errorf("%s gives %d findings", name, len(r.Findings))
		}
		be.Close()
	}
}

// The same picture in 8, 16 and 32 bits, and by any number of workers, has the same findings.
func TestDepthsAndWorkers(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	pic := glaring(t, 311, 203, 8, 3)
	deep := &processing.Picture{Width: pic.Width, Height: pic.Height, Channels: 3, U16: make([]uint16, len(pic.U8))}
	real := &processing.Picture{Width: pic.Width, Height: pic.Height, Channels: 3, F32: make([]float32, len(pic.U8))}
	for i, v := range pic.U8 {
		deep.U16[i] = 257 * uint16(v)
		real.F32[i] = float32(v) / 255
	}
	for name, p := range detectors() {
		want := found(t, pic, p, options())
		if want.Mask.Area() == 0 {
			t.Fatalf("%s: nothing found: the test shows nothing", name)
		}
		for _, other := range []*processing.Picture{deep, real} {
			if got := found(t, other, p, options()); !bytes.Equal(got.Mask.Pix, want.Mask.Pix) ||
				!reflect.DeepEqual(got.Findings, want.Findings) {
				t.Errorf("%s: %d bits give another result than 8 bits", name, other.Depth())
			}
		}
		for _, n := range []int{1, 3} {
			be := cpu.New(cpu.Workers(n))
			got, err := detect.Detect(t.Context(), be, pic, p, options())
			if err != nil || !bytes.Equal(got.Mask.Pix, want.Mask.Pix) ||
				!reflect.DeepEqual(got.Findings, want.Findings) {
				t.Errorf("%s: %d workers give another result: %v", name, n, err)
			}
			be.Close()
		}
	}
}

// Detection in a region sees the same surroundings as on the whole picture.
func TestRegionClips(t *testing.T) {
	t.Parallel()
	const w, h = 210, 150
	pic := glaring(t, w, h, 8, 3)
	p := processing.DefaultParams()
	p.Margin = 2
	whole := found(t, pic, p, options())
	if whole.Mask.Area() == 0 {
		t.Fatal("nothing found: the test shows nothing")
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := &processing.Region{Shape: processing.Shape(rapid.IntRange(0, 2).Draw(rt, "shape"))}
		for range rapid.IntRange(3, 6).Draw(rt, "points") {
			r.Points = append(r.Points, processing.Point{X: rapid.Float64Range(-20, 230).Draw(rt, "x"),
				Y: rapid.Float64Range(-20, 170).Draw(rt, "y")})
		}
		if r.Shape != processing.PolygonShape {
			r.Points = r.Points[:2]
		}
		if r.Validate(w, h) != nil {
			return
		}
		o := options()
		o.Region, o.Table = r, whole.Table
		got := found(t, pic, p, o)
		inside := make([]bool, w*h)
		for y := range h {
			for _, s := range r.Spans(y, w) {
				for x := s.X0; x < s.X1; x++ {
					inside[y*w+x] = true
				}
			}
		}
		for i, v := range got.Mask.Pix {
			want := uint8(0)
			if inside[i] {
				want = whole.Mask.Pix[i]
			}
			if v != want {
				rt.Fatalf("%v: pixel %d,%d is %d, want %d", r, i%w, i/w, v, want)
			}
		}
		for _, f := range got.Findings {
			for _, run := range f.Runs {
				for x := run.X0; x < run.X1; x++ {
					if !inside[run.Y*w+x] {
						rt.Fatalf("finding %d reaches out of %v", f.ID, r)
					}
				}
			}
		}
	})
}

// A table serves any sensitivity: the result is that of another search, and a higher sensitivity loses no pixel.
func TestTableServes(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	pic := glaring(t, 260, 200, 8, 5)
	p := processing.DefaultParams()
	o := options()
	o.Table = found(t, pic, p, o).Table
	var before *detect.Result
	count := 0
	for _, sensitivity := range []float64{-5, -2, -0.5, 0, 0.1, 1.3, 2.5, 5} {
		p.Sensitivity = sensitivity
		got, again := found(t, pic, p, o), found(t, pic, p, options())
		if got.Table != o.Table {
			t.Fatal("the table was not used")
		}
		if !bytes.Equal(got.Mask.Pix, again.Mask.Pix) || !reflect.DeepEqual(got.Findings, again.Findings) {
			t.Errorf("the table gives another result at %g than a search", sensitivity)
		}
		for i := 0; before != nil && i < len(got.Mask.Pix); i++ {
			if before.Mask.Pix[i] > got.Mask.Pix[i] {
				t.Fatalf("the sensitivity %g loses pixel %d", sensitivity, i)
			}
		}
		before, count = got, count+len(got.Findings)
	}
	if count == 0 {
		t.Error("nothing found: the test shows nothing")
	}
}

// A part of the mask is what a decision about that part gives.
func TestDecidePart(t *testing.T) {
	t.Parallel()
	const w, h = 260, 200
	pic := glaring(t, w, h, 8, 5)
	p := processing.DefaultParams()
	p.Sensitivity, p.Fill = 1, false
	region := &processing.Region{Shape: processing.EllipseShape, Points: []processing.Point{{X: 20, Y: 10}, {X: 240, Y: 190}}}
	o := options()
	o.Region = region
	r := found(t, pic, p, o)
	d, err := processing.DefaultDecision()
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for _, part := range []image.Rectangle{{Max: image.Pt(w, h)}, image.Rect(31, 40, 150, 131), image.Rect(250, 190, 400, 300)} {
		m, ok := detect.DecidePart(r.Table, d, p, region, part)
		if !ok {
			t.Fatalf("no mask of %v", part)
		}
		part = part.Intersect(image.Rect(0, 0, w, h))
		for i, v := range m.Pix {
			x, y := part.Min.X+i%part.Dx(), part.Min.Y+i/part.Dx()
			if v != r.Mask.Pix[y*w+x] {
				t.Fatalf("pixel %d,%d of %v is %d", x, y, part, v)
			}
			marked += int(v) / 255
		}
	}
	if marked == 0 {
		t.Error("nothing is marked: the test shows nothing")
	}
}

// Every parameter of cleanup changes the mask. Those that look at neighbouring pixels are not decided for a part alone,
// but a part with its surroundings gives the mask of the whole.
func TestCleanupParameters(t *testing.T) {
	t.Parallel()
	const w, h = 260, 200
	pic := glaring(t, w, h, 8, 5)
	plain := processing.DefaultParams()
	plain.Sensitivity, plain.Fill = 5, false
	mask := found(t, pic, plain, options()).Mask
	d, err := processing.DefaultDecision()
	if err != nil {
		t.Fatal(err)
	}
	inside := image.Rect(70, 50, 190, 150)
	for _, spec := range processing.Specs() {
		if spec.Group.ID != "cleanup" || spec.Kind == processing.KindSwitch {
			continue
		}
		for _, v := range []float64{spec.Min + spec.Step, spec.Min + 4*spec.Step} {
			p := plain
			if err := spec.Set(&p, v); err != nil {
				t.Fatal(err)
			}
			r := found(t, pic, p, options())
			if v != spec.Min+spec.Step && bytes.Equal(r.Mask.Pix, mask.Pix) {
				t.Errorf("%s %g changes nothing", spec.ID, v)
			}
			if _, ok := detect.DecidePart(r.Table, d, p, nil, inside); ok {
				t.Errorf("%s %g: decided for a part", spec.ID, v)
			}
			part, ok, err := detect.NewPart(pic, p, options(), inside)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			got, at := part.Mask(found(t, part.Picture, p, part.Options))
			for i, v := range got.Pix {
				if x, y := at.X+i%got.Width, at.Y+i/got.Width; v != r.Mask.Pix[y*w+x] {
					t.Fatalf("%s: pixel %d,%d is %d in the part", spec.ID, x, y, v)
				}
			}
		}
	}
}

func TestProgressRises(t *testing.T) {
	t.Parallel()
	for name, p := range detectors() {
		last, calls := -1.0, 0
		o := options()
		o.Progress = func(stage message.Message, done float64) {
			if done < last || done > max(last, 0)+0.5 || done > 1 || stage.IsZero() {
				t.Errorf("%s: progress %v after %v in stage %q", name, done, last, stage.String())
			}
			last, calls = done, calls+1
		}
		found(t, glaring(t, 200, 150, 8, 1), p, o)
		if calls < 5 || last < 0.7 {
			t.Errorf("%s: %d calls, the last at %v", name, calls, last)
		}
	}
}

// looked is a context that is cancelled after it has been checked a given number of times.
type looked struct {
	context.Context
	left, at atomic.Int64
}

func (c *looked) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	c.at.CompareAndSwap(0, time.Now().UnixNano())
	return context.Canceled
}

// Detection stops at once wherever it is cancelled, and leaves nothing behind.
func TestCancel(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	pic := glaring(t, 600, 450, 8, 2)
	be := cpu.New(cpu.Workers(2))
	defer be.Close()
	for name, p := range detectors() {
		const plenty = 1 << 40
		run := func(looks int64) *looked {
			c := &looked{Context: t.Context()}
			c.left.Store(looks)
			_, err := detect.Detect(c, be, pic, p, options())
			if planes, size := be.Live(); planes != 0 {
				t.Errorf("%s: %d planes of %d bytes left after a cancel", name, planes, size)
			}
			if looks < plenty && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: cancelled at look %d: error %v", name, looks, err)
			}
			return c
		}
		whole := run(plenty)
		looks := plenty - whole.left.Load()
		if looks < 20 {
			t.Errorf("%s: looked at its context %d times", name, looks)
		}
		for n := int64(0); n < looks*9/10; n += 1 + looks/9 {
			c := run(n)
			if took := time.Since(time.Unix(0, c.at.Load())); took > 100*time.Millisecond {
				t.Errorf("%s: cancelled at look %d of %d, it ended %v later", name, n, looks, took)
			}
		}
	}
}

// The values that adaptive mode chose for the classical detector give the same mask in manual mode.
func TestTakenOver(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	pic := glaring(t, 420, 300, 8, 3)
	p := detectors()["classic"]
	p.Close = 1
	adaptive := found(t, pic, p, options())
	if adaptive.Params.Mode != processing.Manual || len(adaptive.Chosen) == 0 {
		t.Fatalf("adaptive mode gives mode %v and %d chosen values", adaptive.Params.Mode, len(adaptive.Chosen))
	}
	manual := found(t, pic, adaptive.Params, options())
	if !bytes.Equal(adaptive.Mask.Pix, manual.Mask.Pix) {
		t.Error("the mask differs")
	}
	if len(manual.Chosen) != 0 {
		t.Error("manual mode lists chosen values")
	}
	for _, c := range adaptive.Chosen {
		if s, ok := processing.SpecByID(c.ID); ok && s.Get(adaptive.Params) != c.Value {
			t.Errorf("%s: chose %v, used %v", c.ID, c.Value, s.Get(adaptive.Params))
		}
		if c.Why.IsZero() {
			t.Errorf("%s: a text is missing", c.ID)
		}
	}
}

func TestCleanup(t *testing.T) {
	t.Parallel()
	pic := spots(60, 60, [3]uint8{255, 255, 255}, [3]int{30, 30, 4})
	area := func(change func(p *processing.Params)) (n int, soft bool) {
		p := processing.DefaultParams()
		change(&p)
		m := found(t, pic, p, options()).Mask
		for _, v := range m.Pix {
			soft = soft || v != 0 && v != 255
		}
		return m.Area(), soft
	}
	plain, soft := area(func(*processing.Params) {})
	if plain != 49 || soft {
		t.Fatalf("a disc of radius 4 has %d pixels, soft %v", plain, soft)
	}
	if n, _ := area(func(p *processing.Params) { p.Open = 5 }); n != 0 {
		t.Errorf("opened with 11 × 11: %d pixels left", n)
	}
	if n, _ := area(func(p *processing.Params) { p.Close = 3 }); n < plain {
		t.Errorf("closed: %d pixels of %d", n, plain)
	}
	if n, _ := area(func(p *processing.Params) { p.Margin = 2 }); n <= plain+40 {
		t.Errorf("margin 2: %d pixels", n)
	}
	if _, soft := area(func(p *processing.Params) { p.Feather = 1.5 }); !soft {
		t.Error("feather leaves a hard edge")
	}
}
