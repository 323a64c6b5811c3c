package ui

import (
	"os"
	"sort"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"blik/ui/filedialog"
)

// chooseDialogs returns the file dialogs that the window uses: the system's, unless the environment asks for the
// toolkit's.
func chooseDialogs(w *window) filedialog.Dialogs {
	toolkit := filedialog.Toolkit(w.win, func() filedialog.Words {
		return filedialog.Words{Save: w.t("button.save"), Cancel: w.t("button.cancel"), Browse: w.t("button.browse")}
	}, w.confirmReplace)
	if os.Getenv("BLIK_DIALOGS") == "fyne" {
		return toolkit
	}
	return filedialog.Native(toolkit, w.confirmReplace, w.shield)
}

// showDialog shows a dialog that Escape closes, as its Cancel does.
func (w *window) showDialog(d dialog.Dialog) {
	w.dialog = d
	d.Show()
}

// confirmReplace asks whether a file may be replaced.
func (w *window) confirmReplace(path string, yes func()) {
	d := dialog.NewConfirm(w.t("replace.title"), w.t("replace.text", "Name", baseName(path)), func(ok bool) {
		if ok {
			yes()
		}
	}, w.win)
	d.SetConfirmText(w.t("button.replace"))
	d.SetDismissText(w.t("button.cancel"))
	w.showDialog(d)
}

// shield covers the window while a dialog of the system is open.
func (w *window) shield() (remove func()) {
	pop := widget.NewModalPopUp(widget.NewLabel(w.t("status.dialogOpen")), w.win.Canvas())
	pop.Show()
	return pop.Hide
}

// showKeys lists the keys.
func (w *window) showKeys() {
	grid := container.NewGridWithColumns(2)
	var ids []string
	for id := range w.actions {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for _, id := range ids {
		s := w.actions[id].shortcut
		if s == nil {
			s = keyOf(id)
		}
		k, ok := s.(fyne.KeyboardShortcut)
		if !ok {
			continue
		}
		name := widget.NewLabel(strings.TrimSuffix(w.t("action."+id), "…"))
		name.Truncation = fyne.TextTruncateEllipsis
		grid.Add(name)
		grid.Add(widget.NewLabelWithStyle(keyText(k), fyne.TextAlignLeading, fyne.TextStyle{Bold: true}))
	}
	mouse := widget.NewLabel(w.t("keys.mouse"))
	mouse.Wrapping = fyne.TextWrapWord
	d := dialog.NewCustom(w.t("keys.title"), w.t("button.close"),
		container.NewVScroll(container.NewVBox(mouse, grid)), w.win)
	size := w.win.Canvas().Size()
	d.Resize(fyne.NewSize(min(560, size.Width*0.9), min(620, size.Height*0.9)))
	w.showDialog(d)
}

func (w *window) showAbout() {
	text := widget.NewLabel(w.t("about.text", "Version", w.version))
	text.Wrapping = fyne.TextWrapWord
	d := dialog.NewCustom(w.t("action.help.about"), w.t("button.close"), text, w.win)
	d.Resize(fyne.NewSize(460, 220))
	w.showDialog(d)
}
