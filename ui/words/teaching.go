package words

import (
	"strings"

	"blik/app/session/findings"
	"blik/processing"
	"blik/processing/learn"
)

// Teaching explains what was learned, from how many decisions, and how reliable it is.
func (w *Words) Teaching(t *findings.Teaching) string {
	lines := []string{w.texts.Plural(t.Pictures,
		"Learned from %s findings that are glare and %s that are paint, in %s picture.",
		"Learned from %s findings that are glare and %s that are paint, in %s pictures.",
		w.texts.Int(t.Glare), w.texts.Int(t.Paint), w.texts.Int(t.Pictures))}
	best := t.Shift
	if l := t.Learned; l != nil && l.Way == processing.WayConjugacy ||
		l == nil && t.Conjugacy.Wrong() < t.Shift.Wrong() {
		best = t.Conjugacy
	}
	lines = append(lines, w.t("Wrong decisions in parts left out of learning: %s by default, %s with what was "+
		"learned (%s).", w.texts.Int(t.Default.Wrong()), w.texts.Int(best.Wrong()), w.trialText(best)))
	if t.Learned == nil {
		lines = append(lines, w.t("This is not a clear gain, so nothing changes. More decisions may help."))
		return strings.Join(lines, "\n")
	}
	lines = append(lines, w.t("The score of findings like those you kept changes by %s on average, of those like the "+
		"ones you ignored by %s.", w.signed(t.Effect.Glare), w.signed(t.Effect.Paint)))
	lines = append(lines, w.t("In this picture it would find %s more and drop %s.", w.texts.Int(t.Effect.Gained),
		w.texts.Int(t.Effect.Lost)))
	return strings.Join(lines, "\n")
}

// trialText counts the wrong decisions of each kind.
func (w *Words) trialText(t learn.Trial) string {
	return w.t("glare missed: %s, paint taken for glare: %s", w.texts.Int(t.Missed), w.texts.Int(t.False))
}

// signed returns a number with its sign; a number that rounds to 0 has none.
func (w *Words) signed(v float64) string {
	text := w.texts.Number(v, 1)
	if v > 0 && text != "0" {
		return "+" + text
	}
	return text
}
