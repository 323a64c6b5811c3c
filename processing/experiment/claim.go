package experiment

import (
	"cmp"
	"fmt"
	"slices"

	"blik/processing"
)

// Claim is something that the paper says and that times can confirm.
type Claim struct {
	Text processing.Text
	// Paper is the paper's ratio, 0 where it gives none; the measured one is of the same two things.
	Paper float64
	// measure finds the ratio in the measured rows; ok is false where they do not tell.
	measure func(rows []Row) (r ratio, ok bool)
	judge   func(ratio, paper float64) Verdict
	// missing says what it takes to measure it.
	missing processing.Text
}

// ratio is that of medians; low and high are what the quartiles of the two allow.
type ratio struct {
	value, low, high float64
	// where says what was measured.
	where string
}

// over is the ratio of the times of a and b.
func over(a, b Row, where string) ratio {
	return ratio{
		value: float64(a.Median) / float64(b.Median),
		low:   float64(a.Q1) / float64(max(b.Q3, 1)),
		high:  float64(a.Q3) / float64(max(b.Q1, 1)),
		where: where,
	}
}

// Verdict is what a measurement says about a claim.
type Verdict string

// The verdicts.
const (
	Confirmed    Verdict = "confirmed"
	NotConfirmed Verdict = "not confirmed"
	// Different: the effect is there, but of another size.
	Different Verdict = "different"
	// Open: nothing was measured that tells.
	Open Verdict = "open"
)

// In returns the verdict in words.
func (v Verdict) In(lang string) string {
	if lang != "ru" {
		return string(v)
	}
	switch v {
	case Confirmed:
		return "подтверждается"
	case NotConfirmed:
		return "не подтверждается"
	case Different:
		return "иначе"
	}
	return "не проверено"
}

// Conclusion is a claim judged. Ratio is 0 where the verdict is Open; Low and High are what the quartiles allow.
type Conclusion struct {
	Verdict      Verdict
	Claim        processing.Text
	Ratio, Paper float64
	Low, High    float64
	// Unsure: within the quartiles the verdict could be another.
	Unsure bool
	// Text is the whole sentence.
	Text processing.Text
}

func (e *Experiment) conclude(rows []Row) []Conclusion {
	measured := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.State != Measured || r.Median <= 0 })
	onDevice := slices.ContainsFunc(measured, func(r Row) bool { return r.Variant.Device == GPU })
	var out []Conclusion
	for _, c := range e.Claims {
		d := Conclusion{Verdict: Open, Claim: c.Text, Paper: c.Paper}
		m, ok := c.measure(measured)
		paper := text("the paper gives no figure", "в статье числа нет")
		if c.Paper > 0 {
			paper = text(times(c.Paper)+" × in the paper", "в статье ×"+times(c.Paper))
		}
		if ok {
			d.Ratio, d.Low, d.High, d.Verdict = m.value, m.low, m.high, c.judge(m.value, c.Paper)
			d.Unsure = c.judge(m.low, c.Paper) != d.Verdict || c.judge(m.high, c.Paper) != d.Verdict
			unsure := text("", "")
			if d.Unsure {
				unsure = text("; the spread of the times allows another verdict", "; разброс времён допускает и другой вывод")
			}
			d.Text = text(
				fmt.Sprintf("%s: %s: %s × here (quartiles %s…%s; %s), %s%s", capital(d.Verdict.In("en")), c.Text.EN, times(m.value), times(m.low), times(m.high), m.where, paper.EN, unsure.EN),
				comma(fmt.Sprintf("%s: %s: здесь ×%s (квартили %s…%s; %s), %s%s", capital(d.Verdict.In("ru")), c.Text.RU, times(m.value), times(m.low), times(m.high), m.where, paper.RU, unsure.RU)))
		} else {
			missing := c.missing
			if missing == onGPU() && onDevice {
				missing = moreCases()
			}
			d.Text = text(
				fmt.Sprintf("%s: %s (%s): %s", capital(d.Verdict.In("en")), c.Text.EN, paper.EN, missing.EN),
				comma(fmt.Sprintf("%s: %s (%s): %s", capital(d.Verdict.In("ru")), c.Text.RU, paper.RU, missing.RU)))
		}
		out = append(out, d)
	}
	return out
}

// comma writes the decimal figures of a Russian sentence.
func comma(s string) string {
	out := []byte(s)
	digit := func(i int) bool { return i >= 0 && i < len(out) && out[i] >= '0' && out[i] <= '9' }
	for i, c := range out {
		if c == '.' && digit(i-1) && digit(i+1) {
			out[i] = ','
		}
	}
	return string(out)
}

func times(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// capital turns the first letter into a capital; the words are those of Verdict.In.
func capital(s string) string {
	r := []rune(s)
	switch {
	case r[0] >= 'a' && r[0] <= 'z':
		r[0] -= 'a' - 'A'
	case r[0] >= 'а' && r[0] <= 'я':
		r[0] -= 'а' - 'А'
	}
	return string(r)
}

// near judges a ratio that the paper found on one side of 1: within a factor of 1.5 of the paper's it is confirmed; on the
// same side but further off it is different, on the other side or closer to 1 than 5 % it is not confirmed.
func near(ratio, paper float64) Verdict {
	effect := ratio
	if paper < 1 {
		effect = 1 / ratio
	}
	switch off := ratio / paper; {
	case effect < 1.05:
		return NotConfirmed
	case off >= 1/1.5 && off <= 1.5:
		return Confirmed
	}
	return Different
}

// flat judges a time that should not grow: by up to a tenth is flat, by up to a half is different.
func flat(ratio, _ float64) Verdict {
	switch {
	case ratio <= 1.1:
		return Confirmed
	case ratio <= 1.5:
		return Different
	}
	return NotConfirmed
}

// along measures how much longer than with the smallest value of a parameter a variant takes with another one at most, in
// the case that has most values of it, the largest of these: a time that grows and falls again is not flat.
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
		where := fmt.Sprintf("%s, %s, %s = %d / %d (%d…%d)", variant, least.Case.Size, param, slowest.Case.Int(param), least.Case.Int(param),
			least.Case.Int(param), most.Case.Int(param))
		return over(slowest, least, where), true
	}
}

// between measures the time of variant a over that of b in the largest case that both have and that wanted accepts.
func between(a, b string, wanted func(Case) bool) func(rows []Row) (ratio, bool) {
	return func(rows []Row) (ratio, bool) {
		byKey := map[string]Row{}
		for _, r := range rows {
			if r.Variant.ID == b {
				byKey[r.Case.key()] = r
			}
		}
		var best, other Row
		for _, r := range rows {
			s, ok := byKey[r.Case.key()]
			if ok && r.Variant.ID == a && (wanted == nil || wanted(r.Case)) && r.Case.Size.Samples() >= best.Case.Size.Samples() {
				best, other = r, s
			}
		}
		if best.Median == 0 {
			return ratio{}, false
		}
		where := fmt.Sprintf("%s / %s, %s", a, b, best.Case.key())
		return over(best, other, where), true
	}
}

// having accepts cases with a value.
func having(param, value string) func(Case) bool {
	return func(c Case) bool { return c.Values[param] == value }
}

// onGPU is what a claim about one misses without.
func onGPU() processing.Text {
	return text("it takes an NVIDIA GPU", "нужен графический процессор NVIDIA")
}

// moreCases is what a claim misses where the cases chosen do not hold it.
func moreCases() processing.Text {
	return text("the cases measured do not tell", "среди измеренного нет нужных случаев")
}
