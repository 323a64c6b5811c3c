// Package progress shows the running job and the queue behind it.
package progress

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/i18n"
	"blik/app/session"
	"blik/ui/words"
	"blik/ui/xwidget"
)

// Options are what the view needs: the buttons of what can wait for the job, and what cancels it.
type Options struct {
	Texts   *i18n.Printer
	Words   *words.Words
	Tips    *xwidget.Tooltips
	Keys    xwidget.Keys
	Session *session.Session
	Buttons []fyne.CanvasObject
	Cancel  func()
}

// View replaces the start buttons while a job is running: it shows its progress and times, and the queue with a button
// to remove each entry.
type View struct {
	o Options
	// Row holds the bar, Times the text under it, List the queue.
	Row   *fyne.Container
	Times *xwidget.FixedText
	List  *fyne.Container
	bar   *widget.ProgressBar
}

// mostRows limits the rows of the queue.
const mostRows = 4

// New makes a view of no job.
func New(o Options) *View {
	p := &View{o: o, bar: widget.NewProgressBar(), Times: xwidget.NewFixedText(""),
		List: container.New(layout.NewCustomPaddedVBoxLayout(0))}
	p.bar.TextFormatter = func() string { return o.Words.Percent(p.bar.Value) }
	p.Times.Stretch, p.Times.Muted, p.Times.Tips = true, true, o.Tips
	p.Times.Hide()
	cancel := xwidget.NewButton(o.Texts.Sprintf("Cancel"), o.Keys, o.Cancel)
	p.Row = container.NewBorder(nil, nil, nil, container.NewHBox(append(o.Buttons, cancel)...), p.bar)
	return p
}

// Update shows the progress if advanced is set, and the queue if queued is set.
func (p *View) Update(advanced, queued bool) {
	if advanced {
		p.bar.SetValue(p.o.Session.Progress().Done)
		p.Times.SetText(p.o.Words.Progress(p.o.Session.Progress()))
	}
	if queued {
		p.showWaiting()
	}
}

// showWaiting updates the queue.
func (p *View) showWaiting() {
	waiting := p.o.Session.Queue().Waiting()
	p.List.RemoveAll()
	for _, next := range waiting[:min(len(waiting), mostRows)] {
		name := xwidget.NewFixedText("")
		name.Stretch, name.Tips = true, p.o.Tips
		name.SetText(p.o.Texts.Sprintf("Next: %s", next.Name))
		tip := p.o.Texts.Sprintf("Remove it from the queue")
		drop := xwidget.NewToolButton(theme.CancelIcon(), tip, p.o.Tips, func() {
			p.o.Tips.Hide()
			p.o.Session.Queue().Withdraw(next.ID)
		})
		drop.Keys = p.o.Keys
		p.List.Add(container.NewBorder(nil, nil, nil, container.New(xwidget.SmallLayout{}, drop), xwidget.Inset(0, 0,
			name)))
	}
	if more := len(waiting) - mostRows; more > 0 {
		name := xwidget.NewFixedText("")
		name.Stretch, name.Muted = true, true
		name.SetText(p.o.Texts.Sprintf("and %s more", p.o.Texts.Int(more)))
		p.List.Add(xwidget.Inset(0, 0, name))
	}
}
