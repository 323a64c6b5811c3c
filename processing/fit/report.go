package fit

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"blik/internal/parallel"
	"blik/processing"
	"blik/processing/score"
)

// stops returns the named settings of the sensitivity.
func stops() []processing.Stop {
	return []processing.Stop{
		{ID: "certain", Sensitivity: -2}, {ID: "balanced"}, {ID: "visible", Sensitivity: 2},
		{ID: "dim", Sensitivity: 4.5},
	}
}

// figures are the results of a rule on examples that it was not fitted on.
type figures struct {
	score.Metrics
	pictures                           int
	worst                              float64
	bright, brightFound, dim, dimFound int
	strong, strongFound                int
	median, medianTol                  float64 // F1 of the median residual, and with tolerance
	falseRate, ppm, worstPpm           float64
}

func (f *figures) share(found, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(found) / float64(all)
}

// measure returns the figures of the examples at a sensitivity.
func measure(all []scored, least float64) figures {
	type one struct {
		m                                  score.Metrics
		bright, brightFound, dim, dimFound int
		strong, strongFound                int
		ppm                                float64
	}
	parts := make([]one, len(all))
	parallel.Split(len(all), 1, func(a, b int) {
		for i := a; i < b; i++ {
			s, p := &all[i], &parts[i]
			p.m = s.metrics(least)
			mask := s.mask(least)
			p.ppm, _ = score.FalseAlarms(mask)
			for _, g := range s.Glints {
				found := touched(mask, g.Runs)
				if g.Strong {
					p.strong++
				}
				if g.Strong && found {
					p.strongFound++
				}
				switch {
				case g.Bright && found:
					p.bright, p.brightFound = p.bright+1, p.brightFound+1
				case g.Bright:
					p.bright++
				case found:
					p.dim, p.dimFound = p.dim+1, p.dimFound+1
				default:
					p.dim++
				}
			}
		}
	})
	f := figures{pictures: len(all), worst: 1}
	var metrics []score.Metrics
	findings, pixels := 0, 0
	for i, p := range parts {
		metrics = append(metrics, p.m)
		f.worst = min(f.worst, p.m.F1)
		f.bright += p.bright
		f.brightFound += p.brightFound
		f.dim += p.dim
		f.dimFound += p.dimFound
		f.strong += p.strong
		f.strongFound += p.strongFound
		f.median += all[i].Median.F1 / float64(len(all))
		f.medianTol += all[i].Median.F1Tol / float64(len(all))
		f.ppm += p.ppm / float64(len(all))
		f.worstPpm = max(f.worstPpm, p.ppm)
		findings += p.m.PredObjects
		pixels += len(all[i].Truth.Pix)
	}
	f.Metrics = score.Mean(metrics)
	f.falseRate = float64(findings) / (float64(pixels) / 1e6)
	return f
}

// touched reports whether a pixel of the mask lies in the runs or beside them.
func touched(m *processing.Mask, runs []processing.Run) bool {
	for _, r := range runs {
		for y := max(r.Y-1, 0); y <= min(r.Y+1, m.Height-1); y++ {
			for x := max(r.X0-1, 0); x < min(r.X1+1, m.Width); x++ {
				if m.Pix[y*m.Width+x] >= processing.MaskLevel {
					return true
				}
			}
		}
	}
	return false
}

// Search returns every spot that the whole detection considers in an example, reduced pictures included, scored by the
// decision.
type Search func(ctx context.Context, example int, d *processing.Decision) ([]processing.Candidate, error)

