package experiment

import (
	"slices"
	"strings"
	"testing"
	"time"

	"blik/app/i18n"
	"blik/internal/message"
)

func TestJudges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		judge        func(ratio, paper float64) Verdict
		ratio, paper float64
		want         Verdict
	}{
		{"near", near, 15, 15, Confirmed},
		{"near", near, 22, 15, Confirmed},
		{"near", near, 23, 15, Different},
		{"near", near, 9, 15, Different},
		{"near", near, 1.06, 15, Different},
		{"near", near, 1.04, 15, NotConfirmed},
		{"near", near, 0.5, 15, NotConfirmed},
		{"near, faster", near, 0.25, 0.24, Confirmed},
		{"near, faster", near, 0.9, 0.24, Different},
		{"near, faster", near, 1, 0.24, NotConfirmed},
		{"flat", flat, 0.7, 1, Confirmed},
		{"flat", flat, 1.1, 1, Confirmed},
		{"flat", flat, 1.2, 1, Different},
		{"flat", flat, 1.6, 1, NotConfirmed},
		{"equal", equal, 1.1, 1, Confirmed},
		{"equal", equal, 0.9, 1, Confirmed},
		{"equal", equal, 0.5, 1, Different},
		{"equal", equal, 1.4, 1, Different},
		{"equal", equal, 2.5, 1, NotConfirmed},
		{"above", clearlyAbove, 1.3, 0, Confirmed},
		{"above", clearlyAbove, 1.1, 0, Different},
		{"above", clearlyAbove, 1, 0, NotConfirmed},
	} {
		if got := c.judge(c.ratio, c.paper); got != c.want {
			t.Errorf("%s of %g against %g: %s, want %s", c.name, c.ratio, c.paper, got, c.want)
		}
	}
}

func timed(variant string, s Size, ms int, values ...string) Row {
	c := Case{s, map[string]string{}}
	for i := 0; i < len(values); i += 2 {
		c.Values[values[i]] = values[i+1]
	}
	d := time.Duration(ms) * time.Millisecond
	return Row{Variant: Variant{ID: variant}, Case: c, State: Measured, Spread: Spread{Median: d, Q1: d, Q3: d}}
}

func TestAlong(t *testing.T) {
	t.Parallel()
	small, large := Size{10, 10}, Size{20, 20}
	rows := []Row{
		timed("a", small, 10, "m", "9"), timed("a", small, 8, "m", "5"), timed("a", small, 12, "m", "101"),
		timed("a", large, 40, "m", "5"), timed("a", large, 80, "m", "9"),
		timed("b", small, 1, "m", "5"), timed("b", small, 99, "m", "101"), timed("b", small, 99, "m", "31"),
	}
	if r, ok := along("a", "m")(rows); !ok || r.value != 1.5 || r.where != "a, 10×10, m = 101 / 5 (5…101)" {
		t.Errorf("%+v, %v", r, ok)
	}
	// A time that grows and falls again is not flat.
	hill := []Row{timed("a", small, 9, "m", "101"), timed("a", small, 8, "m", "5"), timed("a", small, 16, "m", "31")}
	if r, ok := along("a", "m")(hill); !ok || r.value != 2 || r.where != "a, 10×10, m = 31 / 5 (5…101)" {
		t.Errorf("%+v, %v", r, ok)
	}
	falls := []Row{timed("a", small, 8, "m", "5"), timed("a", small, 4, "m", "31"), timed("a", small, 6, "m", "101")}
	if r, ok := along("a", "m")(falls); !ok || r.value != 0.75 {
		t.Errorf("%+v, %v", r, ok)
	}
	// Of cases with equally many values, the larger size counts.
	if r, ok := along("a", "m")(rows[1:5]); !ok || r.value != 2 {
		t.Errorf("%+v, %v", r, ok)
	}
	if _, ok := along("a", "m")(rows[:1]); ok {
		t.Error("one value tells nothing")
	}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	small, large := Size{10, 10}, Size{20, 20}
	rows := []Row{
		timed("a", small, 10, "m", "5"), timed("b", small, 5, "m", "5"),
		timed("a", large, 90, "m", "5"), timed("b", large, 30, "m", "5"),
		timed("a", large, 70, "m", "9"), timed("a", Size{99, 99}, 70, "m", "9"),
	}
	if r, ok := between("a", "b", nil)(rows); !ok || r.value != 3 {
		t.Errorf("%+v, %v", r, ok)
	}
	if _, ok := between("a", "b", having("m", "9"))(rows); ok {
		t.Error("there is no b at m = 9")
	}
}

