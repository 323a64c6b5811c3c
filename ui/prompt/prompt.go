// Package prompt shows dialogs: errors, questions and texts.
package prompt

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/job"
	"blik/internal/message"
	"blik/processing"
	"blik/ui/filedialog"
	"blik/ui/xwidget"
)

// Options say where dialogs are shown, and how. The functions return what is current: language and keys may change.
type Options struct {
	Window fyne.Window
	Texts  func() *i18n.Printer
	Keys   func() xwidget.Keys
	// Say shows a passing message in the status bar.
	Say func(text string)
}

// Prompts shows the dialogs of a window.
type Prompts struct {
	o      Options
	modals *xwidget.Modals
}

// New returns the prompts of a window; modals are the dialogs that lie over it.
func New(modals *xwidget.Modals, o Options) *Prompts { return &Prompts{o, modals} }

func (p *Prompts) t(format message.Text, args ...any) string {
	return p.o.Texts().Sprintf(format, args...)
}

// Window returns the window of the dialogs.
func (p *Prompts) Window() fyne.Window { return p.o.Window }

// Key answers the dialog in front by Escape or Enter; ok is false if none is open or another key was pressed.
func (p *Prompts) Key(name fyne.KeyName) (ok bool) { return p.modals.Key(name) }

// Ended reports the end of work that the user asked for; ok is true if it succeeded. failed says what did not work, as
// the title of the error.
func (p *Prompts) Ended(failed message.Text, err error) (ok bool) {
	switch {
	case err == nil:
		return true
	case errors.Is(err, job.ErrBusy):
		p.o.Say(p.t("Another task is still running; wait for it or cancel it"))
	case errors.Is(err, context.Canceled):
		p.o.Say(p.t("Cancelled"))
	default:
		p.o.Say("")
		p.ShowError(failed, err)
	}
	return false
}

// Saved is Ended for saving. Where a place cannot be written, the error offers another one.
func (p *Prompts) Saved(failed message.Text, err error, elsewhere func()) (ok bool) {
	if !imagefile.Unwritable(err) {
		return p.Ended(failed, err)
	}
	p.o.Say("")
	p.Ask(p.t(failed), p.ErrorText(err), []Answer{Main(p.t("Save elsewhere…"), elsewhere)})
	return false
}

// ErrorText returns an error as one sentence, in the user's language if possible.
func (p *Prompts) ErrorText(err error) string {
	if errors.Is(err, processing.ErrRegionOutside) {
		return p.t("The region lies outside the picture.")
	}
	return p.o.Texts().Error(err)
}

// ShowError shows an error below a title that says what did not work.
func (p *Prompts) ShowError(failed message.Text, err error) {
	p.ShowCustom(p.t(failed), p.t("OK"), xwidget.NewWrapped(p.ErrorText(err)), 460, 160)
}

// ShowCustom shows a dialog with one button, of the given size or as large as the window allows.
func (p *Prompts) ShowCustom(title, button string, content fyne.CanvasObject, width, height float32) {
	d := dialog.NewCustom(title, button, content, p.o.Window)
	p.Show(d, width, height, nil)
}

// Show shows a dialog. Escape closes it like its Cancel button. accept is what Enter does; nil closes it, too.
func (p *Prompts) Show(d dialog.Dialog, width, height float32, accept func()) {
	room := p.o.Window.Canvas().Size()
	d.Resize(fyne.NewSize(min(width, room.Width*0.9), min(height, room.Height*0.9)))
	p.modals.Show(d, accept)
}

// Answer is a button of a question.
type Answer struct {
	text       string
	importance widget.Importance
	do         func()
}

// Main is the answer that Enter gives.
func Main(text string, do func()) Answer { return Answer{text, widget.HighImportance, do} }

// Plain is one of several answers.
func Plain(text string, do func()) Answer { return Answer{text, widget.MediumImportance, do} }

// Warning is an answer that loses something.
func Warning(text string, do func()) Answer { return Answer{text, widget.WarningImportance, do} }

// Danger is an answer that cannot be undone.
func Danger(text string, do func()) Answer { return Answer{text, widget.DangerImportance, do} }

// NoText is the text of the button that cancels a question.
func (p *Prompts) NoText() string { return p.o.Texts().Sprint(message.Of("Cancel").Context("dialog")) }

// Ask shows a question with the given answers and Cancel. Enter gives the highlighted answer; if none is highlighted,
// or the answer cannot be undone, Enter cancels.
func (p *Prompts) Ask(title, text string, answers []Answer) {
	p.AskOr(title, text, p.NoText(), answers)
}

// AskOr is Ask with another text for Cancel.
func (p *Prompts) AskOr(title, text, out string, answers []Answer) {
	d := dialog.NewCustomWithoutButtons(title, xwidget.NewWrapped(text), p.o.Window)
	buttons := container.New(layout.NewHBoxLayout(), xwidget.NewButton(out, p.o.Keys(), d.Hide))
	var accept func()
	for _, a := range answers {
		answer := func() {
			d.Hide()
			a.do()
		}
		b := xwidget.NewButton(a.text, p.o.Keys(), answer)
		b.Importance = a.importance
		buttons.Add(b)
		if a.importance == widget.HighImportance {
			accept = answer
		}
	}
	d.SetButtons([]fyne.CanvasObject{buttons})
	p.Show(d, 480, xwidget.QuestionHeight(text), accept)
}

// ConfirmReplace asks whether a file may be overwritten.
func (p *Prompts) ConfirmReplace(path string, yes func()) {
	p.Ask(p.t("Overwrite the file?"), p.t("%s already exists and will be overwritten.", filepath.Base(path)),
		[]Answer{Main(p.t("Overwrite"), yes)})
}

// in returns the prompts of another window.
func (p *Prompts) in(win fyne.Window, modals *xwidget.Modals) *Prompts {
	o := p.o
	o.Window = win
	return New(modals, o)
}

// Dialogs makes the file dialogs of one of the program's windows.
type Dialogs func(p *Prompts, win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs

// SystemDialogs returns the maker of the system's file dialogs, or of the toolkit's if the environment asks for them.
func SystemDialogs() Dialogs {
	system := filedialog.NewSystem()
	return func(p *Prompts, win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs {
		confirm := p.in(win, modals).ConfirmReplace
		toolkit := filedialog.Toolkit(win, func() filedialog.Words {
			return filedialog.Words{Save: p.t("Save"), Cancel: p.NoText(), Browse: p.t("Folder…")}
		}, confirm, modals.Show)
		if os.Getenv("BLIK_DIALOGS") == "fyne" {
			return toolkit
		}
		return system.Dialogs(toolkit, confirm, func() func() { return p.shield(win) })
	}
}

// shield covers a window while a dialog of the system is open.
func (p *Prompts) shield(win fyne.Window) (remove func()) {
	pop := widget.NewModalPopUp(widget.NewLabel(p.t("A file dialog is already open")), win.Canvas())
	pop.Show()
	return pop.Hide
}
