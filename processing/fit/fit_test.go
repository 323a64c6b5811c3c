package fit

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"blik/processing"
)

// TestLogistic fits rows drawn from a known rule.
func TestLogistic(t *testing.T) {
	t.Parallel()
	list := processing.Measures()
	at := func(name string) int {
		return slices.IndexFunc(list, func(m processing.Measure) bool { return m.Name == name })
	}
	rise, area, network := at("rise"), at("area"), at("network")
	r := rand.New(rand.NewPCG(1, 2))
	var rows []Row
	for range 20000 {
		m := make([]float64, len(list))
		m[rise], m[area], m[network] = r.NormFloat64(), 5+2*r.NormFloat64(), r.NormFloat64()
		p := 1 / (1 + math.Exp(-(0.5 + 1.5*m[rise] - 0.4*(m[area]-5))))
		rows = append(rows, Row{m, r.Float64() < p, 1})
	}
	rule, err := Logistic(rows, processing.FromPicture)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"rise": 1.5, "area": -0.8}
	if len(rule.Weights) != len(want) {
		t.Errorf("weights %+v: what does not vary, and other sources, must be left out", rule.Weights)
	}
	for _, w := range rule.Weights {
		if math.Abs(w.Weight-want[w.Measure]) > 0.1 {
			t.Errorf("%s has the weight %g, want %g", w.Measure, w.Weight, want[w.Measure])
		}
	}
	for i := range rows {
		rows[i].Glare = true
	}
	if _, err := Logistic(rows, processing.FromPicture); err == nil {
		t.Error("rows of one kind were fitted")
	}
}

func TestFolds(t *testing.T) {
	t.Parallel()
	folds := Folds([]string{"p002", "p018", "munch", "p003", "p002", "p013"}, 3)
	want := map[string]int{"munch": 0, "p002": 1, "p003": 2, "p013": 0, "p018": 0}
	for name, fold := range want {
		if folds[name] != fold {
			t.Errorf("%s is in fold %d, want %d", name, folds[name], fold)
		}
	}
	for file, want := range map[string]string{
		"p002_sargent_madame_x_a.jpg": "p002", "n11_gauguin_mahana.png": "p038", "the_scream_munch.jpg": "munch",
	} {
		if got := Painting(file); got != want {
			t.Errorf("%s is of %s, want %s", file, got, want)
		}
	}
}

// TestScale: the sums of a scale fall, and give the numbers of false findings of its steps.
func TestScale(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	s := scored{Example: &Example{Kind: "clean", Truth: processing.NewMask(2000, 1500)}}
	for range 9000 {
		s.sums = append(s.sums, r.NormFloat64())
	}
	got := scale([]scored{s})
	for i := 1; i < len(got.Sums); i++ {
		if got.Sums[i] >= got.Sums[i-1] {
			t.Fatalf("sums %v do not fall", got.Sums)
		}
	}
	for step := range 5 {
		n := 0
		for _, v := range s.sums {
			if v > at(&got, float64(step)) {
				n++
			}
		}
		if want := 3 * BalancedRate * math.Pow(StepRate, float64(step)); math.Abs(float64(n)-want) > 1 {
			t.Errorf("%d false findings at the step %d, want %.0f", n, step, want)
		}
	}
	if empty := scale(nil); len(empty.Sums) != len(got.Sums) {
		t.Errorf("without clean pictures: %v", empty)
	}
}

// TestMedianResidual compares with sorting every window.
func TestMedianResidual(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, size := range [][2]int{{1, 1}, {3, 40}, {50, 7}, {33, 29}} {
		w, h := size[0], size[1]
		pic := &processing.Picture{Width: w, Height: h, Channels: 3, U8: make([]uint8, 3*w*h)}
		for i := range pic.U8 {
			pic.U8[i] = uint8(60 + r.IntN(40))
			if r.IntN(30) == 0 {
				pic.U8[i-i%3] = 255
				pic.U8[i-i%3+1] = uint8(r.IntN(256))
				pic.U8[i-i%3+2] = uint8(200 + r.IntN(56))
			}
		}
		dark := func(x, y int) int { return int(slices.Min(pic.U8[3*(y*w+x) : 3*(y*w+x)+3])) }
		got := medianResidual(pic)
		for y := range h {
			for x := range w {
				var window []int
				for v := max(y-10, 0); v <= min(y+10, h-1); v++ {
					for u := max(x-10, 0); u <= min(x+10, w-1); u++ {
						window = append(window, dark(u, v))
					}
				}
				slices.Sort(window)
				if want := dark(x, y)-window[len(window)/2] > 80; (got.Pix[y*w+x] != 0) != want {
					t.Fatalf("%d × %d: at %d, %d the mask has %d, want %t", w, h, x, y, got.Pix[y*w+x], want)
				}
			}
		}
	}
}

