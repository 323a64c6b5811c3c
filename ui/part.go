package ui

import (
	"fyne.io/fyne/v2"

	"blik/app/i18n"
	"blik/app/session"
	"blik/app/session/analysis"
	"blik/app/session/devices"
	"blik/app/session/editor"
	"blik/app/session/film"
	"blik/app/session/findings"
	"blik/app/session/glare"
	"blik/app/session/preview"
	"blik/app/session/store"
	"blik/internal/message"
	"blik/ui/client"
	"blik/ui/filmstrip"
	"blik/ui/prompt"
	"blik/ui/words"
	"blik/ui/xwidget"
)

// change is what the parts of the window update themselves from: a change of the session, or of the window's own state.
type change struct {
	session.Change
	// Tool is set for another tool, Brush for another size or softness of the brush.
	Tool, Brush bool
	// Zoom is set for another zoom, position or size of the viewport, View for a change of the overlay or the
	// comparison, Layout for a change of the visible parts of the window.
	Zoom, View, Layout bool
	// Presets is set for a change of the presets in the menu.
	Presets bool
	// Remade is set if nothing has changed, but the parts are new.
	Remade bool
}

// everything is the change from which a new part initialises itself.
func everything() change {
	return change{
		Change: session.Everything(), Tool: true, Brush: true, Zoom: true, View: true, Layout: true, Remade: true,
	}
}

// part is a part of the window that shows some of its state.
type part interface{ update(c change) }

// common holds what the parts of the window are made from. Each takes what it shows.
type common struct {
	k *kit

	session  *session.Session
	editor   *editor.Editor
	found    *findings.Findings
	learner  *findings.Learner
	glare    *glare.Glare
	preview  *preview.Preview
	frames   *film.Film
	store    *store.Store
	analysis *analysis.Analysis
	devices  *devices.Devices

	review    *review
	treatment *treatment
}

// kit is what all parts of the window use to show things. When the language changes, texts and tips are replaced first
// and then the parts are made anew.
type kit struct {
	texts   *i18n.Printer
	words   *words.Words
	tips    *xwidget.Tooltips
	actions *actions
	keys    xwidget.Keys
	display *display
	toolbox *toolbox
	win     fyne.Window
	prompts *prompt.Prompts
	// say shows a passing message in the status bar.
	say func(text string)
	// changed announces a change of the window's own state to the parts.
	changed func(change)
}

// t translates a text into the language of the window; see message.Of.
func (k *kit) t(format message.Text, args ...any) string { return k.texts.Sprintf(format, args...) }

// current, keyboard and message are texts, keys and say for what outlives a change of the language.
func (k *kit) current() *i18n.Printer { return k.texts }

func (k *kit) keyboard() xwidget.Keys { return k.keys }
func (k *kit) message(text string)    { k.say(text) }

// button makes the tool button of an action.
func (k *kit) button(id string, icon fyne.Resource) *xwidget.ToolButton {
	b := xwidget.NewToolButton(icon, k.tip(id), k.tips, func() { k.actions.do(id) })
	b.Keys = k.keys
	return b
}

// tip returns the name of an action with its key.
func (k *kit) tip(id string) string {
	if keys := k.keyText(id); keys != "" {
		return k.name(id) + "  (" + keys + ")"
	}
	return k.name(id)
}

// clientPart is the window of the client as a part of the window.
type clientPart struct{ *client.Window }

func (p clientPart) update(c change) {
	switch {
	case c.Document || c.Corrections:
		p.ShowPicture()
	case c.Zoom:
		p.Follow()
	}
}

// clientTitle returns the title of the window with the result.
func (k *kit) clientTitle() string { return k.t("Result") + " – " + programName }

// toggleClient opens or closes the window with the result.
func (w *window) toggleClient() {
	w.client.Toggle(w.k.clientTitle())
	w.k.changed(change{View: true})
}

// filmPart is the filmstrip as a part of the window.
type filmPart struct{ *filmstrip.Strip }

func newFilmPart(c *common, open func(path string)) filmPart {
	return filmPart{filmstrip.New(filmstrip.Options{
		Texts: c.k.texts, Tips: c.k.tips, Keys: c.k.keys, Session: c.session, Frames: c.frames,
		Open: open, ErrorText: c.k.prompts.ErrorText,
	})}
}

func (p filmPart) update(c change) {
	if c.Film || c.Document {
		p.Update(c.Document)
	}
}
