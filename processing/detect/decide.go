package detect

import (
	"context"
	"image"
	"math"
	"slices"
	"sort"

	"blik/internal/parallel"
	"blik/internal/span"
	"blik/processing"
)

// Decide returns the pixels of the components that the sensitivity accepts, in reading order without overlaps, and the
// findings that they form inside the region, if there is one. Accepted components that touch are one finding, judged by
// the strongest of them.
func Decide(
	t *Table, d *processing.Decision, p processing.Params, region *processing.Region,
) ([]processing.Span, []Finding) {
	scores := t.scores(d, p.Learned)
	spans := t.accepted(scores, p.Sensitivity)
	return spans, findings(within(spans, region, t.Width), func(a, b uint32) bool { return scores[a] > scores[b] },
		func(f *Finding, label uint32) { t.Components[label].judge(f, scores[label], d) })
}

// Counts returns how many findings Decide would return with each of some sensitivities.
func Counts(
	t *Table, d *processing.Decision, p processing.Params, region *processing.Region, sensitivities []float64,
) []int {
	scores, counts := t.scores(d, p.Learned), make([]int, len(sensitivities))
	for i, s := range sensitivities {
		counts[i] = span.Connect(within(t.accepted(scores, s), region, t.Width), span.Eight)
	}
	return counts
}

// DecidePart returns the mask of a part of the picture that Decide would give, without its findings: it takes less than
// a frame of the screen. ok is false if the mask depends on more than the part, because it is cleaned up.
func DecidePart(
	t *Table, d *processing.Decision, p processing.Params, region *processing.Region, part image.Rectangle,
) (m *processing.Mask, ok bool) {
	if cleanupReach(p) != 0 {
		return nil, false
	}
	part = part.Intersect(image.Rect(0, 0, t.Width, t.Height))
	first := sort.Search(len(t.spans), func(i int) bool { return int(t.spans[i].Y) >= part.Min.Y })
	var spans []processing.Span
	for _, s := range t.spans[first:] {
		if int(s.Y) >= part.Max.Y {
			break
		}
		s.X0, s.X1 = max(s.X0, int32(part.Min.X)), min(s.X1, int32(part.Max.X))
		if s.X0 < s.X1 && t.score(int(s.Label), d, p.Learned)+p.Sensitivity >= 0 {
			spans = append(spans, s)
		}
	}
	spans = within(separate(spans), region, t.Width)
	for i := range spans {
		s := &spans[i]
		s.X0, s.X1, s.Y = s.X0-int32(part.Min.X), s.X1-int32(part.Min.X), s.Y-int32(part.Min.Y)
	}
	m = processing.NewMask(part.Dx(), part.Dy())
	return m, CleanUp(context.Background(), nil, m, spans, p, nil) == nil
}

// scores returns the scores of all components.
func (t *Table) scores(d *processing.Decision, learned *processing.Learned) []float64 {
	scores := make([]float64, len(t.Components))
	parallel.Split(len(scores), 1024, func(from, to int) {
		for i := from; i < to; i++ {
			scores[i] = t.score(i, d, learned)
		}
	})
	return scores
}

// accepted returns the pixels of the components whose score a sensitivity accepts, in reading order without overlaps.
func (t *Table) accepted(scores []float64, sensitivity float64) []processing.Span {
	spans := make([]processing.Span, 0, len(t.spans))
	for _, s := range t.spans {
		if scores[s.Label]+sensitivity >= 0 {
			spans = append(spans, s)
		}
	}
	return separate(spans)
}

// score returns the score of a component.
func (t *Table) score(i int, d *processing.Decision, learned *processing.Learned) float64 {
	c := &t.Components[i]
	score := d.Score(c.Strength)
	if learned != nil {
		score += learned.Shift(c.Vector)
	}
	return score
}

