package ui

import (
	"blik/app/session/findings"
	"blik/app/session/preview"
	"blik/ui/files"
	"blik/ui/prompt"
	"blik/ui/xwidget"
)

// teaching learns from the user's decisions.
type teaching struct {
	k         *kit
	learner   *findings.Learner
	preview   *preview.Preview
	treatment *treatment
	files     *files.Files
}

// learn learns from the decisions, explains the outcome, and asks whether to use it.
func (l *teaching) learn() {
	l.k.win.Canvas().Unfocus()
	l.learner.Learn(func(t *findings.Teaching, err error) {
		if !l.k.prompts.Ended("Could not learn from the decisions", err) {
			return
		}
		l.k.say("")
		if t.Learned == nil {
			l.k.prompts.ShowCustom(l.k.t("Nothing better was learned"), l.k.t("Close"),
				xwidget.NewWrapped(l.k.words.Teaching(t)), 520, 260)
			return
		}
		l.k.prompts.Ask(l.k.t("Use what was learned?"), l.k.words.Teaching(t), []prompt.Answer{
			prompt.Main(l.k.t("Use it and search again"), func() {
				l.preview.UseLearned(t.Learned)
				l.treatment.detect()
			}),
		})
	})
}

// forgetLearned drops what was learned if the user confirms it, because it cannot be undone.
func (l *teaching) forgetLearned() {
	l.k.prompts.Ask(l.k.t("Forget what was learned?"),
		l.k.t("This cannot be undone. A preset keeps what was learned for later."), []prompt.Answer{
			prompt.Plain(l.k.t("Save preset…"), l.files.SavePreset),
			prompt.Danger(l.k.t("Forget"), func() {
				l.preview.UseLearned(nil)
				l.k.say(l.k.t("What was learned is discarded; find glare again (%s)", l.k.press(findRun)))
			}),
		})
}
