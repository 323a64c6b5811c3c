package ui

import (
	"slices"

	"blik/app/session"
	"blik/app/session/store"
	"blik/internal/message"
)

// waiting returns a function that queues work behind the running job and says so, or does it now if none is running.
func (k *kit) waiting(s *session.Session) func(name message.Message, do func()) {
	return func(name message.Message, do func()) {
		if s.Queue().Add(name, do) {
			k.say(k.words.Queued(name))
		}
	}
}

// queueAction queues an action. When its turn comes, it runs if it can.
func (w *window) queueAction(id string) {
	a := w.k.actions.table[id]
	w.k.waiting(w.c.session)(message.Of(a.name), func() {
		if a.ready == nil || a.ready() {
			a.run()
		}
	})
}

// refuse returns a function that says why an action cannot run now: the same key may do something later.
func (k *kit) refuse(s *session.Session) func(id string) {
	return func(id string) {
		switch {
		case id == findCancel:
		case s.Document() == nil:
			k.say(k.stepText(store.StepOpen, 0))
		case k.actions.working():
			k.say(k.t("Another task is still running; wait for it or cancel it"))
		case slices.Contains([]string{holdAction, viewSplit, viewBlink, correctRemove, correctRemoveAll}, id):
			k.say(k.t("Nothing is corrected yet; %s corrects all findings", k.press(correctAll)))
		}
	}
}

// queueCorrection queues the correction of the currently selected finding.
func (x *treatment) queueCorrection() {
	f, ok := x.found.Selected()
	if !ok {
		x.k.say(x.k.noneSelected())
		return
	}
	x.k.waiting(x.session)(message.Of("Correct finding %d", f.Number), func() {
		for _, g := range x.session.Document().Spots() {
			if g.Bounds() == f.Bounds() && g.Area == f.Area {
				x.found.Select(g)
				x.correctBy(g.Asked)
			}
		}
	})
}
