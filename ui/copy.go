package ui

import (
	"strings"

	"fyne.io/fyne/v2"
)

// copyValues copies the values of the pixel under the pointer and of the finding there. If the pointer is elsewhere, it
// copies those of the selected finding. A focused field copies its own text instead.
func (w *window) copyValues() {
	// The driver asks the menu before the field that has the focus.
	if field, ok := w.win.Canvas().Focused().(fyne.Shortcutable); ok {
		field.TypedShortcut(&fyne.ShortcutCopy{Clipboard: w.app.Clipboard()})
		return
	}
	if !w.dialogOpen() {
		w.toClipboard(w.valuesText())
	}
}

// valuesText returns what copyValues copies; it is empty if there is nothing.
func (w *window) valuesText() string {
	if w.c.session.Document() == nil {
		return ""
	}
	if place := w.status.place.Text(); place != "" {
		lines := []string{place + "  " + w.status.values.Text()}
		if f, ok := w.c.session.Document().SpotAt(w.status.at.X, w.status.at.Y); ok {
			lines = append(lines, w.k.aboutText(f))
		}
		return strings.Join(lines, "\n")
	}
	if f, ok := w.c.found.Selected(); ok {
		return w.k.aboutText(f)
	}
	return ""
}

// copyList copies the listed findings: a line each, columns separated by tabs, for spreadsheets.
func (w *window) copyList() {
	var heads []string
	for _, column := range findingColumns {
		heads = append(heads, w.k.t(column.name))
	}
	lines := []string{strings.Join(heads, "\t")}
	for _, f := range w.c.found.Listed() {
		var cells []string
		for _, column := range findingColumns {
			cells = append(cells, column.cell(w.k, f))
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	w.toClipboard(strings.Join(lines, "\n"))
}

// copyInformation copies the information on the picture.
func (w *window) copyInformation() {
	var lines []string
	for _, f := range w.c.about.facts() {
		lines = append(lines, f.name+"\t"+f.value)
	}
	w.toClipboard(strings.Join(lines, "\n"))
}

// toClipboard copies a text and announces it.
func (w *window) toClipboard(text string) {
	if text == "" {
		w.k.say(w.k.t("Nothing to copy: point at a pixel or select a finding"))
		return
	}
	w.app.Clipboard().SetContent(text)
	first, _, _ := strings.Cut(text, "\n")
	w.k.say(w.k.t("Copied: %s", strings.ReplaceAll(first, "\t", "  ")))
}
