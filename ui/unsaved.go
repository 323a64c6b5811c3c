package ui

import (
	"path/filepath"
	"time"

	"blik/app/session"
	"blik/app/session/store"
	"blik/internal/message"
	"blik/ui/files"
	"blik/ui/prompt"
)

// recovery offers work that was not saved when a program ended.
type recovery struct {
	k       *kit
	session *session.Session
	store   *store.Store
	files   *files.Files
}

// endingTime is how long the window waits, at its start, for other programs that have unsaved work; one of them may
// have been killed just now. In endingPause it looks again.
const (
	endingTime  = 5 * time.Second
	endingPause = 100 * time.Millisecond
)

// offerUnsaved asks about unsaved work of a program that ended unexpectedly, one piece at a time, the newest first. It
// waits for programs that have such work to end, but no longer than the given time. The window does not wait: journals
// of large pictures take seconds to read.
func (r *recovery) offerUnsaved(wait time.Duration) {
	go func() {
		for begun := time.Now(); r.store.OthersRun() && time.Since(begun) < wait; {
			time.Sleep(endingPause)
		}
		if all := r.store.Interrupted(); len(all) > 0 {
			r.session.Dispatch(func() { r.ask(all[len(all)-1]) })
		}
	}()
}

// ask asks what to do with unsaved work.
func (r *recovery) ask(u *store.Unsaved) {
	text := r.k.t("The mask and corrections of %s had not been saved when Blik ended (%s). You can restore them.",
		u.Path, u.Date.Format("2006-01-02 15:04"))
	r.k.prompts.AskOr(r.k.t("Restore unsaved work?"), text, r.k.t("Later"), []prompt.Answer{
		prompt.Danger(r.k.t("Discard"), func() { r.discardUnsaved(u) }),
		prompt.Main(r.k.t("Restore"), func() { r.resumeUnsaved(u) }),
	})
}

func (r *recovery) discardUnsaved(u *store.Unsaved) {
	if err := r.store.Discard(u); err != nil {
		r.k.prompts.ShowError("Could not discard the unsaved work", err)
		return
	}
	r.offerUnsaved(0)
}

// resumeUnsaved restores the work after asking what to do with unsaved work on the open picture. It waits for a running
// job: the file of the command line may still be opening.
func (r *recovery) resumeUnsaved(u *store.Unsaved) {
	name := filepath.Base(u.Path)
	restored := func(err error) {
		if r.k.prompts.Ended("Could not restore the unsaved work", err) {
			if !r.k.display.allCorrected() {
				r.k.display.showMask()
			}
			r.k.say(r.k.t("Restored: %s", name))
		}
	}
	r.k.waiting(r.session)(message.Of("Restore %s", name), func() {
		r.files.Guard(func() { r.store.Resume(u, restored) })
	})
}
