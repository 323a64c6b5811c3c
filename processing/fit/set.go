package fit

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"blik/processing"
	"blik/processing/network"
	"blik/processing/score"
)

// Example is a picture whose glare is known, with the candidates that each rule decides on.
type Example struct {
	// Name is for tables. Kind is that of synth.Example: "condition", "spots", "varied" or "clean". Group is the
	// heading in tables: the condition, or the kind.
	Name, Kind, Group string
	// Painting is unchanged rendered on. All examples of a painting are left out together.
	Painting string
	// Truth is 255 where glare is, 128 where that is uncertain.
	Truth *processing.Mask
	// Glints are the connected parts of the truth of at least three pixels.
	Glints []Glint
	// Median is the result of the simplest detector: the darkest channel minus its median over 21 × 21, above 80.
	Median score.Metrics
	// Candidates are the candidates of each rule, by its ID.
	Candidates map[string][]processing.Candidate
	// Exposed are the candidates of each rule at each of Exposures; nil if they were not asked for.
	Exposed map[string][][]processing.Candidate
}

// Glint is a true glint.
type Glint struct {
	Runs []processing.Run
	// Bright: its darkest channel peaks at the level BrightLevel or above.
	Bright bool
	// Strong: its luminance rises by more than StrongRise of white over the mean of the pixels without glare within 9
	// px.
	Strong bool
}

// StrongRise is the rise of linear luminance of a strong glint.
const StrongRise = 0.3

// BrightLevel is the level, of 255, that separates bright glints from dim ones.
const BrightLevel = 120

// NewExample returns an example of the picture with the given truth, without candidates.
func NewExample(name, kind, group, painting string, pic *processing.Picture, truth *processing.Mask) Example {
	e := Example{Name: name, Kind: kind, Group: group, Painting: painting, Truth: truth}
	w := truth.Width
	sure := processing.NewMask(w, truth.Height)
	for i, t := range truth.Pix {
		if t == 255 {
			sure.Pix[i] = 255
		}
	}
	for _, runs := range score.Components(sure) {
		g := Glint{Runs: runs}
		pixels := 0
		for _, r := range runs {
			pixels += r.X1 - r.X0
			ch := pic.Channels
			for i := (r.Y*w + r.X0) * ch; i < (r.Y*w+r.X1)*ch && !g.Bright; i += ch {
				g.Bright = slices.Min(pic.U8[i:i+ch]) >= BrightLevel
			}
		}
		if pixels >= 3 {
			g.Strong = e.rise(pic, runs) > StrongRise
			e.Glints = append(e.Glints, g)
		}
	}
	e.Median = e.against(medianResidual(pic))
	return e
}

// rise returns how far the linear luminance of a glint's brightest pixel exceeds the mean of the pixels without glare
// within 9 px.
func (e *Example) rise(pic *processing.Picture, runs []processing.Run) float64 {
	t, w := pic.Tables(), e.Truth.Width
	light := func(i int) float64 {
		p := pic.U8[i*pic.Channels:]
		if pic.Channels == 1 {
			return float64(t.Linear8[p[0]]) / 65535
		}
		y := processing.LuminanceRed*uint32(t.Linear8[p[0]]) + processing.LuminanceGreen*uint32(t.Linear8[p[1]]) +
			processing.LuminanceBlue*uint32(t.Linear8[p[2]])
		return float64(y) / 65536 / 65535
	}
	peak, sum, n := 0.0, 0.0, 0.0
	left, right := w, 0
	for _, r := range runs {
		left, right = min(left, r.X0), max(right, r.X1)
		for x := r.X0; x < r.X1; x++ {
			peak = math.Max(peak, light(r.Y*w+x))
		}
	}
	const margin = 9
	top, base := max(runs[0].Y-margin, 0), min(runs[len(runs)-1].Y+margin+1, e.Truth.Height)
	for y := top; y < base; y++ {
		for x := max(left-margin, 0); x < min(right+margin, w); x++ {
			if e.Truth.Pix[y*w+x] == 0 {
				sum += light(y*w + x)
				n++
			}
		}
	}
	return peak - sum/math.Max(n, 1)
}

// Rules returns the rules that are fitted.
func Rules() []FittedRule {
	return []FittedRule{
		{processing.RuleJoined, processing.DetectJoined,
			[]processing.Source{processing.FromPicture, processing.FromNetwork, processing.FromSearch}},
		{processing.RuleNetwork, processing.DetectNetwork,
			[]processing.Source{processing.FromPicture, processing.FromNetwork}},
		{processing.RuleClassic, processing.DetectClassic,
			[]processing.Source{processing.FromPicture, processing.FromSearch, processing.FromExposure}},
	}
}