// Report fits every rule, judges it by cross-validation with n folds of paintings, prints tables, and returns the
// decision. With search, the automatic detector is also judged as a whole, by the decisions of the folds.
func Report(
	ctx context.Context, w io.Writer, examples []Example, n int, search Search,
) (*processing.Decision, error) {
	d := &processing.Decision{Version: processing.DecisionVersion, Rules: map[string]*processing.Rule{}}
	paintings := make([]string, len(examples))
	for i := range examples {
		paintings[i] = examples[i].Painting
	}
	folds := Folds(paintings, n)
	best := -1.0
	fitted := map[string][]*processing.Rule{}
	for _, rule := range Rules() {
		rules, err := withoutFolds(ctx, examples, folds, n, rule.ID, rule.Sources)
		if err != nil {
			return nil, err
		}
		fitted[rule.ID] = rules
		out := leftOut(examples, folds, rules, func(e *Example) []processing.Candidate { return e.Candidates[rule.ID] })
		var rows []Row
		for i := range examples {
			rows = append(rows, examples[i].rows(rule.ID)...)
		}
		r, err := Logistic(rows, rule.Sources...)
		if err != nil {
			return nil, err
		}
		r.Scale = scale(out)
		d.Rules[rule.ID] = r
		value := table(w, rule.ID, out, &r.Scale)
		if value > best {
			best, d.Auto = value, rule.ID
		}
		if d.Auto == rule.ID {
			d.Stops = stopTable(w, out, &r.Scale)
		}
	}
	fmt.Fprintf(w, "\nauto: %s\n", d.Auto)
	for _, rule := range Rules() {
		reportExposures(w, examples, folds, rule.ID, fitted[rule.ID])
	}
	if search != nil {
		err := reportWhole(ctx, w, examples, folds, d, fitted[d.Auto], search)
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// reportWhole prints what the automatic detector finds in the picture and in those reduced from it. Scores are those of
// rules, its weights fitted without each fold, on the scale of d.
func reportWhole(ctx context.Context, w io.Writer, examples []Example, folds map[string]int, d *processing.Decision,
	rules []*processing.Rule, search Search,
) error {
	decisions := make([]*processing.Decision, len(rules))
	for i, r := range rules {
		r.Scale = d.Rules[d.Auto].Scale
		decisions[i] = &processing.Decision{
			Version: d.Version, Auto: d.Auto, Rules: map[string]*processing.Rule{d.Auto: r},
		}
	}
	all := make([]scored, len(examples))
	err := parallel.Try(ctx, 0, len(all), func(ctx context.Context, tasks iter.Seq[int]) error {
		for i := range tasks {
			e := &examples[i]
			found, err := search(ctx, i, decisions[folds[e.Painting]])
			if err != nil {
				return err
			}
			all[i] = scored{Example: e, candidates: found}
			for _, c := range found {
				all[i].sums = append(all[i].sums, c.Score)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	table(w, d.Auto+", whole", all, &processing.Scale{Least: -1, Sums: []float64{1, 0, -1}})
	return nil
}

// table prints the results of a rule at sensitivity 0, and returns the mean F1 with tolerance over the kinds with
// glare.
func table(w io.Writer, rule string, all []scored, s *processing.Scale) float64 {
	fmt.Fprintf(w, "\n%-22s %5s %5s %5s %5s %5s %5s %5s | %6s %6s %6s | %6s %6s | %8s %6s %6s\n", rule, "P", "R", "F1",
		"worst", "F1t", "objR", "objP", "bright", "dim", "strong", "median", "F1t", "false/MP", "ppm", "worst")
	groups := map[string][]scored{}
	for _, x := range all {
		groups[x.Kind] = append(groups[x.Kind], x)
		if x.Kind == "clean" {
			groups["clean "+x.Painting] = append(groups["clean "+x.Painting], x)
		}
		if x.Group != x.Kind {
			groups[x.Kind+" "+x.Group] = append(groups[x.Kind+" "+x.Group], x)
		}
	}
	value, kinds := 0.0, 0.0
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := groups[name]
		f := measure(g, at(s, 0))
		if g[0].Kind == "clean" {
			fmt.Fprintf(w, "%-22s %86s| %8.1f %6.0f %6.0f\n", name, "", f.falseRate, f.ppm, f.worstPpm)
			continue
		}
		fmt.Fprintf(w, "%-22s %5.3f %5.3f %5.3f %5.3f %5.3f %5.3f %5.3f | %6.3f %6.3f %6.3f | %6.3f %6.3f |\n", name,
			f.P, f.R, f.F1, f.worst, f.F1Tol, f.ObjR, f.ObjP, f.share(f.brightFound, f.bright),
			f.share(f.dimFound, f.dim), f.share(f.strongFound, f.strong), f.median, f.medianTol)
		if name == g[0].Kind && name != "varied" {
			value, kinds = value+f.F1+f.F1Tol, kinds+2
		}
	}
	return value / max(kinds, 1)
}

// stopTable prints and returns the results of a rule at the named sensitivities.
func stopTable(w io.Writer, all []scored, s *processing.Scale) []processing.Stop {
	var glare, clean []scored
	for _, x := range all {
		if x.Kind == "clean" {
			clean = append(clean, x)
		} else {
			glare = append(glare, x)
		}
	}
	list := stops()
	fmt.Fprintf(w, "\n%-12s %6s %6s %6s %6s %6s %9s\n", "stop", "value", "bright", "dim", "objP", "F1t", "false/MP")
	for i := range list {
		p := &list[i]
		least := at(s, p.Sensitivity)
		f, c := measure(glare, least), measure(clean, least)
		p.Bright, p.Dim, p.False = f.share(f.brightFound, f.bright), f.share(f.dimFound, f.dim), c.falseRate
		fmt.Fprintf(w, "%-12s %6.1f %6.3f %6.3f %6.3f %6.3f %9.1f\n", p.ID, p.Sensitivity, p.Bright, p.Dim, f.ObjP,
			f.F1Tol, p.False)
	}
	return list
}