// TestGlints: which glints of three levels on grey ground are bright, and which rise strongly.
func TestGlints(t *testing.T) {
	t.Parallel()
	const w, h = 90, 30
	pic := &processing.Picture{Width: w, Height: h, Channels: 3, U8: make([]uint8, 3*w*h)}
	for i := range pic.U8 {
		pic.U8[i] = 60
	}
	truth := processing.NewMask(w, h)
	levels := []uint8{110, 150, 255}
	for k, level := range levels {
		for y := 10; y < 13; y++ {
			for x := 15 + 30*k; x < 18+30*k; x++ {
				truth.Pix[y*w+x] = 255
				copy(pic.U8[3*(y*w+x):], []uint8{level, level, level})
			}
		}
	}
	e := NewExample("", "spots", "spots", "", pic, truth)
	if len(e.Glints) != len(levels) {
		t.Fatalf("%d glints, want %d", len(e.Glints), len(levels))
	}
	// Linear light: 60 is 0.045, 110 is 0.16, 150 is 0.30 and 255 is 1.
	for i, want := range []Glint{{}, {Bright: true}, {Bright: true, Strong: true}} {
		if g := e.Glints[i]; g.Bright != want.Bright || g.Strong != want.Strong {
			t.Errorf("level %d: bright %t, strong %t", levels[i], g.Bright, g.Strong)
		}
	}
	// Only the last two exceed their surroundings by 80 levels.
	if m := e.Median; m.P != 1 || math.Abs(m.R-2.0/3) > 1e-9 {
		t.Errorf("the median residual has P %g and R %g", m.P, m.R)
	}
}

// TestReportWhole judges, by the scores that a search returns, one finding that is glare and one that is not.
func TestReportWhole(t *testing.T) {
	t.Parallel()
	truth := processing.NewMask(40, 25)
	for x := 5; x < 9; x++ {
		truth.Pix[3*40+x] = 255
	}
	examples := []Example{
		{Kind: "spots", Group: "spots", Painting: "a", Truth: truth},
		{Kind: "clean", Group: "clean", Painting: "b", Truth: processing.NewMask(40, 25)},
	}
	folds := map[string]int{"a": 0, "b": 1}
	scale := processing.Scale{Least: -1, Sums: []float64{2, 1, 0}}
	rules := []*processing.Rule{{Offset: 1}, {Offset: 2}}
	d := &processing.Decision{Auto: "joined", Rules: map[string]*processing.Rule{"joined": {Scale: scale}}}
	var out strings.Builder
	err := reportWhole(t.Context(), &out, examples, folds, d, rules,
		func(_ context.Context, example int, d *processing.Decision) ([]processing.Candidate, error) {
			rule := d.Rules["joined"]
			if want := float64(example + 1); rule.Offset != want || !slices.Equal(rule.Scale.Sums, scale.Sums) {
				t.Errorf("example %d is searched by %+v", example, rule)
			}
			return []processing.Candidate{
				{Score: 0.5, Runs: []processing.Run{{Y: 3, X0: 5, X1: 9}}},
				{Score: -0.5, Runs: []processing.Run{{Y: 20, X0: 5, X1: 39}}},
			}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	spots := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "spots") })
	clean := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "clean ") })
	if spots < 0 || !strings.Contains(lines[spots], " 1.000 1.000 1.000 ") {
		t.Errorf("what the whole detection accepts is not what was judged:\n%s", out.String())
	}
	// One finding of 4 pixels on 1,000.
	if clean < 0 || !strings.Contains(lines[clean], " 1000.0   4000   4000") {
		t.Errorf("the false finding was not counted:\n%s", out.String())
	}
}