func TestSpeedupGrows(t *testing.T) {
	t.Parallel()
	rows := []Row{
		timed("seq", Line(10), 10), timed("par", Line(10), 10),
		timed("seq", Line(100), 100), timed("par", Line(100), 25),
	}
	if r, ok := growth("seq", "par")(rows); !ok || r.value != 4 || !strings.Contains(string(r.where), "10; 4, 100") {
		t.Errorf("%+v, %v", r, ok)
	}
	if r, ok := perElement("par", 1)(rows); !ok || r.value != 0.25 {
		t.Errorf("%+v, %v", r, ok)
	}
	if _, ok := perElement("par", 50)(rows); ok {
		t.Error("one size tells nothing")
	}
}

func TestConclusions(t *testing.T) {
	t.Parallel()
	e := &Experiment{Claims: []Claim{
		{Text: message.Of("faster"), Paper: 2, measure: between("a", "b", nil), judge: near, missing: onGPU()},
		{Text: message.Of("flat"), measure: along("a", "m"), judge: flat, missing: moreCases()},
	}}
	row := timed("a", Size{4, 4}, 30)
	broken := timed("b", Size{5, 5}, 1)
	broken.State = Failed
	got := e.conclude([]Row{row, timed("b", Size{4, 4}, 5), timed("a", Size{5, 5}, 9), broken})
	if got[0].Verdict != Different || got[0].Ratio != 6 ||
		got[0].Text.String() != "Different: faster: 6 × here (quartiles 6…6; a / b, 4×4), 2 × in the paper" ||
		i18n.For("ru").Sprint(got[0].Text) != "Иначе: faster: здесь ×6 (квартили 6…6; a / b, 4×4), в статье ×2" {
		t.Errorf("%+v", got[0])
	}
	// The medians confirm 2 ×, but the quartiles reach to 4 ×.
	unsure := timed("a", Size{4, 4}, 10)
	unsure.Q3 = 20 * time.Millisecond
	d := e.conclude([]Row{unsure, timed("b", Size{4, 4}, 5)})[0]
	if d.Verdict != Confirmed || !d.Unsure || d.Ratio != 2 || d.Low != 2 || d.High != 4 ||
		!strings.HasSuffix(d.Text.String(), "2 × in the paper; the spread of the times allows another conclusion") {
		t.Errorf("%+v", d)
	}
	if got[0].Unsure {
		t.Error("nothing is spread here")
	}
	if got[1].Verdict != Open || got[1].Text.String() != "Open: flat (the paper gives no figure): the measured cases "+
		"do not show it" ||
		i18n.For("ru").Sprint(got[1].Text) != "Не проверено: flat (в статье числа нет): среди измеренного нет нужных "+
			"случаев" {
		t.Errorf("%+v", got[1])
	}
	// With a GPU, cases are missing, not the GPU.
	for device, want := range map[Device]string{CPU: "needs an NVIDIA GPU", GPU: "the measured cases do not show it"} {
		alone := timed("a", Size{4, 4}, 30)
		alone.Variant.Device = device
		if got := e.conclude([]Row{alone})[0]; got.Verdict != Open || !strings.HasSuffix(got.Text.String(), want) {
			t.Errorf("on %s: %s", device, got.Text.String())
		}
	}
}

// Every claim can be judged by the default cases if all rows are measured: with equal times, all ratios are 1, except
// those of times per element.
func TestClaimsAreMeasured(t *testing.T) {
	t.Parallel()
	for _, e := range All() {
		var rows []Row
		for _, g := range e.Grids {
			for _, c := range e.cases(g) {
				for _, v := range e.Variants {
					r := Row{Variant: v, Case: c.without(v.Ignores), State: Measured,
						Spread: Spread{Median: 1, Q1: 1, Q3: 1}}
					if !slices.ContainsFunc(rows, func(s Row) bool {
						return s.Variant.ID == v.ID &&
							s.Case.key() == r.Case.key()
					}) {
						rows = append(rows, r)
					}
				}
			}
		}
		for _, c := range e.conclude(rows) {
			if c.Verdict == Open || c.Ratio != 1 && e.ID != "sum" {
				t.Errorf("%s: %s", e.ID, c.Text.String())
			}
		}
	}
}
