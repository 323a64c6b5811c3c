package ui

import (
	"strings"

	"fyne.io/fyne/v2/widget"

	"blik/app/session/findings"
	"blik/app/session/preview"
	"blik/processing"
	"blik/processing/learn"
	"blik/ui/xwidget"
)

// teaching learns from the user's decisions.
type teaching struct {
	k         *kit
	learner   *findings.Learner
	preview   *preview.Preview
	treatment *treatment
	files     *files
}

// learn learns from the decisions, explains the outcome, and asks whether to use it.
func (l *teaching) learn() {
	l.k.prompts.win.Canvas().Unfocus()
	l.learner.Learn(func(t *findings.Teaching, err error) {
		if !l.k.prompts.ended("Could not learn from the decisions", err) {
			return
		}
		l.k.say("")
		if t.Learned == nil {
			l.k.prompts.showCustom(l.k.t("Nothing better was learned"), l.k.t("Close"),
				xwidget.NewWrapped(l.k.teachingText(t)),
				520, 260)
			return
		}
		l.k.prompts.ask(l.k.t("Use what was learned?"), l.k.teachingText(t), []answer{
			{l.k.t("Use it and search again"), widget.HighImportance, func() {
				l.preview.UseLearned(t.Learned)
				l.treatment.detect()
			}},
		})
	})
}

// forgetLearned drops what was learned if the user confirms it, because it cannot be undone.
func (l *teaching) forgetLearned() {
	l.k.prompts.ask(l.k.t("Forget what was learned?"),
		l.k.t("This cannot be undone. A preset keeps what was learned for "+
			"later."), []answer{
			{l.k.t("Save preset…"), widget.MediumImportance, l.files.savePreset},
			{l.k.t("Forget"), widget.DangerImportance, func() {
				l.preview.UseLearned(nil)
				l.k.say(l.k.t("What was learned is discarded; find glare again (%s)", l.k.press(findRun)))
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
