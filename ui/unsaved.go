package ui

import (
	"fyne.io/fyne/v2/widget"

	"blik/app/session/store"
)

// offerUnsaved asks about unsaved work of a program that ended unexpectedly, one piece at a time, the newest first.
func (w *window) offerUnsaved() {
	all := w.c.store.Interrupted()
	if len(all) == 0 {
		return
	}
	u := all[len(all)-1]
	text := w.k.t("The mask and corrections of %s had not been saved when Blik ended (%s). You can restore them.",
		u.Path, u.Date.Format("2006-01-02 15:04"))
	w.k.prompts.askOr(w.k.t("Restore unsaved work?"), text, w.k.t("Later"), []answer{
		{w.k.t("Discard"), widget.DangerImportance, func() { w.discardUnsaved(u) }},
		{w.k.t("Restore"), widget.HighImportance, func() { w.resumeUnsaved(u) }},
	})
}

func (w *window) discardUnsaved(u *store.Unsaved) {
	if err := w.c.store.Discard(u); err != nil {
		w.k.prompts.showError("Could not discard the unsaved work", err)
		return
	}
	w.offerUnsaved()
}

// resumeUnsaved restores the work after asking what to do with unsaved work on the open picture.
func (w *window) resumeUnsaved(u *store.Unsaved) {
	w.files.guard(func() {
		w.c.store.Resume(u, func(err error) {
			if w.k.prompts.ended("Could not restore the unsaved work", err) {
				w.k.display.showMask()
				w.files.k.say(w.k.t("Restored: %s", baseName(u.Path)))
			}
		})
	})
}
