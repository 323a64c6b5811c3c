package processing_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/message"
	"blik/internal/testpic"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/synth"
)

// detect runs adaptive detection on the CPU and checks that no plane is left behind.
func detect(t testing.TB, pic *processing.Picture, p processing.Params, o processing.Options) *processing.Result {
	t.Helper()
	be := cpu.New()
	defer be.Close()
	res, err := processing.Detect(context.Background(), be, pic, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if planes, size := be.Live(); planes != 0 {
		t.Fatalf("%d planes of %d bytes were not released", planes, size)
	}
	return res
}

// glaring is a small generated painting with glare.
func glaring(t testing.TB, w, h, depth int, seed uint64) *processing.Picture {
	t.Helper()
	glare, err := synth.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	glare.Density *= 4
	pic, _, _, _, err := generate(w, h, depth, seed, glare)
	if err != nil {
		t.Fatal(err)
	}
	return pic
}

func generate(w, h, depth int, seed uint64, glare synth.GlareOptions) (pic, clean *processing.Picture,
	truth *processing.Mask, st synth.Stats, err error) {
	ctx := context.Background()
	if clean, err = synth.Paint(ctx, w, h, depth, synth.PaintOptions{Seed: seed, Scene: "coast"}); err != nil {
		return
	}
	glare.Seed = seed
	pic, truth, st, err = synth.RenderGlare(ctx, clean, glare)
	return
}

// spots is a dark grey picture with discs (x, y, radius) of the given 8-bit colour.
func spots(w, h int, colour [3]uint8, discs ...[3]int) *processing.Picture {
	pic := &processing.Picture{Width: w, Height: h, Channels: 3, U8: bytes.Repeat([]uint8{70}, 3*w*h)}
	for _, d := range discs {
		for y := max(d[1]-d[2], 0); y <= min(d[1]+d[2], h-1); y++ {
			for x := max(d[0]-d[2], 0); x <= min(d[0]+d[2], w-1); x++ {
				if (x-d[0])*(x-d[0])+(y-d[1])*(y-d[1]) <= d[2]*d[2] {
					copy(pic.U8[3*(y*w+x):], colour[:])
				}
			}
		}
	}
	return pic
}

func TestDetectFindsDiscs(t *testing.T) {
	t.Parallel()
	white := [3]uint8{255, 255, 255}
	discs := [][3]int{{30, 30, 2}, {90, 40, 4}, {60, 90, 7}}
	res := detect(t, spots(120, 120, white, discs...), processing.DefaultParams(), processing.Options{})
	if len(res.Findings) != len(discs) {
		t.Fatalf("%d findings, want %d: %+v", len(res.Findings), len(discs), res.Findings)
	}
	for i, f := range res.Findings {
		d := discs[i]
		if math.Abs(f.X-float64(d[0])-0.5) > 0.01 || math.Abs(f.Y-float64(d[1])-0.5) > 0.01 || f.ID != i+1 {
			t.Errorf("finding %d at %.2f, %.2f, want the middle of pixel %d, %d", f.ID, f.X, f.Y, d[0], d[1])
		}
		if f.Left != d[0]-d[2] || f.Top != d[1]-d[2] || f.Width != 2*d[2]+1 || f.Height != 2*d[2]+1 {
			t.Errorf("finding %d has the box %d,%d %d×%d", f.ID, f.Left, f.Top, f.Width, f.Height)
		}
		if f.Peak != 255 || f.Elongation > 1.05 || f.Contrast < 0.9 {
			t.Errorf("finding %d: %+v", f.ID, f)
		}
		area := 0
		for _, r := range f.Runs {
			area += r.X1 - r.X0
			for x := r.X0; x < r.X1; x++ {
				if res.Mask.Pix[r.Y*120+x] != 255 {
					t.Fatalf("pixel %d,%d of finding %d is not in the mask", x, r.Y, f.ID)
				}
			}
		}
		if area != f.Area {
			t.Errorf("finding %d: %d pixels in its runs, area %d", f.ID, area, f.Area)
		}
	}
	if res.Mask.Area() != res.Findings[0].Area+res.Findings[1].Area+res.Findings[2].Area {
		t.Errorf("the mask has %d pixels", res.Mask.Area())
	}
}

// TestDetectExtremes runs pictures without glare, and of odd sizes: nothing may fail, and nothing may be found.
func TestDetectExtremes(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	fill := func(w, h, channels int, v func(i int) uint16, depth int) *processing.Picture {
		pic := &processing.Picture{Width: w, Height: h, Channels: channels}
		n := w * h * channels
		switch depth {
		case 8:
			pic.U8 = make([]uint8, n)
			for i := range pic.U8 {
				pic.U8[i] = uint8(v(i) >> 8)
			}
		case 16:
			pic.U16 = make([]uint16, n)
			for i := range pic.U16 {
				pic.U16[i] = v(i)
			}
		default:
			pic.F32 = make([]float32, n)
			for i := range pic.F32 {
				pic.F32[i] = float32(v(i)) / 65535
			}
		}
		return pic
	}
	values := []uint16{0, 65535, 1, 32768}
	if testing.Short() {
		values = values[:2]
	}
	for _, size := range [][2]int{{1, 1}, {1, 97}, {97, 1}, {2, 2}, {3, 5}, {130, 67}} {
		for _, depth := range []int{8, 16, 32} {
			for _, channels := range []int{1, 3} {
				for _, v := range values {
					pic := fill(size[0], size[1], channels, func(int) uint16 { return v }, depth)
					res := detect(t, pic, processing.DefaultParams(), processing.Options{})
					if res.Mask.Area() != 0 || len(res.Findings) != 0 {
						t.Errorf("%v, %d bits, %d channels, all %d: %d pixels found", size, depth, channels, v,
							res.Mask.Area())
					}
				}
			}
		}
	}
	odd := &processing.Picture{Width: 2, Height: 1, Channels: 1,
		F32: []float32{float32(math.NaN()), float32(math.Inf(1))}}
	detect(t, odd, processing.DefaultParams(), processing.Options{})
	w, h := 301, 203
	if testing.Short() {
		w, h = 201, 103
	}
	noise := rand.New(rand.NewPCG(1, 2))
	detect(t, fill(w, h, 3, func(int) uint16 { return uint16(noise.Uint32()) }, 16), processing.DefaultParams(),
		processing.Options{})
	detect(t, fill(w, h, 1, func(i int) uint16 { return uint16(i%2) * 65535 }, 8), processing.DefaultParams(),
		processing.Options{})
}

func TestDetectRefusesNonsense(t *testing.T) {
	t.Parallel()
	good := spots(20, 20, [3]uint8{255, 255, 255}, [3]int{9, 9, 2})
	broken := &processing.Picture{Width: 20, Height: 20, Channels: 3, U8: make([]uint8, 5)}
	even := processing.DefaultParams()
	even.Mode, even.Window = processing.Manual, 12
	outside := &processing.Region{Points: []processing.Point{{X: 100, Y: 100}, {X: 120, Y: 120}}}
	for _, c := range []struct {
		name string
		pic  *processing.Picture
		p    processing.Params
		r    *processing.Region
	}{
		{"broken picture", broken, processing.DefaultParams(), nil},
		{"even window", good, even, nil},
		{"region outside", good, processing.DefaultParams(), outside},
	} {
		be := cpu.New()
		if res, err := processing.Detect(context.Background(), be, c.pic, c.p,
			processing.Options{Region: c.r}); err == nil {
			t.Errorf("%s gives %d findings", c.name, len(res.Findings))
		}
		be.Close()
	}
}

func TestDepthsAgree(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	pic := glaring(t, 420, 300, 8, 3)
	want := detect(t, pic, processing.DefaultParams(), processing.Options{})
	if want.Mask.Area() == 0 {
		t.Fatal("nothing found: the test shows nothing")
	}
	deep := &processing.Picture{Width: pic.Width, Height: pic.Height, Channels: 3, U16: make([]uint16, len(pic.U8))}
	real := &processing.Picture{Width: pic.Width, Height: pic.Height, Channels: 3, F32: make([]float32, len(pic.U8))}
	for i, v := range pic.U8 {
		deep.U16[i] = 257 * uint16(v)
		real.F32[i] = float32(v) / 255
	}
	for _, other := range []*processing.Picture{deep, real} {
		if got := detect(t, other, processing.DefaultParams(),
			processing.Options{}); !bytes.Equal(got.Mask.Pix, want.Mask.Pix) {
			t.Errorf("%d bits give another mask than 8 bits", other.Depth())
		}
	}
}

func TestWorkersAgree(t *testing.T) {
	t.Parallel()
	pic := glaring(t, 411, 307, 16, 5)
	want := detect(t, pic, processing.DefaultParams(), processing.Options{})
	for _, n := range []int{1, 3} {
		be := cpu.New(cpu.Workers(n))
		got, err := processing.Detect(context.Background(), be, pic, processing.DefaultParams(), processing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Mask.Pix, want.Mask.Pix) {
			t.Errorf("%d workers give another mask", n)
		}
		be.Close()
	}
}

// bySteps hides that a backend is frugal, so that detection goes step by step.
type bySteps struct{ processing.Backend }

func TestFrugalAgrees(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{411, 307}, {1, 1}, {1, 90}, {120, 1}} {
		pic := glaring(t, size[0], size[1], 8, 7)
		for _, detector := range []processing.Detector{processing.DetectClassic, processing.DetectJoined} {
			p := processing.DefaultParams()
			p.Detector = detector
			want := detect(t, pic, p, processing.Options{})
			be := cpu.New()
			got, err := processing.Detect(context.Background(), bySteps{be}, pic, p, processing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Mask.Pix, want.Mask.Pix) || !reflect.DeepEqual(got.Findings, want.Findings) {
				t.Errorf("%d × %d, detector %d: by steps there is another mask, or other findings", size[0], size[1], detector)
			}
			be.Close()
		}
	}
}

