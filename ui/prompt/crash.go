package prompt

import (
	"os"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"blik/app/crash"
	"blik/ui/xwidget"
)

// OfferCrashLogs offers the logs of earlier runs that crashed. Each is offered once: then it is removed, unless the
// user saves it or wants to be asked again.
func (p *Prompts) OfferCrashLogs(copied fyne.Clipboard) {
	logs, err := crash.Pending()
	if err != nil {
		fyne.LogError("crash logs", err)
		return
	}
	if len(logs) == 0 {
		return
	}
	path := logs[len(logs)-1]
	data, err := os.ReadFile(path)
	if err != nil {
		fyne.LogError("crash log", err)
		return
	}
	note := xwidget.NewWrapped(p.t("This log says where it happened. Please attach it to a bug report; it contains "+
		"no image data. File: %s", path))
	text := widget.NewLabel(string(data))
	text.TextStyle.Monospace = true
	text.Selectable = true
	d := dialog.NewCustomWithoutButtons(p.t("Blik closed unexpectedly last time"),
		container.NewBorder(note, nil, nil, nil, container.NewScroll(text)), p.o.Window)
	copyText := xwidget.NewButton(p.t("Copy"), p.o.Keys(), func() { copied.SetContent(string(data)) })
	keep := xwidget.NewButton(p.t("Ask again next time"), p.o.Keys(), d.Hide)
	remove := xwidget.NewButton(p.t("Remove log"), p.o.Keys(), func() {
		d.Hide()
		for _, log := range logs {
			if err := os.Remove(log); err != nil && !os.IsNotExist(err) {
				p.ShowError("Could not remove the log", err)
				return
			}
		}
	})
	// Enter is the default, so that pressing it in haste loses nothing.
	keep.Importance = widget.HighImportance
	d.SetButtons([]fyne.CanvasObject{copyText, keep, remove})
	p.Show(d, 720, 480, nil)
}
