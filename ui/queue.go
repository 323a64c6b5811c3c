package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/job"
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
	p.bar.TextFormatter = func() string { return c.k.percent(p.bar.Value) }
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
		p.times.SetText(p.k.progressText(p.session.Progress()))
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

// progressText returns the stage of a job, the time so far, and the estimated time left.
func (k *kit) progressText(u job.Update) string {
	text := k.t("%s so far", k.timeText(u.Elapsed.Truncate(time.Second)))
	if u.Left > 0 {
		text = k.t("%s so far, about %s left", k.timeText(u.Elapsed.Truncate(time.Second)), k.timeText(rough(u.Left)))
	}
	if stage := k.texts.Sprint(u.Stage); stage != "" {
		return stage + ": " + text
	}
	return text
}

// rough rounds an estimated time: to 1 s below 10 s, to 5 s below 2 min, then to minutes.
func rough(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Second:
		return max(d.Round(time.Second), time.Second)
	case d < 2*time.Minute:
		return d.Round(5 * time.Second)
	}
	return d.Round(time.Minute)
}

// timeText writes a time in whole seconds.
func (k *kit) timeText(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 60:
		return k.t("%d s", s)
	case s%60 == 0:
		return k.t("%d min", s/60)
	}
	return k.t("%d min %d s", s/60, s%60)
}

// wait queues work behind the running job and says so, or does it now if none is running.
func (k *kit) wait(s *session.Session, name message.Message, do func()) {
	if s.Queue().Add(name, do) {
		k.sayQueued(name)
	}
}

// sayQueued says that work has been queued.
func (k *kit) sayQueued(name message.Message) { k.say(k.t("Waits for the running task: %s", name)) }

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
