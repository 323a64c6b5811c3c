package ui

import (
	"fyne.io/fyne/v2/widget"

	"blik/app/session/store"
)

// offerUnsaved asks about unsaved work of a program that ended unexpectedly, one piece at a time, the newest first.
func (w *window) offerUnsaved() {
	all := w.store.Interrupted()
	if len(all) == 0 {
		return
	}
	u := all[len(all)-1]
	text := w.t("The mask and corrections of %s had not been saved when Blik ended (%s). You can restore them.",
		u.Path, u.Date.Format("2006-01-02 15:04"))
	w.prompts.askOr(w.t("Restore unsaved work?"), text, w.t("Later"), []answer{
		{w.t("Discard"), widget.DangerImportance, func() { w.discardUnsaved(u) }},
		{w.t("Restore"), widget.HighImportance, func() { w.resumeUnsaved(u) }},
	})
}

func (w *window) discardUnsaved(u *store.Unsaved) {
	if err := w.store.Discard(u); err != nil {
		w.prompts.showError("Could not discard the unsaved work", err)
		return
	}
	w.offerUnsaved()
}

// resumeUnsaved restores the work after asking what to do with unsaved work on the open picture.
func (w *window) resumeUnsaved(u *store.Unsaved) {
	w.files.guard(func() {
		w.store.Resume(u, func(err error) {
			if w.prompts.ended("Could not restore the unsaved work", err) {
				w.display.showMask()
				w.files.say(w.t("Restored: %s", baseName(u.Path)))
			}
		})
	})
}
