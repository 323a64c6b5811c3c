package ui

import (
	"context"
	"errors"
	"os"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/app/imagefile"
	"blik/app/job"
	"blik/app/session"
	"blik/internal/message"
	"blik/processing"
	"blik/ui/filedialog"
	"blik/ui/xwidget"
)

// prompts shows the dialogs of the window: errors, questions and texts.
type prompts struct {
	k       *kit
	win     fyne.Window
	modals  *xwidget.Modals
	version string
}

// ended reports the end of work that the user asked for; ok is true if it succeeded. failed says what did not work, as
// the title of the error.
func (p *prompts) ended(failed message.Text, err error) (ok bool) {
	switch {
	case err == nil:
		return true
	case errors.Is(err, job.ErrBusy):
		p.k.say(p.k.t("Another task is still running; wait for it or cancel it"))
	case errors.Is(err, context.Canceled):
		p.k.say(p.k.t("Cancelled"))
	default:
		p.k.say("")
		p.showError(failed, err)
	}
	return false
}

// saved is ended for saving. Where a place cannot be written, the error offers another one.
func (p *prompts) saved(failed message.Text, err error, elsewhere func()) (ok bool) {
	if !imagefile.Unwritable(err) {
		return p.ended(failed, err)
	}
	p.k.say("")
	p.ask(p.k.t(failed), p.errorText(err), []answer{{p.k.t("Save elsewhere…"), widget.HighImportance, elsewhere}})
	return false
}

// errorText returns an error as one sentence, in the user's language if possible.
func (p *prompts) errorText(err error) string {
	if errors.Is(err, processing.ErrRegionOutside) {
		return p.k.t("The region lies outside the picture.")
	}
	return p.k.texts.Error(err)
}

// showError shows an error below a title that says what did not work.
func (p *prompts) showError(failed message.Text, err error) {
	p.showCustom(p.k.t(failed), p.k.t("OK"), xwidget.NewWrapped(p.errorText(err)), 460, 160)
}

// showCustom shows a dialog with one button, of the given size or as large as the window allows.
func (p *prompts) showCustom(title, button string, content fyne.CanvasObject, width, height float32) {
	d := dialog.NewCustom(title, button, content, p.win)
	p.show(d, width, height, nil)
}

// show shows a dialog. Escape closes it like its Cancel button. accept is what Enter does; nil closes it, too.
func (p *prompts) show(d dialog.Dialog, width, height float32, accept func()) {
	room := p.win.Canvas().Size()
	d.Resize(fyne.NewSize(min(width, room.Width*0.9), min(height, room.Height*0.9)))
	p.modals.Show(d, accept)
}

// answer is a button of a question.
type answer struct {
	text       string
	importance widget.Importance
	do         func()
}

// noText is the text of the button that cancels a question.
func (p *prompts) noText() string { return p.k.texts.Sprint(message.Of("Cancel").Context("dialog")) }

// ask shows a question with the given answers and Cancel. Enter gives the highlighted answer; if none is highlighted,
// or the answer cannot be undone, Enter cancels.
func (p *prompts) ask(title, text string, answers []answer) {
	p.askOr(title, text, p.noText(), answers)
}

// askOr is ask with another text for Cancel.
func (p *prompts) askOr(title, text, out string, answers []answer) {
	d := dialog.NewCustomWithoutButtons(title, xwidget.NewWrapped(text), p.win)
	buttons := container.New(layout.NewHBoxLayout(), xwidget.NewButton(out, p.k.keys, d.Hide))
	var accept func()
	for _, a := range answers {
		answer := func() {
			d.Hide()
			a.do()
		}
		b := xwidget.NewButton(a.text, p.k.keys, answer)
		b.Importance = a.importance
		buttons.Add(b)
		if a.importance == widget.HighImportance {
			accept = answer
		}
	}
	d.SetButtons([]fyne.CanvasObject{buttons})
	p.show(d, 480, xwidget.QuestionHeight(text), accept)
}

// confirmReplace asks in a window whether a file may be overwritten.
func (p *prompts) confirmReplace(win fyne.Window, modals *xwidget.Modals, path string, yes func()) {
	d := dialog.NewConfirm(p.k.t("Overwrite the file?"), p.k.t("%s already exists and will be overwritten.",
		baseName(path)), func(ok bool) {
		if ok {
			yes()
		}
	}, win)
	d.SetConfirmText(p.k.t("Overwrite"))
	d.SetDismissText(p.noText())
	modals.Show(d, d.Confirm)
}

// dialogMaker makes the file dialogs of one of the program's windows.
type dialogMaker func(p *prompts, win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs

// chooseDialogs returns the maker of the system's file dialogs, or of the toolkit's if the environment asks for them.
func chooseDialogs() dialogMaker {
	system := filedialog.NewSystem()
	return func(p *prompts, win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs {
		confirm := func(path string, yes func()) { p.confirmReplace(win, modals, path, yes) }
		toolkit := filedialog.Toolkit(win, func() filedialog.Words {
			return filedialog.Words{Save: p.k.t("Save"), Cancel: p.noText(), Browse: p.k.t("Folder…")}
		}, confirm, modals.Show)
		if os.Getenv("BLIK_DIALOGS") == "fyne" {
			return toolkit
		}
		return system.Dialogs(toolkit, confirm, func() func() { return p.shield(win) })
	}
}

// shield covers a window while a dialog of the system is open.
func (p *prompts) shield(win fyne.Window) (remove func()) {
	pop := widget.NewModalPopUp(widget.NewLabel(p.k.t("A file dialog is already open")), win.Canvas())
	pop.Show()
	return pop.Hide
}

// showKeys lists the keys in the order of the menus.
func (p *prompts) showKeys() {
	box := container.NewVBox(xwidget.NewWrapped(p.k.t("The wheel zooms at the pointer. Dragging with the space bar "+
		"or the middle button moves the picture with any tool. With the brush, the right button erases, Shift and "+
		"a click draw a straight line, Ctrl and the wheel change the size. While %s is held, the original is shown "+
		"instead of the corrected picture. Esc cancels the current action. On a Russian keyboard the same physical "+
		"keys work.", p.k.press(holdAction))))
	for _, m := range menuTable() {
		grid := container.New(layout.NewFormLayout())
		for _, id := range m.ids {
			if p.k.actions.table[id] == nil || p.k.keyText(id) == "" {
				continue
			}
			grid.Add(xwidget.NewMinWidth(130, xwidget.NewHeading(p.k.keyText(id))))
			grid.Add(widget.NewLabel(p.k.name(id)))
		}
		if len(grid.Objects) > 0 {
			box.Add(xwidget.NewHeading(p.k.t(m.title)))
			box.Add(grid)
		}
	}
	p.showCustom(p.k.t("Keys and mouse"), p.k.t("Close"), container.NewVScroll(box), 560, 620)
}

func (p *prompts) showAbout() {
	p.showCustom(p.k.t("About Blik"), p.k.t("Close"), xwidget.NewWrapped(p.k.t("Blik %s\n\nFinds glare on digital "+
		"reproductions of paintings and removes it, changing nothing else in the file.\nMIT "+
		"licence.", p.version)), 460, 220)
}

// showInformation shows the information on an open file.
func (p *prompts) showInformation(of session.Open) {
	grid := container.New(layout.NewFormLayout())
	for _, f := range p.k.words.Facts(of) {
		value := xwidget.NewWrapped(f.Value)
		value.Selectable = true
		grid.Add(xwidget.NewHeading(f.Name))
		grid.Add(value)
	}
	p.showCustom(p.k.t("Picture information"), p.k.t("Close"), container.NewVScroll(grid), 600, 420)
}
