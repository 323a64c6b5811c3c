package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/session"
	"blik/internal/message"
	"blik/ui/icons"
	"blik/ui/xwidget"
)

// progressView replaces the start buttons while a job is running: it shows its progress and times, and the queue with a
// button to remove each entry.
type progressView struct {
	k       *kit
	session *session.Session
	// row holds the bar, times the text under it, list the queue.
	row   *fyne.Container
	bar   *widget.ProgressBar
	times *xwidget.FixedText
	list  *fyne.Container
}

// mostRows limits the rows of the queue.
const mostRows = 4

func newProgressView(c *common) *progressView {
	p := &progressView{k: c.k, session: c.session, bar: widget.NewProgressBar(), times: xwidget.NewFixedText(""),
		list: container.New(layout.NewCustomPaddedVBoxLayout(0))}
	p.bar.TextFormatter = func() string { return c.k.words.Percent(p.bar.Value) }
	p.times.Stretch, p.times.Muted, p.times.Tips = true, true, c.k.tips
	p.times.Hide()
	cancel := xwidget.NewButton(c.k.t("Cancel"), c.k.keys, func() { c.k.actions.do(findCancel) })
	p.row = container.NewBorder(nil, nil, nil, container.NewHBox(
		c.k.button(findRun, theme.SearchIcon()), c.k.button(correctAll, icons.Get("correct")), cancel), p.bar)
	return p
}

func (p *progressView) update(c change) {
	if c.Progress {
		p.bar.SetValue(p.session.Progress().Done)
		p.times.SetText(p.k.words.Progress(p.session.Progress()))
	}
	if c.Queue {
		p.showWaiting()
	}
}

// showWaiting updates the queue.
func (p *progressView) showWaiting() {
	waiting := p.session.Queue().Waiting()
	p.list.RemoveAll()
	for _, next := range waiting[:min(len(waiting), mostRows)] {
		name := xwidget.NewFixedText("")
		name.Stretch, name.Tips = true, p.k.tips
		name.SetText(p.k.t("Next: %s", next.Name))
		drop := xwidget.NewToolButton(theme.CancelIcon(), p.k.t("Remove it from the queue"), p.k.tips, func() {
			p.k.tips.Hide()
			p.session.Queue().Withdraw(next.ID)
		})
		drop.Keys = p.k.keys
		p.list.Add(container.NewBorder(nil, nil, nil, container.New(xwidget.SmallLayout{}, drop), xwidget.Inset(0, 0,
			name)))
	}
	if more := len(waiting) - mostRows; more > 0 {
		name := xwidget.NewFixedText("")
		name.Stretch, name.Muted = true, true
		name.SetText(p.k.t("and %s more", p.k.texts.Int(more)))
		p.list.Add(xwidget.Inset(0, 0, name))
	}
}

// wait queues work behind the running job and says so, or does it now if none is running.
func (k *kit) wait(s *session.Session, name message.Message, do func()) {
	if s.Queue().Add(name, do) {
		k.say(k.words.Queued(name))
	}
}

// queueAction queues an action. When its turn comes, it runs if it can.
func (w *window) queueAction(id string) {
	a := w.k.actions.table[id]
	w.k.wait(w.c.session, message.Of(a.name), func() {
		if a.ready == nil || a.ready() {
			a.run()
		}
	})
}

// queueCorrection queues the correction of the currently selected finding.
func (x *treatment) queueCorrection() {
	f, ok := x.found.Selected()
	if !ok {
		x.k.say(x.k.noneSelected())
		return
	}
	x.k.wait(x.session, message.Of("Correct finding %d", f.Number), func() {
		for _, g := range x.session.Document().Spots() {
			if g.Bounds() == f.Bounds() && g.Area == f.Area {
				x.found.Select(g)
				x.correctBy(g.Asked)
			}
		}
	})
}
