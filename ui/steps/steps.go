// Package steps lists the steps of the history, to go back or forward to one.
package steps

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"blik/app/i18n"
	"blik/app/session"
	"blik/app/session/editor"
	"blik/app/session/preview"
	"blik/internal/message"
	"blik/ui/xwidget"
)

// Options are what the list needs. Say shows a passing message.
type Options struct {
	Texts   *i18n.Printer
	Tips    *xwidget.Tooltips
	Keys    xwidget.Keys
	Session *session.Session
	Editor  *editor.Editor
	Preview *preview.Preview
	Say     func(text string)
}

// Panel is the list of steps; a click or the space bar goes to one.
type Panel struct {
	Object fyne.CanvasObject
	List   *xwidget.List
	o      Options
	memory *xwidget.FixedText

	names []message.Message
	done  int
	quiet xwidget.Quiet
}

// New makes the list.
func New(o Options) *Panel {
	p := &Panel{o: o, memory: xwidget.NewFixedText("")}
	p.memory.Stretch, p.memory.Muted, p.memory.Tips = true, true, o.Tips
	p.List = xwidget.NewList(
		func() int {
			if p.o.Session.Document() == nil {
				return 0
			}
			return len(p.names) + 1
		},
		func() fyne.CanvasObject {
			l := widget.NewLabel("")
			l.Truncation = fyne.TextTruncateEllipsis
			return l
		},
		func(i widget.ListItemID, o fyne.CanvasObject) { p.show(i, o.(*widget.Label)) }, o.Keys)
	p.List.OnSelected = xwidget.ByUser(&p.quiet, p.goTo)
	p.Object = container.NewBorder(nil, xwidget.Inset(4, 8, p.memory), nil, nil, p.List)
	return p
}

// show updates the row of step i; step 0 is the state before the first one. Undone steps are muted.
func (p *Panel) show(i int, l *widget.Label) {
	l.Importance = widget.MediumImportance
	if i > p.done {
		l.Importance = widget.LowImportance
	}
	text := p.o.Texts.Sprintf("Initial state")
	if i > 0 && i <= len(p.names) {
		text = p.o.Texts.Int(i) + "  " + p.o.Texts.Sprint(p.names[i-1])
	}
	l.SetText(text)
}

// goTo undoes or redoes steps until i are done.
func (p *Panel) goTo(i int) {
	if i == p.done {
		return
	}
	if p.o.Session.Busy() && !p.o.Preview.Previewing() {
		p.o.Say(p.o.Texts.Sprintf("Another task is still running; wait for it or cancel it"))
		p.mark()
		return
	}
	p.o.Editor.GoTo(i)
}

// mark selects the last step that is done.
func (p *Panel) mark() {
	p.quiet.Show(func() { p.List.Select(p.done) })
}

// Update shows the present history.
func (p *Panel) Update() {
	p.names, p.done = p.o.Editor.History()
	text := ""
	if doc := p.o.Session.Document(); doc != nil {
		used, budget := doc.HistoryBytes()
		text = p.o.Texts.Sprintf("%s of %s MiB in use; beyond that the oldest steps are forgotten",
			p.o.Texts.Number(float64(used)/(1<<20), 1), p.o.Texts.Int(int(budget>>20)))
	}
	p.memory.SetText(text)
	p.List.Refresh()
	if p.o.Session.Document() != nil {
		p.mark()
	}
}
