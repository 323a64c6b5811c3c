package ui

import (
	"fyne.io/fyne/v2"

	"blik/app/i18n"
	"blik/app/session"
	"blik/internal/message"
	"blik/ui/xwidget"
)

// change is what the parts of the window update themselves from: a change of the session, or of the window's own state.
type change struct {
	session.Change
	// Tool: another tool is at work. Brush: its size or softness.
	Tool, Brush bool
	// Zoom: zoom, position or size of the viewport. View: the overlay, or the comparison with the original. Layout:
	// which parts of the window are shown.
	Zoom, View, Layout bool
	// Presets: those that the menu lists.
	Presets bool
}

// everything is the change of a part that was just made.
func everything() change {
	return change{Change: session.Everything(), Tool: true, Brush: true, Zoom: true, View: true, Layout: true}
}

// part is a part of the window that shows some of its state.
type part interface{ update(c change) }

// common is what the parts of the window share. texts and tips are replaced with the language, before the parts are
// made anew.
type common struct {
	*session.Session
	texts   *i18n.Printer
	tips    *xwidget.Tooltips
	actions *actions
	keys    xwidget.Keys
	display *display
	toolbox *toolbox
	prompts *prompts
	// say shows a passing message in the status bar.
	say func(text string)
	// changed announces to the parts a change of the window's own state.
	changed func(change)
}

// t writes a text in the language of the window; see message.Of.
func (c *common) t(format message.Text, args ...any) string { return c.texts.Sprintf(format, args...) }

// button makes the tool button of an action; its tip names the action and its key.
func (c *common) button(id string, icon fyne.Resource) *xwidget.ToolButton {
	b := xwidget.NewToolButton(icon, c.tip(id), c.tips, func() { c.actions.do(id) })
	b.Keys = c.keys
	return b
}

// tip is the name of an action with its key.
func (c *common) tip(id string) string {
	if k := c.keyText(id); k != "" {
		return c.name(id) + "  (" + k + ")"
	}
	return c.name(id)
}
