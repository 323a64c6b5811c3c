package ui

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"blik/ui/xwidget"
)

// command is an entry in the list of all commands.
type command struct {
	id, name, keys string
	// menu is the menu that contains the action, ready whether the action can run now.
	menu  string
	ready bool
}

// commands lists all named actions in the order of the menus.
func (w *window) commands() (all []command) {
	for _, m := range menuTable() {
		for _, id := range m.ids {
			if a := w.k.actions.table[id]; a != nil && a.name != "" && id != commandsAction {
				all = append(all, command{id, w.k.name(id), w.k.keyText(id), w.k.t(m.title), w.k.actions.offers(id)})
			}
		}
	}
	return all
}

// matching returns the commands whose names or menus contain all words of a text. Those whose names start with the text
// come first, those that cannot run now last.
func matching(all []command, text string) []command {
	words := strings.Fields(strings.ToLower(text))
	var found []command
	for _, c := range all {
		in := strings.ToLower(c.name + " " + c.menu)
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(in, word) }) {
			found = append(found, c)
		}
	}
	rank := func(c command) int {
		r := 0
		if !c.ready {
			r = 2
		}
		if !strings.HasPrefix(strings.ToLower(c.name), strings.ToLower(strings.TrimSpace(text))) {
			r++
		}
		return r
	}
	slices.SortStableFunc(found, func(a, b command) int { return rank(a) - rank(b) })
	return found
}

// palette is the list of all commands with a search field.
type palette struct {
	w     *window
	all   []command
	found []command
	at    int
	list  *widget.List
	// none is shown in place of the list if no command matches.
	none  *widget.Label
	entry *xwidget.SearchEntry
	hide  func()
}

// showCommands shows the list of all commands.
func (w *window) showCommands() {
	p := &palette{w: w, all: w.commands()}
	p.entry = xwidget.NewSearchEntry(w.k.t("Search commands"))
	p.entry.OnChanged = p.search
	p.entry.OnStep = p.step
	p.entry.OnSubmitted = func(string) { p.run(p.at) }
	p.list = widget.NewList(func() int { return len(p.found) },
		func() fyne.CanvasObject {
			return container.NewBorder(nil, nil, nil, widget.NewLabel(""), widget.NewLabel(""))
		},
		func(i widget.ListItemID, o fyne.CanvasObject) { p.show(i, o.(*fyne.Container)) })
	p.none = widget.NewLabel(w.k.t("No command has these words in its name."))
	p.none.Importance = widget.LowImportance
	p.list.OnSelected = func(i widget.ListItemID) {
		if i != p.at {
			p.run(i)
		}
	}
	p.search("")
	d := dialog.NewCustom(w.k.t("All commands"), w.k.t("Close"),
		container.NewBorder(p.entry, nil, nil, nil, p.list, container.NewCenter(p.none)), w.win)
	p.hide = d.Hide
	p.entry.OnEscape = d.Hide
	w.k.prompts.Show(d, 560, 480, nil)
	// Marking the first row scrolled the list before it had a height.
	p.list.ScrollToTop()
	w.win.Canvas().Focus(p.entry)
}

func (p *palette) show(i int, o *fyne.Container) {
	if i >= len(p.found) {
		return
	}
	c := p.found[i]
	name, keys := o.Objects[0].(*widget.Label), o.Objects[1].(*widget.Label)
	name.Truncation = fyne.TextTruncateEllipsis
	name.Importance, keys.Importance = widget.MediumImportance, widget.LowImportance
	if !c.ready {
		name.Importance = widget.LowImportance
	}
	name.SetText(c.menu + " → " + c.name)
	keys.SetText(c.keys)
}

// search lists the commands that match a text and marks the first.
func (p *palette) search(text string) {
	p.found = matching(p.all, text)
	p.list.UnselectAll()
	p.list.Refresh()
	xwidget.SetVisible(p.none, len(p.found) == 0)
	p.at = 0
	p.step(0)
}

// step marks another command.
func (p *palette) step(by int) {
	if len(p.found) == 0 {
		return
	}
	p.at = (p.at + by + len(p.found)) % len(p.found)
	p.list.Select(p.at)
}

// run closes the list and runs a command.
func (p *palette) run(i int) {
	if i < 0 || i >= len(p.found) {
		return
	}
	c := p.found[i]
	if !c.ready {
		return
	}
	p.hide()
	p.w.k.actions.do(c.id)
}