// judge writes what a finding is judged by.
func (c *Component) judge(f *Finding, score float64, d *processing.Decision) {
	f.Score, f.Strength, f.Rise, f.Shares, f.Kind = score, c.Strength, c.Rise, c.Shares, c.Kind()
	f.Certainty = d.Certainty(score)
	f.Check = f.NeedsCheck(f.Area)
	f.Peak, f.Contrast = c.Ground+c.Rise, c.Contrast
}

// contrast returns a rise above a ground, both in levels, in linear light.
func contrast(ground, rise int) float64 {
	linear := func(level int) float64 { return processing.TransferSRGB.Linear(float64(level) / math.MaxUint8) }
	return linear(ground+rise) - linear(ground)
}

// separate removes the overlaps of spans in reading order, in place: the span that begins first keeps the pixels.
func separate(spans []processing.Span) []processing.Span {
	out := spans[:0]
	for _, s := range spans {
		if k := len(out); k > 0 && out[k-1].Y == s.Y {
			s.X0 = max(s.X0, out[k-1].X1)
		}
		if s.X0 < s.X1 {
			out = append(out, s)
		}
	}
	return out
}

// within cuts the spans down to the region; nil is the whole picture.
func within(spans []processing.Span, r *processing.Region, w int) []processing.Span {
	if r == nil {
		return spans
	}
	var out []processing.Span
	row, inside := int32(-1), []processing.Run(nil)
	for _, s := range spans {
		if s.Y != row {
			row, inside = s.Y, r.Spans(int(s.Y), w)
		}
		for _, in := range inside {
			if a, b := max(s.X0, int32(in.X0)), min(s.X1, int32(in.X1)); a < b {
				out = append(out, processing.Span{Y: s.Y, X0: a, X1: b, Label: s.Label})
			}
		}
	}
	return out
}

// findings joins touching spans into findings. Each is judged by the one of its labels that comes before all others by
// before.
func findings(
	spans []processing.Span, before func(a, b uint32) bool,
	judge func(f *Finding, label uint32),
) []Finding {
	if len(spans) == 0 {
		return nil
	}
	joined := slices.Clone(spans)
	n := span.Connect(joined, span.Eight)
	parts := span.Group(spans, n, func(i int) int { return int(joined[i].Label) })
	list, runs := make([]Finding, n), make([]processing.Run, len(spans))
	for i, part := range parts {
		list[i].ID = i + 1
		list[i].Runs, runs = runs[:0:len(part)], runs[len(part):]
	}
	parallel.Split(n, 64, func(from, to int) {
		for i := from; i < to; i++ {
			f := &list[i]
			s, best := processing.NewSums(), parts[i][0].Label
			for _, r := range parts[i] {
				s.Add(r)
				if before(r.Label, best) {
					best = r.Label
				}
				f.Runs = processing.AppendRun(f.Runs, processing.Run{Y: int(r.Y), X0: int(r.X0), X1: int(r.X1)})
			}
			f.measure(s)
			judge(f, best)
		}
	})
	return list
}

// classicFindings returns the findings that the components of the classical detector form inside the region, if there
// is one. Peak, rise and contrast are measured as those of the network's components are.
func classicFindings(
	ctx context.Context, pic *processing.Picture, spans []processing.Span, region *processing.Region,
) ([]Finding, error) {
	pic, err := pic.InSRGB(ctx)
	if err != nil {
		return nil, err
	}
	taken := span.NewSet(pic.Width, pic.Height)
	taken.Mark(0, spans)
	list := findings(within(spans, region, pic.Width), func(a, b uint32) bool { return false },
		func(*Finding, uint32) {})
	const chunk = 64
	first := newLevels(pic)
	return list, parallel.Chunks(ctx, len(list), chunk, func(from, to int) {
		g := grounds{levels: first.another(), taken: taken}
		for i := from; i < to; i++ {
			f := &list[i]
			ground, rise := g.of(f.Runs)
			f.Rise, f.Peak, f.Contrast = rise, ground+rise, contrast(ground, rise)
		}
	})
}
