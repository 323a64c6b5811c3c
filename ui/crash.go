package ui

import (
	"os"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"blik/app/crash"
	"blik/app/job"
)

// recordPanic keeps the log of a job that panicked; the window says that it failed and goes on.
func (w *window) recordPanic(p *job.PanicError) { w.crash.Record(p.Value, p.Stack) }

// offerCrashLogs shows what earlier runs that crashed left behind. Each is offered once: it is removed, or kept where
// the user saves it or wants to be asked again.
func (w *window) offerCrashLogs() {
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
	note := widget.NewLabel(w.t("crash.text", "Path", path))
	note.Wrapping = fyne.TextWrapWord
	text := widget.NewLabel(string(data))
	text.TextStyle.Monospace = true
	text.Selectable = true
	d := dialog.NewCustomWithoutButtons(w.t("crash.title"), container.NewBorder(note, nil, nil, nil, container.NewScroll(text)), w.win)
	copyText := widget.NewButton(w.t("button.copy"), func() { w.app.Clipboard().SetContent(string(data)) })
	keep := widget.NewButton(w.t("button.keep"), d.Hide)
	remove := widget.NewButton(w.t("button.remove"), func() {
		d.Hide()
		for _, log := range logs {
			if err := os.Remove(log); err != nil && !os.IsNotExist(err) {
				w.showError(err)
				return
			}
		}
	})
	// Enter, which a hasty user presses, loses nothing.
	keep.Importance = widget.HighImportance
	d.SetButtons([]fyne.CanvasObject{copyText, keep, remove})
	size := w.win.Canvas().Size()
	d.Resize(fyne.NewSize(min(720, size.Width*0.9), min(480, size.Height*0.9)))
	w.showDialog(d, nil)
}
