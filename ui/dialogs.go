package ui

import (
	"os"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/ui/filedialog"
	"blik/ui/xwidget"
)

// chooseDialogs returns what makes the file dialogs of a window: the system's, unless the environment asks for the
// toolkit's.
func chooseDialogs() func(w *window, win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs {
	system := filedialog.NewSystem()
	return func(w *window, win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs {
		confirm := func(path string, yes func()) { w.confirmReplace(win, modals, path, yes) }
		toolkit := filedialog.Toolkit(win, func() filedialog.Words {
			return filedialog.Words{Save: w.t("button.save"), Cancel: w.t("button.cancel"), Browse: w.t("button.browse")}
		}, confirm)
		if os.Getenv("BLIK_DIALOGS") == "fyne" {
			return toolkit
		}
		return system.Dialogs(toolkit, confirm, func() func() { return w.shield(win) })
	}
}

// showDialog shows a dialog that Escape closes, as its Cancel does. accept is what Enter does; nil closes it, too.
func (w *window) showDialog(d dialog.Dialog, accept func()) { w.modals.Show(d, accept) }

// confirmReplace asks over a window whether a file may be replaced.
func (w *window) confirmReplace(win fyne.Window, modals *xwidget.Modals, path string, yes func()) {
	d := dialog.NewConfirm(w.t("replace.title"), w.t("replace.text", "Name", baseName(path)), func(ok bool) {
		if ok {
			yes()
		}
	}, win)
	d.SetConfirmText(w.t("button.replace"))
	d.SetDismissText(w.t("button.cancel"))
	modals.Show(d, d.Confirm)
}

// shield covers a window while a dialog of the system is open.
func (w *window) shield(win fyne.Window) (remove func()) {
	pop := widget.NewModalPopUp(widget.NewLabel(w.t("status.dialogOpen")), win.Canvas())
	pop.Show()
	return pop.Hide
}

// showKeys lists the keys in the order of the menus.
func (w *window) showKeys() {
	mouse := widget.NewLabel(w.t("keys.mouse"))
	mouse.Wrapping = fyne.TextWrapWord
	box := container.NewVBox(mouse)
	for _, m := range menuTable() {
		grid := container.New(layout.NewFormLayout())
		for _, id := range m.ids {
			a := w.actions[id]
			if a == nil || w.keyText(id) == "" {
				continue
			}
			key := widget.NewLabelWithStyle(w.keyText(id), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
			grid.Add(xwidget.NewMinWidth(130, key))
			grid.Add(widget.NewLabel(w.name(id)))
		}
		if len(grid.Objects) > 0 {
			box.Add(widget.NewLabelWithStyle(w.t(m.title), fyne.TextAlignLeading, fyne.TextStyle{Bold: true}))
			box.Add(grid)
		}
	}
	d := dialog.NewCustom(w.t("keys.title"), w.t("button.close"), container.NewVScroll(box), w.win)
	size := w.win.Canvas().Size()
	d.Resize(fyne.NewSize(min(560, size.Width*0.9), min(620, size.Height*0.9)))
	w.showDialog(d, nil)
}

func (w *window) showAbout() {
	text := widget.NewLabel(w.t("about.text", "Version", w.version))
	text.Wrapping = fyne.TextWrapWord
	d := dialog.NewCustom(w.t("action.help.about"), w.t("button.close"), text, w.win)
	d.Resize(fyne.NewSize(460, 220))
	w.showDialog(d, nil)
}