// TestRegionClips: detection in a region sees the same surroundings as on the whole picture.
func TestRegionClips(t *testing.T) {
	t.Parallel()
	pic := glaring(t, 210, 150, 8, 3)
	p := processing.DefaultParams()
	p.Margin = 2
	whole := detect(t, pic, p, processing.Options{})
	if whole.Mask.Area() == 0 {
		t.Fatal("nothing found: the test shows nothing")
	}
	be := cpu.New()
	defer be.Close()
	rapid.Check(t, func(rt *rapid.T) {
		r := &processing.Region{Shape: processing.Shape(rapid.IntRange(0, 2).Draw(rt, "shape"))}
		for range rapid.IntRange(3, 6).Draw(rt, "points") {
			r.Points = append(r.Points, processing.Point{X: rapid.Float64Range(-20, 230).Draw(rt, "x"),
				Y: rapid.Float64Range(-20, 170).Draw(rt, "y")})
		}
		if r.Shape != processing.PolygonShape {
			r.Points = r.Points[:2]
		}
		got, err := processing.Detect(context.Background(), be, pic, p, processing.Options{Region: r})
		if errors.Is(err, processing.ErrRegionOutside) {
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		inside := make([]bool, 210*150)
		for y := range 150 {
			for _, s := range r.Spans(y, 210) {
				for x := s.X0; x < s.X1; x++ {
					inside[y*210+x] = true
				}
			}
		}
		for i, v := range got.Mask.Pix {
			want := uint8(0)
			if inside[i] {
				want = whole.Mask.Pix[i]
			}
			if v != want {
				rt.Fatalf("%v: pixel %d,%d is %d, want %d", r, i%210, i/210, v, want)
			}
		}
		for _, f := range got.Findings {
			for _, run := range f.Runs {
				for x := run.X0; x < run.X1; x++ {
					if !inside[run.Y*210+x] {
						rt.Fatalf("finding %d reaches out of %v", f.ID, r)
					}
				}
			}
		}
	})
}

// TestTakenOver: the values that adaptive mode chose give the same mask in manual mode.
func TestTakenOver(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	pic := glaring(t, 420, 300, 8, 3)
	p := processing.DefaultParams()
	p.Sensitivity, p.Close = 0.5, 1
	adaptive := detect(t, pic, p, processing.Options{})
	if adaptive.Params.Mode != processing.Manual || len(adaptive.Chosen) == 0 {
		t.Fatalf("adaptive mode gives mode %v and %d chosen values", adaptive.Params.Mode, len(adaptive.Chosen))
	}
	manual := detect(t, pic, adaptive.Params, processing.Options{})
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

// TestCandidates: every pixel that adaptive detection accepts lies on or beside a candidate of enough score.
func TestCandidates(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	pic := glaring(t, 420, 300, 8, 3)
	be := cpu.New()
	defer be.Close()
	cands, err := processing.Candidates(context.Background(), be, pic, processing.DefaultParams(), processing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	score := make([]float64, 420*300)
	for i := range score {
		score[i] = math.Inf(-1)
	}
	for _, c := range cands {
		area := 0
		for _, r := range c.Runs {
			area += r.X1 - r.X0
			for x := r.X0; x < r.X1; x++ {
				score[r.Y*420+x] = c.Score
			}
		}
		if len(c.Measures) == 0 || area == 0 {
			t.Fatalf("a candidate of %d pixels has %d measures", area, len(c.Measures))
		}
	}
	res := detect(t, pic, processing.DefaultParams(), processing.Options{})
	if len(res.Findings) == 0 || len(res.Findings) >= len(cands) {
		t.Fatalf("%d findings of %d candidates", len(res.Findings), len(cands))
	}
	for _, f := range res.Findings {
		best := math.Inf(-1)
		for _, r := range f.Runs {
			for x := r.X0; x < r.X1; x++ {
				best = math.Max(best, score[r.Y*420+x])
			}
		}
		if best < 0 || best != f.Score {
			t.Errorf("finding %d has score %v, its best candidate %v", f.ID, f.Score, best)
		}
	}
}

// TestManualRules: each rule drops what it is meant to drop, and nothing else.
func TestManualRules(t *testing.T) {
	t.Parallel()
	white := [3]uint8{255, 255, 255}
	pic := spots(200, 120, white, [3]int{40, 40, 3}, [3]int{100, 40, 5})
	for x := 20; x < 180; x++ { // a thin stroke
		for y := 90; y < 93; y++ {
			copy(pic.U8[3*(y*200+x):], white[:])
		}
	}
	for _, at := range []int{150, 151, 152} { // a saturated red spot
		for y := 38; y < 41; y++ {
			copy(pic.U8[3*(y*200+at):], []uint8{255, 120, 70})
		}
	}
	base := processing.DefaultParams()
	base.Mode, base.Score, base.Contrast, base.Level, base.MaxElongation = processing.Manual, -20, 5, 50, 100
	count := func(change func(p *processing.Params)) int {
		p := base
		change(&p)
		return len(detect(t, pic, p, processing.Options{}).Findings)
	}
	for _, c := range []struct {
		name   string
		change func(p *processing.Params)
		want   int
	}{
		{"no rule", func(*processing.Params) {}, 4},
		{"line residue: the stroke goes", func(p *processing.Params) { p.MinLine = 30 }, 3},
		{"elongation: the stroke goes", func(p *processing.Params) { p.MaxElongation = 10 }, 3},
		{"colour: the red spot goes", func(p *processing.Params) { p.ColourGate = true }, 3},
		{"top-hat: the weak spot goes", func(p *processing.Params) { p.MinTopHat = 150 }, 3},
		{"guard ring: all stand out", func(p *processing.Params) { p.MinZ = 1 }, 4},
		{"smallest area: only the large disc and the stroke stay", func(p *processing.Params) { p.MinArea = 40 }, 2},
		{"largest area: only the small disc and the red spot stay", func(p *processing.Params) { p.MaxArea = 40 }, 2},
		{"score: nothing is certain enough", func(p *processing.Params) { p.Score, p.Sensitivity = 20, -5 }, 0},
	} {
		if got := count(c.change); got != c.want {
			t.Errorf("%s: %d findings, want %d", c.name, got, c.want)
		}
	}
}

func TestCleanup(t *testing.T) {
	t.Parallel()
	pic := spots(60, 60, [3]uint8{255, 255, 255}, [3]int{30, 30, 4})
	area := func(change func(p *processing.Params)) (n int, soft bool) {
		p := processing.DefaultParams()
		change(&p)
		m := detect(t, pic, p, processing.Options{}).Mask
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

func TestProgressRises(t *testing.T) {
	t.Parallel()
	for detector, least := range map[processing.Detector]int{
		processing.DetectNetwork: 4, processing.DetectClassic: 10, processing.DetectJoined: 11,
	} {
		var mu sync.Mutex
		last, calls := -1.0, 0
		p := processing.DefaultParams()
		p.Detector = detector
		detect(t, glaring(t, 200, 150, 8, 1), p,
			processing.Options{Progress: func(stage message.Message, done float64) {
				mu.Lock()
				defer mu.Unlock()
				if done < last || done > 1 || stage.IsZero() {
					t.Errorf("detector %d: progress %v after %v in stage %q", detector, done, last, stage.String())
				}
				last, calls = done, calls+1
			}})
		if calls < least || last < 0.7 {
			t.Errorf("detector %d: %d calls, the last at %v", detector, calls, last)
		}
	}
}

// looked is a context that is cancelled after it has been checked a given number of times.
type looked struct {
	context.Context
	left, after atomic.Int64
}

func cancelledAt(looks int) *looked {
	c := &looked{Context: context.Background()}
	c.left.Store(int64(looks))
	return c
}

func (c *looked) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	c.after.Add(1)
	return context.Canceled
}

// cancels runs job to the end, where it must check its context at least so many times, and then cancels it at eight of
// these checks. After the cancel each worker and each nested stage may check once more.
func cancels(t *testing.T, least int, job func(ctx context.Context) error) {
	t.Helper()
	const plenty = 1 << 40
	all := cancelledAt(plenty)
	if err := job(all); err != nil {
		t.Fatal(err)
	}
	looks := plenty - int(all.left.Load())
	if looks < least {
		t.Errorf("looked at its context %d times, want at least %d", looks, least)
	}
	// The number of checks varies a little with the order in which workers finish.
	for n := 0; n < looks*9/10; n += 1 + looks/9 {
		c := cancelledAt(n)
		if err := job(c); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at look %d of %d: error %v", n, looks, err)
		}
		if after := c.after.Load(); after > 24 {
			t.Errorf("cancelled at look %d of %d, and looked %d times more", n, looks, after)
		}
	}
}

// TestCancel cancels detection at every stage: it must stop at once and leave nothing behind.
func TestCancel(t *testing.T) {
	t.Parallel()
	w, h := 600, 450
	if testing.Short() {
		w, h = 360, 270
	}
	pic := glaring(t, w, h, 8, 2)
	be := cpu.New(cpu.Workers(2))
	defer be.Close()
	for detector, least := range map[processing.Detector]int{
		// Some twenty passes over the picture, with a check every 1024 pixels: microseconds.
		processing.DetectClassic: 15 * w * h / 1024,
		// The network checks once per tile, which takes milliseconds.
		processing.DetectNetwork: w * h / 5400,
	} {
		p := processing.DefaultParams()
		p.Detector = detector
		cancels(t, least, func(ctx context.Context) error {
			_, err := processing.Detect(ctx, be, pic, p, processing.Options{})
			if planes, size := be.Live(); planes != 0 {
				t.Errorf("%d planes of %d bytes left after a cancel", planes, size)
			}
			return err
		})
	}
}
