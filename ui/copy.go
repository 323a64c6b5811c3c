package ui

import (
	"strings"

	"fyne.io/fyne/v2"

	"blik/app/session"
	"blik/app/session/findings"
	"blik/ui/words"
)

// clipboard copies values and lists to the clipboard.
type clipboard struct {
	k       *kit
	app     fyne.App
	session *session.Session
	found   *findings.Findings
	// status returns the status bar, whose pixel is copied.
	status func() *statusBar
}

// copyValues copies the values of the pixel under the pointer and of the finding there. If the pointer is elsewhere, it
// copies those of the selected finding. A focused field copies its own text instead.
func (p *clipboard) copyValues() {
	// The driver asks the menu before the field that has the focus.
	if field, ok := p.k.win.Canvas().Focused().(fyne.Shortcutable); ok {
		field.TypedShortcut(&fyne.ShortcutCopy{Clipboard: p.app.Clipboard()})
		return
	}
	if !p.k.actions.blocked() {
		p.toClipboard(p.valuesText())
	}
}

// valuesText returns what copyValues copies; it is empty if there is nothing.
func (p *clipboard) valuesText() string {
	if p.session.Document() == nil {
		return ""
	}
	if place := p.status().place.Text(); place != "" {
		lines := []string{place + "  " + p.status().values.Text()}
		if f, ok := p.session.Document().SpotAt(p.status().at.X, p.status().at.Y); ok {
			lines = append(lines, p.k.words.Finding(f))
		}
		return strings.Join(lines, "\n")
	}
	if f, ok := p.found.Selected(); ok {
		return p.k.words.Finding(f)
	}
	return ""
}

// copyList copies the listed findings: a line each, columns separated by tabs, for spreadsheets.
func (p *clipboard) copyList() {
	heads := each(findingColumns, func(c findingColumn) string { return p.k.t(c.name) })
	lines := []string{strings.Join(heads, "\t")}
	for _, f := range p.found.Listed() {
		cells := each(findingColumns, func(c findingColumn) string { return c.cell(p.k.words, f) })
		lines = append(lines, strings.Join(cells, "\t"))
	}
	p.toClipboard(strings.Join(lines, "\n"))
}

// copyInformation copies the information on the picture.
func (p *clipboard) copyInformation() {
	lines := each(p.k.words.Facts(p.session.Shown()), func(f words.Fact) string { return f.Name + "\t" + f.Value })
	p.toClipboard(strings.Join(lines, "\n"))
}

// toClipboard copies a text and announces it.
func (p *clipboard) toClipboard(text string) {
	if text == "" {
		p.k.say(p.k.t("Nothing to copy: point at a pixel or select a finding"))
		return
	}
	p.app.Clipboard().SetContent(text)
	first, _, _ := strings.Cut(text, "\n")
	p.k.say(p.k.t("Copied: %s", strings.ReplaceAll(first, "\t", "  ")))
}