// FittedRule is a rule that is fitted: the detector that finds its candidates, and the sources of their measures.
type FittedRule struct {
	ID       string
	Detector processing.Detector
	Sources  []processing.Source
}

// judged compares a candidate with the truth.
func (e *Example) judged(c *processing.Candidate) (pixels, hits, unsure int) {
	for _, r := range c.Runs {
		for _, t := range e.Truth.Pix[r.Y*e.Truth.Width+r.X0 : r.Y*e.Truth.Width+r.X1] {
			pixels++
			switch t {
			case 255:
				hits++
			case 128:
				unsure++
			}
		}
	}
	return pixels, hits, unsure
}

// rows returns the candidates of a rule as rows to fit on. A candidate counts as glare if more than a third of its
// certain pixels are. Its weight is √pixels, at most that of 60, times how clear the case is.
func (e *Example) rows(rule string) []Row {
	const most = 60
	var rows []Row
	sum := 0.0
	for i := range e.Candidates[rule] {
		c := &e.Candidates[rule][i]
		pixels, hits, unsure := e.judged(c)
		if pixels == 0 || hits == 0 && 2*unsure >= pixels {
			continue
		}
		clear := min(3*float64(hits)/float64(pixels-unsure)-1, 1)
		r := Row{c.Measures, clear > 0, math.Sqrt(math.Min(float64(pixels), most)) * math.Abs(clear)}
		if e.Kind == "clean" {
			r.Weight *= cleanWeight
		}
		if r.Glare {
			sum += r.Weight
		}
		rows = append(rows, r)
	}
	// A picture full of glints must not outweigh many others.
	if sum > fullPicture {
		for i := range rows {
			if rows[i].Glare {
				rows[i].Weight *= fullPicture / sum
			}
		}
	}
	return rows
}

const (
	cleanWeight = 1.5
	fullPicture = 150.0
)

// Folds returns the fold of each painting: by name in turn, with p013 and p018, whose clean crops judge the network,
// in the first. They are those of training/data.py.
func Folds(paintings []string, n int) map[string]int {
	first := []string{"p013", "p018"}
	var names []string
	for _, p := range paintings {
		if !slices.Contains(first, p) {
			names = append(names, p)
		}
	}
	slices.Sort(names)
	folds := map[string]int{}
	for i, name := range slices.Compact(names) {
		folds[name] = i % n
	}
	for _, name := range first {
		folds[name] = 0
	}
	return folds
}

// scored is an example with the sums of its candidates, by a rule that was not fitted on its painting.
type scored struct {
	*Example
	candidates []processing.Candidate
	sums       []float64
}

// leftOut returns every example with the sums of the requested candidates, by the rule that was fitted without its
// fold.
func leftOut(
	examples []Example, folds map[string]int, rules []*processing.Rule, of func(*Example) []processing.Candidate,
) []scored {
	out := make([]scored, len(examples))
	for i := range examples {
		e := &examples[i]
		out[i] = e.scored(of(e), rules[folds[e.Painting]])
	}
	return out
}

// withoutFolds returns the rule as fitted without each of n folds.
func withoutFolds(ctx context.Context, examples []Example, folds map[string]int, n int, rule string,
	sources []processing.Source,
) ([]*processing.Rule, error) {
	rules := make([]*processing.Rule, n)
	for fold := range rules {
		var rows []Row
		for i := range examples {
			if folds[examples[i].Painting] != fold {
				rows = append(rows, examples[i].rows(rule)...)
			}
		}
		var err error
		if rules[fold], err = Logistic(rows, sources...); err != nil {
			return nil, err
		}
	}
	return rules, ctx.Err()
}

// scored returns the example with candidates and their sums by a rule.
func (e *Example) scored(candidates []processing.Candidate, r *processing.Rule) scored {
	s := scored{Example: e, candidates: candidates}
	sum := r.Summer()
	for i := range candidates {
		s.sums = append(s.sums, sum(candidates[i].Measures))
	}
	return s
}

