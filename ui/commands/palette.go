// Package commands lists the commands of the window: to find and run one, and to give them other keys.
package commands

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"blik/app/i18n"
	"blik/ui/prompt"
	"blik/ui/xwidget"
)

// Command is an entry in the list of all commands.
type Command struct {
	ID, Name, Keys string
	// Menu is the menu that contains the action, Ready whether the action can run now.
	Menu  string
	Ready bool
}

// Matching returns the commands whose names or menus contain all words of a text. Those whose names start with the text
// come first, those that cannot run now last.
func Matching(all []Command, text string) []Command {
	words := strings.Fields(strings.ToLower(text))
	var found []Command
	for _, c := range all {
		in := strings.ToLower(c.Name + " " + c.Menu)
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(in, word) }) {
			found = append(found, c)
		}
	}
	rank := func(c Command) int {
		r := 0
		if !c.Ready {
			r = 2
		}
		if !strings.HasPrefix(strings.ToLower(c.Name), strings.ToLower(strings.TrimSpace(text))) {
			r++
		}
		return r
	}
	slices.SortStableFunc(found, func(a, b Command) int { return rank(a) - rank(b) })
	return found
}

// palette is the list of all commands with a search field.
type palette struct {
	run   func(id string)
	all   []Command
	found []Command
	at    int
	list  *widget.List
	// none is shown in place of the list if no command matches.
	none  *widget.Label
	entry *xwidget.SearchEntry
	hide  func()
}

// Show shows the list of all commands in the window of prompts; run gets the chosen one.
func Show(all []Command, texts *i18n.Printer, prompts *prompt.Prompts, run func(id string)) {
	p := &palette{run: run, all: all}
	p.entry = xwidget.NewSearchEntry(texts.Sprintf("Search commands"))
	p.entry.OnChanged = p.search
	p.entry.OnStep = p.step
	p.entry.OnSubmitted = func(string) { p.choose(p.at) }
	p.list = widget.NewList(func() int { return len(p.found) },
		func() fyne.CanvasObject {
			return container.NewBorder(nil, nil, nil, widget.NewLabel(""), widget.NewLabel(""))
		},
		func(i widget.ListItemID, o fyne.CanvasObject) { p.show(i, o.(*fyne.Container)) })
	p.none = widget.NewLabel(texts.Sprintf("No command has these words in its name."))
	p.none.Importance = widget.LowImportance
	p.list.OnSelected = func(i widget.ListItemID) {
		if i != p.at {
			p.choose(i)
		}
	}
	p.search("")
	d := dialog.NewCustom(texts.Sprintf("All commands"), texts.Sprintf("Close"),
		container.NewBorder(p.entry, nil, nil, nil, p.list, container.NewCenter(p.none)), prompts.Window())
	p.hide = d.Hide
	p.entry.OnEscape = d.Hide
	prompts.Show(d, 560, 480, nil)
	// Marking the first row scrolled the list before it had a height.
	p.list.ScrollToTop()
	prompts.Window().Canvas().Focus(p.entry)
}

func (p *palette) show(i int, o *fyne.Container) {
	if i >= len(p.found) {
		return
	}
	c := p.found[i]
	name, keys := o.Objects[0].(*widget.Label), o.Objects[1].(*widget.Label)
	name.Truncation = fyne.TextTruncateEllipsis
	name.Importance, keys.Importance = widget.MediumImportance, widget.LowImportance
	if !c.Ready {
		name.Importance = widget.LowImportance
	}
	name.SetText(c.Menu + " → " + c.Name)
	keys.SetText(c.Keys)
}

// search lists the commands that match a text and marks the first.
func (p *palette) search(text string) {
	p.found = Matching(p.all, text)
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

// choose closes the list and runs a command.
func (p *palette) choose(i int) {
	if i < 0 || i >= len(p.found) {
		return
	}
	c := p.found[i]
	if !c.Ready {
		return
	}
	p.hide()
	p.run(c.ID)
}
