package ui

import (
	"context"
	"slices"
	"time"

	"blik/app/document"
	"blik/app/view"
	"blik/processing"
)

// corrected is what a correction made of some spots, in what time, and the notice of its device, if any.
type corrected struct {
	spots  []processing.Spot
	result *processing.Correction
	notice *processing.Text
	took   time.Duration
}

// correctAll corrects every spot; those with a method of their own by that one.
func (w *window) correctAll() {
	w.port.End()
	methods := map[int]processing.Method{}
	for _, s := range w.doc.Spots() {
		methods[s.ID] = s.Asked
	}
	if len(methods) > 0 && w.panel.tabs.Selected() == w.panel.detection {
		w.panel.tabs.Select(w.panel.correction.tab)
	}
	w.correct(methods)
}

// correctSelected corrects the selected spot.
func (w *window) correctSelected() {
	s, ok := w.doc.Selected()
	if !ok {
		w.say(w.t("spot.none"))
		return
	}
	w.correct(map[int]processing.Method{s.ID: s.Asked})
}

// redoSelected corrects the selected spot by another method; MethodAuto is that of all spots.
func (w *window) redoSelected(m processing.Method) {
	if s, ok := w.doc.Selected(); ok {
		w.log.line("redo %d %s", s.ID, m.ID())
		w.correct(map[int]processing.Method{s.ID: m})
	}
}

// correct corrects the spots with the given numbers, each by its own method or by that of all.
func (w *window) correct(methods map[int]processing.Method) {
	w.win.Canvas().Unfocus()
	w.port.End()
	if len(methods) == 0 {
		w.say(w.t("next.mask"))
		return
	}
	doc, params, shot := w.doc, w.settings.Params, w.doc.Snapshot()
	work := func(ctx context.Context, report processing.Progress) (corrected, error) {
		start := time.Now()
		mask := shot.Mask()
		// The spots of a mask are numbered alike in the document and here.
		spots := slices.DeleteFunc(processing.Spots(mask), func(s processing.Spot) bool {
			_, wanted := methods[s.ID]
			return !wanted
		})
		for i := range spots {
			spots[i].Method = methods[spots[i].ID]
		}
		result, notice, err := w.engine.correct(ctx, shot.Picture, mask, params, processing.CorrectOptions{Spots: spots, Progress: report})
		return corrected{spots, result, notice, time.Since(start)}, err
	}
	start(w, work, func(c corrected) {
		w.refreshDevice()
		if doc != w.doc {
			return
		}
		w.port.End()
		if _, err := doc.ApplyCorrection(c.result, c.spots, params); err != nil {
			w.showError(err)
			return
		}
		hint := w.hideMask()
		w.stopComparing()
		w.refreshMask()
		w.refreshMenu()
		w.say(w.texts.N("status.corrected", len(c.result.Patches)) + w.ran(c.took, c.result.Device) + hint + w.noticeText(c.notice))
		w.log.line("corrected %d %d", doc.Corrections().Len(), doc.Corrections().Pixels())
	})
}

// hideMask takes the mask off the picture, which it would cover just where it was corrected, and says how to get it back.
// Outlines may stay.
func (w *window) hideMask() string {
	if !w.maskShown || w.look.Mode == view.Outlines {
		return ""
	}
	w.toggleMask()
	return w.t("status.maskHidden")
}

// removeCorrection brings the source back at the selected spot.
func (w *window) removeCorrection() {
	s, ok := w.doc.Selected()
	if !ok {
		w.say(w.t("spot.none"))
		return
	}
	if x, y, ok := w.pixelOf(s); ok && w.doc.RemoveCorrection(x, y) {
		w.refreshMask()
		w.say(w.t("status.uncorrected", "ID", w.texts.Int(s.ID)))
	}
}

// removeCorrections brings the source back everywhere.
func (w *window) removeCorrections() {
	if w.doc.ClearCorrections() {
		w.refreshMask()
		w.say(w.t("status.uncorrectedAll"))
	}
}

// refreshPicture shows what is corrected now. It costs what has changed since it was last called.
func (w *window) refreshPicture() {
	now := w.doc.Corrections()
	if now == w.shown {
		return
	}
	after, err := w.after.With(context.Background(), w.doc.Since(w.shown))
	if err != nil {
		w.showError(err)
		return
	}
	w.after, w.shown = after, now
	if now == nil {
		w.after = w.before
		w.split, w.source, w.heldKey, w.heldButton = false, false, 0, false
	}
	w.port.SetPyramids(w.before, w.after)
	w.refreshCompare()
}

// progress counts the spots and those that are corrected.
func (w *window) progress() (spots, done int) {
	if w.doc == nil {
		return 0, 0
	}
	for _, s := range w.doc.Spots() {
		spots++
		if s.State == document.Corrected {
			done++
		}
	}
	return spots, done
}

// nextStep is what the user may want to do next.
type nextStep uint8

const (
	nextOpen nextStep = iota
	nextMask
	nextCorrect
	nextSave
	nextNothing
)

// next says what is to be done next, and in words.
func (w *window) next() (nextStep, string) {
	if w.doc == nil {
		return nextOpen, w.t("hint.open")
	}
	switch spots, done := w.progress(); {
	case spots == 0:
		return nextMask, w.t("next.mask")
	case done == 0 && w.doc.Generation() == w.replaced:
		return nextNothing, w.t("next.replaced")
	case done < spots:
		return nextCorrect, w.texts.N("next.correct", spots-done)
	case w.doc.PictureDirty():
		return nextSave, w.texts.N("next.save", done)
	default:
		return nextNothing, w.texts.N("next.saved", done)
	}
}
