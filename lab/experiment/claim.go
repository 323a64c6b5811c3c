package experiment

import (
	"cmp"
	"fmt"
	"slices"

	"blik/internal/message"
)

// Claim is a statement of the paper that measured times can confirm or refute.
type Claim struct {
	Text message.Message
	// Paper is the ratio in the paper, 0 if it gives none; the measured ratio compares the same two quantities.
	Paper float64
	// measure computes the ratio from the measured rows; ok is false if they do not contain what it needs.
	measure func(rows []Row) (r ratio, ok bool)
	judge   func(ratio, paper float64) Verdict
	// missing explains what is needed to measure it.
	missing message.Message
}

// ratio is the ratio of medians; low and high are the bounds from the quartiles of the two.
type ratio struct {
	value, low, high float64
	// where describes what was measured.
	where message.Figures
}

// over returns the ratio of the times of a and b.
func over(a, b Row, where string) ratio {
	return ratio{
		value: float64(a.Median) / float64(b.Median),
		low:   float64(a.Q1) / float64(max(b.Q3, 1)),
		high:  float64(a.Q3) / float64(max(b.Q1, 1)),
		where: message.Figures(where),
	}
}

// Verdict is the outcome of a claim.
type Verdict string

// The verdicts.
const (
	Confirmed    Verdict = "confirmed"
	NotConfirmed Verdict = "not confirmed"
	// Different: the effect exists, but its size differs.
	Different Verdict = "different"
	// Open: no measurement could decide the claim.
	Open Verdict = "open"
)

// Message returns the verdict in words.
func (v Verdict) Message() message.Message { return message.Of(message.Text(v)).Context("verdict") }

// Conclusion is a claim with its verdict. Ratio is 0 if the verdict is Open; Low and High are the bounds from the
// quartiles.
type Conclusion struct {
	Verdict      Verdict
	Claim        message.Message
	Ratio, Paper float64
	Low, High    float64
	// Unsure: the quartiles allow another verdict.
	Unsure bool
	// Text is the whole sentence.
	Text message.Message
}

func (e *Experiment) conclude(rows []Row) []Conclusion {
	measured := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.State != Measured || r.Median <= 0 })
	onDevice := slices.ContainsFunc(measured, func(r Row) bool { return r.Variant.Device == GPU })
	var out []Conclusion
	for _, c := range e.Claims {
		d := Conclusion{Verdict: Open, Claim: c.Text, Paper: c.Paper}
		m, ok := c.measure(measured)
		paper := message.Of("the paper gives no figure")
		if c.Paper > 0 {
			paper = message.Of("%s × in the paper", times(c.Paper))
		}
		if ok {
			d.Ratio, d.Low, d.High, d.Verdict = m.value, m.low, m.high, c.judge(m.value, c.Paper)
			d.Unsure = c.judge(m.low, c.Paper) != d.Verdict || c.judge(m.high, c.Paper) != d.Verdict
			var unsure message.Message
			if d.Unsure {
				unsure = message.Of("; the spread of the times allows another conclusion")
			}
			d.Text = message.Of("%s: %s: %s × here (quartiles %s…%s; %s), %s%s",
				message.Capitalized{Message: d.Verdict.Message()}, c.Text,
				times(m.value), times(m.low), times(m.high), m.where, paper, unsure)
		} else {
			missing := c.missing
			if missing.Key() == onGPU().Key() && onDevice {
				missing = moreCases()
			}
			d.Text = message.Of("%s: %s (%s): %s", message.Capitalized{Message: d.Verdict.Message()}, c.Text, paper,
				missing)
		}
		out = append(out, d)
	}
	return out
}

func times(x float64) message.Figures {
	if x >= 100 {
		return message.Figures(fmt.Sprintf("%.0f", x))
	}
	return message.Figures(fmt.Sprintf("%.3g", x))
}

// near judges a ratio that the paper found on one side of 1: within a factor of 1.5 of the paper's it is confirmed; on
// the same side but further off it is different, on the other side or closer to 1 than 5 % it is not confirmed.
func near(ratio, paper float64) Verdict {
	effect, off := ratio, ratio/paper
	if paper < 1 {
		effect = 1 / ratio
	}
	return verdict(effect >= 1.05 && off >= 1/1.5 && off <= 1.5, effect >= 1.05)
}

// flat judges a time that should not grow: by up to a tenth is flat, by up to a half is different.
func flat(ratio, _ float64) Verdict { return verdict(ratio <= 1.1, ratio <= 1.5) }

// clearlyAbove judges a ratio of which the paper only says that it exceeds 1.
func clearlyAbove(ratio, _ float64) Verdict { return verdict(ratio >= 1.25, ratio >= 1.05) }

// equal judges a ratio of which the paper says that it is 1.
func equal(ratio, _ float64) Verdict { return verdict(ratio <= 1.15 && ratio >= 1/1.15, ratio <= 1.5) }

// best judges the ratio of the best other choice to the one that the paper found best: it is confirmed if no other is
// faster by more than the measurement error, and different up to a tenth.
func best(ratio, _ float64) Verdict { return verdict(ratio >= 0.98, ratio >= 0.9) }

