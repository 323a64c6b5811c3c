package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"blik/app/session"
	"blik/app/session/editor"
	"blik/app/session/preview"
	"blik/internal/message"
	"blik/ui/xwidget"
)

// historyPanel is the tab of undo steps; a click or the space bar goes back or forward to one.
type historyPanel struct {
	k       *kit
	session *session.Session
	editor  *editor.Editor
	preview *preview.Preview
	object  fyne.CanvasObject
	list    *xwidget.List
	memory  *xwidget.FixedText

	names []message.Message
	done  int
	quiet quiet
}

func newHistoryPanel(c *common) *historyPanel {
	p := &historyPanel{k: c.k, session: c.session, editor: c.editor, preview: c.preview,
		memory: xwidget.NewFixedText("")}
	p.memory.Stretch, p.memory.Muted, p.memory.Tips = true, true, c.k.tips
	p.list = xwidget.NewList(
		func() int {
			if p.session.Document() == nil {
				return 0
			}
			return len(p.names) + 1
		},
		func() fyne.CanvasObject {
			l := widget.NewLabel("")
			l.Truncation = fyne.TextTruncateEllipsis
			return l
		},
		func(i widget.ListItemID, o fyne.CanvasObject) { p.show(i, o.(*widget.Label)) }, c.k.keys)
	p.list.OnSelected = byUser(&p.quiet, p.goTo)
	p.object = container.NewBorder(nil, xwidget.Inset(4, 8, p.memory), nil, nil, p.list)
	return p
}

// show updates the row of step i; step 0 is the state before the first one. Undone steps are muted.
func (p *historyPanel) show(i int, l *widget.Label) {
	l.Importance = widget.MediumImportance
	if i > p.done {
		l.Importance = widget.LowImportance
	}
	text := p.k.t("Initial state")
	if i > 0 && i <= len(p.names) {
		text = p.k.texts.Int(i) + "  " + p.k.texts.Sprint(p.names[i-1])
	}
	l.SetText(text)
}

// goTo undoes or redoes steps until i are done.
func (p *historyPanel) goTo(i int) {
	if i == p.done {
		return
	}
	if p.session.Busy() && !p.preview.Previewing() {
		p.k.say(p.k.t("Another task is still running; wait for it or cancel it"))
		p.mark()
		return
	}
	p.editor.GoTo(i)
}

// mark selects the last step that is done.
func (p *historyPanel) mark() {
	p.quiet.show(func() { p.list.Select(p.done) })
}

func (p *historyPanel) update(c change) {
	if !c.History && !c.Document {
		return
	}
	p.names, p.done = p.editor.History()
	text := ""
	if doc := p.session.Document(); doc != nil {
		used, budget := doc.HistoryBytes()
		text = p.k.t("%s of %s MiB in use; beyond that the oldest steps are forgotten",
			p.k.texts.Number(float64(used)/(1<<20), 1), p.k.texts.Int(int(budget>>20)))
	}
	p.memory.SetText(text)
	p.list.Refresh()
	if p.session.Document() != nil {
		p.mark()
	}
}

// The indices of tabs in the panel.
const (
	findingsTab   = 1
	correctionTab = 2
	historyTab    = 3
)

// showHistory shows the history tab.
func (w *window) showHistory() {
	w.panelShown = true
	w.update(change{Layout: true})
	w.panel.tabs.SelectIndex(historyTab)
}
