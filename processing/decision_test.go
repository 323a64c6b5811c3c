package processing

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"blik/processing/internal/span"
)

func TestDefaultDecision(t *testing.T) {
	t.Parallel()
	d, err := DefaultDecision()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{RuleJoined, RuleNetwork, RuleClassic} {
		if d.Rules[id] == nil || len(d.Rules[id].Weights) == 0 {
			t.Errorf("the rule %q is missing", id)
		}
	}
	names := stopNames()
	for i, s := range d.Stops {
		if names[s.ID].IsZero() {
			t.Errorf("the stop %q has no name", s.ID)
		}
		if i > 0 && (s.Sensitivity <= d.Stops[i-1].Sensitivity || s.Bright < d.Stops[i-1].Bright) {
			t.Errorf("%s finds less than the stop before", s.ID)
		}
	}
	if len(d.Stops) != len(names) {
		t.Errorf("%d stops, want %d", len(d.Stops), len(names))
	}
}

func TestReadDecisionRefuses(t *testing.T) {
	t.Parallel()
	good := `{"version":1,"auto":"network","rules":{"network":{"weights":[{"measure":"rise","weight":1,"mean":0,` +
		`"deviation":1}],"scale":{"least":-1,"sums":[2,1,0]}}}}`
	if _, err := ReadDecision([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"version":1`, `"version":2`}, {`"auto":"network"`, `"auto":"joined"`}, {`"rise"`, `"luck"`},
		{`"deviation":1`, `"deviation":0`}, {`[2,1,0]`, `[2,2,0]`}, {`[2,1,0]`, `[2]`}, {`{"version"`, `"version"`},
		{`"network":{"weights"`, `"network":null,"other":{"weights"`},
	} {
		if _, err := ReadDecision([]byte(strings.Replace(good, c[0], c[1], 1))); err == nil {
			t.Errorf("%s for %s was accepted", c[1], c[0])
		}
	}
}

// TestScale: the score rises with the sum without a jump, and has the given values at the knots.
func TestScale(t *testing.T) {
	t.Parallel()
	s := Scale{Least: -2, Sums: []float64{3, 2.5, 1, -4}}
	for i, sum := range s.Sums {
		if got := s.Score(sum); math.Abs(got-float64(2-i)) > 1e-12 {
			t.Errorf("the sum %g has the score %g, want %d", sum, got, 2-i)
		}
	}
	last := math.Inf(-1)
	for sum := -20.0; sum < 20; sum += 0.01 {
		got := s.Score(sum)
		if got <= last || got-last > 0.1 && last > -1000 {
			t.Fatalf("at %g the score goes from %g to %g", sum, last, got)
		}
		last = got
	}
}

// TestReasons: the reasons of a candidate add up to its sum, apart from the offset and from contributions too small to
// list.
func TestReasons(t *testing.T) {
	t.Parallel()
	d, err := DefaultDecision()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for id, rule := range d.Rules {
		measures := make([]float64, len(Measures()))
		for i := range measures {
			measures[i] = r.NormFloat64() * 3
		}
		measures[3] = math.NaN()
		total, last := rule.Offset/rule.Scale.unit(), math.Inf(1)
		for _, reason := range rule.explainer()(measures) {
			total += reason.Value
			if math.Abs(reason.Value) > last {
				t.Errorf("%s: %s is out of order", id, reason.Message())
			}
			last = math.Abs(reason.Value)
			if text, err := json.Marshal(reason); err != nil || !json.Valid(text) {
				t.Errorf("%s: %s, %v", id, text, err)
			}
		}
		want := rule.Summer()(measures) / rule.Scale.unit()
		if math.Abs(total-want) > 0.05*float64(aspectCount) {
			t.Errorf("%s: reasons add up to %g, want %g", id, total, want)
		}
	}
}

// TestMerge compares with drawing the spans into a picture, one after the other.
func TestMerge(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	const w, h = 40, 6
	set := func(label uint32) (spans []Span) {
		pix := make([]uint8, w*h)
		for range 12 {
			x, n := r.IntN(w), 1+r.IntN(9)
			for i := x; i < min(x+n, w); i++ {
				pix[r.IntN(h)*w+i] = 1
			}
		}
		spans = span.Append(nil, pix, w, 0, h, 1)
		for i := range spans {
			spans[i].Label = label
		}
		return spans
	}
	for range 200 {
		a, b := set(1), set(2)
		want, got := make([]uint8, w*h), make([]uint8, w*h)
		span.Fill(want, w, a, 1)
		span.Fill(want, w, b, 1)
		merged := merge(a, b)
		for i, s := range merged {
			if i > 0 && merged[i-1].Y == s.Y && merged[i-1].X1 > s.X0 || s.X0 >= s.X1 {
				t.Fatalf("%v after %v", s, merged[i-1])
			}
		}
		span.Fill(got, w, merged, 1)
		if string(want) != string(got) {
			t.Fatalf("%v and %v gave %v", a, b, merged)
		}
	}
}
