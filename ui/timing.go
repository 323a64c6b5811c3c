package ui

import (
	"fyne.io/fyne/v2"

	"blik/app/i18n"
	"blik/app/session"
	"blik/ui/filedialog"
	"blik/ui/xwidget"
)

// Host is what the timing view needs from the window.
type Host struct {
	App     fyne.App
	Version string
	// Session runs the measurements as its only job, so that nothing else computes meanwhile.
	Session *session.Session
	// Dispatch runs functions on the toolkit's goroutine, in their order.
	Dispatch func(func())
	// Later runs functions there after the next frame.
	Later func(func())
	// Files makes the file dialogs of the view's window.
	Files func(win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs
	// Sentence returns an error as a sentence in the user's language.
	Sentence func(error) string
	// Note writes a line for tests that watch the program; it may be nil.
	Note func(format string, args ...any)
}

// TimingView is a window for measurements; Show brings it up.
type TimingView interface {
	Show()
	// SetTexts changes its language.
	SetTexts(words *i18n.Printer)
}

// showTiming shows the timing view. It measures in a job of the session, so that measurements and other work do not
// slow each other down.
func (w *window) showTiming() {
	if w.timing == nil {
		w.timing = w.config.timing(Host{
			App: w.app, Version: w.config.version, Session: w.c.session, Dispatch: w.config.session.Dispatch,
			Later: w.config.later, Sentence: w.k.prompts.ErrorText, Note: w.config.observer,
			Files: func(win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs {
				return w.config.dialogs(w.k.prompts, win, modals)
			},
		}, w.k.texts)
	}
	w.timing.Show()
}
