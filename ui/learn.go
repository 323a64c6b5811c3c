package ui

import (
	"strings"

	"fyne.io/fyne/v2/widget"

	"blik/app/session/findings"
	"blik/processing"
	"blik/processing/learn"
	"blik/ui/xwidget"
)

// learn learns from the decisions, explains the outcome, and asks whether to use it.
func (w *window) learn() {
	w.win.Canvas().Unfocus()
	w.c.learner.Learn(func(t *findings.Teaching, err error) {
		if !w.k.prompts.ended("Could not learn from the decisions", err) {
			return
		}
		w.k.say("")
		if t.Learned == nil {
			w.k.prompts.showCustom(w.k.t("Nothing better was learned"), w.k.t("Close"),
				xwidget.NewWrapped(w.k.teachingText(t)),
				520, 260)
			return
		}
		w.k.prompts.ask(w.k.t("Use what was learned?"), w.k.teachingText(t), []answer{
			{w.k.t("Use it and search again"), widget.HighImportance, func() {
				w.c.preview.UseLearned(t.Learned)
				w.detect()
			}},
		})
	})
}

// forgetLearned drops what was learned if the user confirms it, because it cannot be undone.
func (w *window) forgetLearned() {
	w.k.prompts.ask(w.k.t("Forget what was learned?"),
		w.k.t("This cannot be undone. A preset keeps what was learned for "+
			"later."), []answer{
			{w.k.t("Save preset…"), widget.MediumImportance, w.files.savePreset},
			{w.k.t("Forget"), widget.DangerImportance, func() {
				w.c.preview.UseLearned(nil)
				w.k.say(w.k.t("What was learned is discarded; find glare again (%s)", w.k.press(findRun)))
			}},
		})
}

// teachingText explains what was learned, from how many decisions, and how reliable it is.
func (k *kit) teachingText(t *findings.Teaching) string {
	lines := []string{k.texts.Plural(t.Pictures,
		"Learned from %s findings that are glare and %s that are paint, in %s picture.",
		"Learned from %s findings that are glare and %s that are paint, in %s pictures.",
		k.texts.Int(t.Glare), k.texts.Int(t.Paint), k.texts.Int(t.Pictures))}
	best := t.Shift
	if l := t.Learned; l != nil && l.Way == processing.WayConjugacy ||
		l == nil && t.Conjugacy.Wrong() < t.Shift.Wrong() {
		best = t.Conjugacy
	}
	lines = append(lines, k.t("Wrong decisions in parts left out of learning: %s by default, %s with what was "+
		"learned (%s).", k.texts.Int(t.Default.Wrong()), k.texts.Int(best.Wrong()), k.trialText(best)))
	if t.Learned == nil {
		lines = append(lines, k.t("This is not a clear gain, so nothing changes. More decisions may help."))
		return strings.Join(lines, "\n")
	}
	lines = append(lines, k.t("The score of findings like those you kept changes by %s on average, of those like the "+
		"ones you ignored by %s.", k.signed(t.Effect.Glare), k.signed(t.Effect.Paint)))
	lines = append(lines, k.t("In this picture it would find %s more and drop %s.", k.texts.Int(t.Effect.Gained),
		k.texts.Int(t.Effect.Lost)))
	return strings.Join(lines, "\n")
}

// trialText counts the wrong decisions of each kind.
func (k *kit) trialText(t learn.Trial) string {
	return k.t("glare missed: %s, paint taken for glare: %s", k.texts.Int(t.Missed), k.texts.Int(t.False))
}

// signed returns a number with its sign; a number that rounds to 0 has none.
func (k *kit) signed(v float64) string {
	text := k.texts.Number(v, 1)
	if v > 0 && text != "0" {
		return "+" + text
	}
	return text
}