func verdict(confirmed, similar bool) Verdict {
	switch {
	case confirmed:
		return Confirmed
	case similar:
		return Different
	}
	return NotConfirmed
}

// along measures the longest time of a variant over its time with the smallest value of a parameter, in the largest of
// the cases with the most values of it: a time that grows and falls again is not flat.
func along(variant, param string) func(rows []Row) (ratio, bool) {
	return func(rows []Row) (ratio, bool) {
		groups := map[string][]Row{}
		var keys []string
		for _, r := range rows {
			if r.Variant.ID != variant {
				continue
			}
			k := r.Case.without([]string{param}).key()
			if groups[k] == nil {
				keys = append(keys, k)
			}
			groups[k] = append(groups[k], r)
		}
		var best []Row
		for _, k := range keys {
			g := groups[k]
			if len(g) > len(best) || len(g) == len(best) && g[0].Case.Size.Samples() > best[0].Case.Size.Samples() {
				best = g
			}
		}
		if len(best) < 2 {
			return ratio{}, false
		}
		slices.SortFunc(best, func(a, b Row) int { return a.Case.Int(param) - b.Case.Int(param) })
		least, most := best[0], best[len(best)-1]
		slowest := slices.MaxFunc(best[1:], func(a, b Row) int { return cmp.Compare(a.Median, b.Median) })
		where := fmt.Sprintf("%s, %s, %s = %d / %d (%d…%d)", variant, least.Case.Size, param, slowest.Case.Int(param),
			least.Case.Int(param),
			least.Case.Int(param), most.Case.Int(param))
		return over(slowest, least, where), true
	}
}

// pair returns the rows a and b of the largest case for which partner finds a row b.
func pair(rows []Row, partner func(a Row) (b Row, ok bool)) (a, b Row, ok bool) {
	for _, r := range rows {
		if r.Case.Size.Samples() < a.Case.Size.Samples() {
			continue
		}
		if s, found := partner(r); found {
			a, b, ok = r, s, true
		}
	}
	return a, b, ok
}

// first returns the first wanted row.
func first(rows []Row, wanted func(Row) bool) (Row, bool) {
	if i := slices.IndexFunc(rows, wanted); i >= 0 {
		return rows[i], true
	}
	return Row{}, false
}

// between measures the time of variant a over that of b in the largest case that both have and wanted accepts; a may
// ignore parameters that b uses.
func between(a, b string, wanted func(Case) bool) func(rows []Row) (ratio, bool) {
	return func(rows []Row) (ratio, bool) {
		r, s, ok := pair(rows, func(r Row) (Row, bool) {
			if r.Variant.ID != a || wanted != nil && !wanted(r.Case) {
				return Row{}, false
			}
			return first(rows, func(s Row) bool {
				return s.Variant.ID == b && s.Case.without(r.Variant.Ignores).key() == r.Case.key()
			})
		})
		return over(r, s, fmt.Sprintf("%s / %s, %s", a, b, r.Case.key())), ok
	}
}

// others returns the rows that differ from r only in the value of a parameter.
func others(rows []Row, r Row, param string) []Row {
	key := r.Case.without([]string{param}).key()
	return slices.DeleteFunc(slices.Clone(rows), func(s Row) bool {
		return s.Variant.ID != r.Variant.ID || s.Case.Values[param] == r.Case.Values[param] ||
			s.Case.without([]string{param}).key() != key
	})
}

// choices measures the time of a variant with one value of a parameter over that with another, in the largest case with
// both.
func choices(variant, param, a, b string) func(rows []Row) (ratio, bool) {
	return func(rows []Row) (ratio, bool) {
		r, s, ok := pair(rows, func(r Row) (Row, bool) {
			if r.Variant.ID != variant || r.Case.Values[param] != a {
				return Row{}, false
			}
			return first(others(rows, r, param), func(s Row) bool { return s.Case.Values[param] == b })
		})
		where := fmt.Sprintf("%s, %s, %s = %s / %s", variant, r.Case.without([]string{param}).key(), param, a, b)
		return over(r, s, where), ok
	}
}

// othersAgainst measures the shortest time of a variant with another value of a parameter over that with the given one,
// in the largest case of this that has others.
func othersAgainst(variant, param, value string) func(rows []Row) (ratio, bool) {
	return func(rows []Row) (ratio, bool) {
		r, s, ok := pair(rows, func(r Row) (Row, bool) {
			list := others(rows, r, param)
			if r.Variant.ID != variant || r.Case.Values[param] != value || len(list) == 0 {
				return Row{}, false
			}
			return slices.MinFunc(list, func(a, b Row) int { return cmp.Compare(a.Median, b.Median) }), true
		})
		where := fmt.Sprintf("%s, %s, %s = %s / %s",
			variant, r.Case.without([]string{param}).key(), param, s.Case.Values[param], value)
		return over(s, r, where), ok
	}
}

// having accepts cases with a value.
func having(param, value string) func(Case) bool {
	return func(c Case) bool { return c.Values[param] == value }
}

// onGPU is the requirement of a claim about a GPU.
func onGPU() message.Message {
	return message.Of("needs an NVIDIA GPU")
}

// moreCases is the requirement of a claim that no measured case covers.
func moreCases() message.Message {
	return message.Of("the measured cases do not show it")
}
