package fit

import (
	"math"
	"math/rand/v2"
	"slices"
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

// TestScale: the sums of a scale fall, and leave the false findings that the steps say.
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