// mask returns the mask of what is accepted above a sum.
func (s *scored) mask(least float64) *processing.Mask {
	m := processing.NewMask(s.Truth.Width, s.Truth.Height)
	for i := range s.candidates {
		if s.sums[i] >= least {
			for _, r := range s.candidates[i].Runs {
				row := m.Pix[r.Y*m.Width+r.X0 : r.Y*m.Width+r.X1]
				for x := range row {
					row[x] = 255
				}
			}
		}
	}
	return m
}

// metrics scores what is accepted above a sum.
func (s *scored) metrics(least float64) score.Metrics { return s.against(s.mask(least)) }

// against scores a mask, which it changes; uncertain pixels count neither way.
func (s *Example) against(m *processing.Mask) score.Metrics {
	sure := processing.NewMask(m.Width, m.Height)
	for i, t := range s.Truth.Pix {
		switch t {
		case 255:
			sure.Pix[i] = 255
		case 128:
			m.Pix[i] = 0
		}
	}
	return score.Compare(m, sure, 1)
}

// Rates of false findings per megapixel of clean paintings: the rate at sensitivity 0, and the factor of each step.
const (
	BalancedRate = 6.0
	StepRate     = 2.5
)

// scale returns the sums at the sensitivities −5 … 5 from the false findings on clean examples. Where too few were
// found, the sums continue in the steps of those before.
func scale(all []scored) processing.Scale {
	const least, most, enough = -5, 5, 6
	var sums []float64
	pixels := 0
	for i := range all {
		s := &all[i]
		if s.Kind != "clean" {
			continue
		}
		pixels += len(s.Truth.Pix)
		sums = append(sums, s.sums...)
	}
	slices.SortFunc(sums, func(a, b float64) int { return cmp.Compare(b, a) })
	out := processing.Scale{Least: least, Sums: make([]float64, most-least+1)}
	measured := func(i int) (float64, bool) {
		n := BalancedRate * math.Pow(StepRate, float64(least+i)) * float64(pixels) / 1e6
		k := int(n + 0.5)
		if k < enough || k >= len(sums) {
			return 0, false
		}
		return sums[k], true
	}
	first, last := -1, -1
	for i := range out.Sums {
		if v, ok := measured(i); ok {
			if first < 0 {
				first = i
			}
			out.Sums[i], last = v, i
		}
	}
	if last-first < 1 {
		first, last = 0, len(out.Sums)-1
		out.Sums[first], out.Sums[last] = 5, -5
	}
	step := (out.Sums[first] - out.Sums[last]) / float64(last-first)
	for i := first - 1; i >= 0; i-- {
		out.Sums[i] = out.Sums[i+1] + step
	}
	for i := last + 1; i < len(out.Sums); i++ {
		out.Sums[i] = out.Sums[i-1] - step
	}
	// Equal sums would make a step without effect.
	for i := 1; i < len(out.Sums); i++ {
		out.Sums[i] = math.Min(out.Sums[i], out.Sums[i-1]-step/100)
	}
	return out
}

// at returns the sum at a sensitivity.
func at(s *processing.Scale, sensitivity float64) float64 {
	i := min(max(int(math.Floor(sensitivity))-s.Least, 0), len(s.Sums)-2)
	f := sensitivity - float64(s.Least+i)
	return s.Sums[i] + (s.Sums[i+1]-s.Sums[i])*f
}

// Painting returns the painting of a file: crops of one painting share the part of their names before the first "_".
// It is the same as in training/data.py.
func Painting(file string) string {
	if strings.HasPrefix(file, "the_scream") {
		return "munch"
	}
	name, _, _ := strings.Cut(file, "_")
	return strings.Replace(name, "n11", "p038", 1)
}

// Find finds the candidates of every rule, and if exposed is set also those at each of Exposures; if model is nil, with
// the program's own network.
func (e *Example) Find(
	ctx context.Context, be processing.Backend, pic *processing.Picture, model *network.Model, exposed bool,
) error {
	e.Candidates = map[string][]processing.Candidate{}
	for _, r := range Rules() {
		p := processing.DefaultParams()
		p.Detector = r.Detector
		found, err := processing.Candidates(ctx, be, pic, p, processing.Options{Network: model})
		if err != nil {
			return err
		}
		e.Candidates[r.ID] = atFullSize(found)
	}
	if !exposed {
		return nil
	}
	return e.findExposed(ctx, be, pic, model)
}

// atFullSize returns the candidates that were found at the picture's own size: the decision is fitted on these.
func atFullSize(found []processing.Candidate) []processing.Candidate {
	return slices.DeleteFunc(found, func(c processing.Candidate) bool { return c.Reduced })
}
