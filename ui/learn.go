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
	w.learner.Learn(func(t *findings.Teaching, err error) {
		if !w.prompts.ended("Could not learn from the decisions", err) {
			return
		}
		w.say("")
		if t.Learned == nil {
			w.prompts.showCustom(w.t("Nothing better was learned"), w.t("Close"), xwidget.NewWrapped(w.teachingText(t)),
				520, 260)
			return
		}
		w.prompts.ask(w.t("Use what was learned?"), w.teachingText(t), []answer{
			{w.t("Use it and search again"), widget.HighImportance, func() {
				w.preview.UseLearned(t.Learned)
				w.detect()
			}},
		})
	})
}

// forgetLearned drops what was learned if the user confirms it, because it cannot be undone.
func (w *window) forgetLearned() {
	w.prompts.ask(w.t("Forget what was learned?"), w.t("This cannot be undone. A preset keeps what was learned for "+
		"later."), []answer{
		{w.t("Save preset…"), widget.MediumImportance, w.files.savePreset},
		{w.t("Forget"), widget.DangerImportance, func() {
			w.preview.UseLearned(nil)
			w.say(w.t("What was learned is discarded; find glare again (%s)", w.press("find.run")))
		}},
	})
}

// teachingText explains what was learned, from how many decisions, and how reliable it is.
func (c *common) teachingText(t *findings.Teaching) string {
	lines := []string{c.texts.Plural(t.Pictures,
		"Learned from %s findings that are glare and %s that are paint, in %s picture.",
		"Learned from %s findings that are glare and %s that are paint, in %s pictures.",
		c.texts.Int(t.Glare), c.texts.Int(t.Paint), c.texts.Int(t.Pictures))}
	best := t.Shift
	if l := t.Learned; l != nil && l.Way == processing.WayConjugacy ||
		l == nil && t.Conjugacy.Wrong() < t.Shift.Wrong() {
		best = t.Conjugacy
	}
	lines = append(lines, c.t("Wrong decisions in parts left out of learning: %s by default, %s with what was "+
		"learned (%s).", c.texts.Int(t.Default.Wrong()), c.texts.Int(best.Wrong()), c.trialText(best)))
	if t.Learned == nil {
		lines = append(lines, c.t("This is not a clear gain, so nothing changes. More decisions may help."))
		return strings.Join(lines, "\n")
	}
	lines = append(lines, c.t("The score of findings like those you kept changes by %s on average, of those like the "+
		"ones you ignored by %s.", c.signed(t.Effect.Glare), c.signed(t.Effect.Paint)))
	lines = append(lines, c.t("In this picture it would find %s more and drop %s.", c.texts.Int(t.Effect.Gained),
		c.texts.Int(t.Effect.Lost)))
	return strings.Join(lines, "\n")
}

// trialText counts the wrong decisions of each kind.
func (c *common) trialText(t learn.Trial) string {
	return c.t("glare missed: %s, paint taken for glare: %s", c.texts.Int(t.Missed), c.texts.Int(t.False))
}

// signed returns a number with its sign; a number that rounds to 0 has none.
func (c *common) signed(v float64) string {
	text := c.texts.Number(v, 1)
	if v > 0 && text != "0" {
		return "+" + text
	}
	return text
}
