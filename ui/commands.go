package ui

import (
	"fmt"

	"fyne.io/fyne/v2"

	"blik/app/session/findings"
	"blik/app/session/glare"
	"blik/internal/message"
	"blik/processing"
	"blik/ui/viewport"
)

// searchFailed is the title of the error of a search.
const searchFailed message.Text = "Could not search for glare"

// detect searches for glare with the current parameters.
func (w *window) detect() {
	w.win.Canvas().Unfocus()
	w.c.glare.Detect(func(o glare.Outcome, err error) {
		if w.k.prompts.ended(searchFailed, err) {
			w.k.say(w.foundSentence(o))
		}
	})
}

// foundSentence states the number of findings, and how many of them stay out of the mask because similar ones were
// ignored.
func (w *window) foundSentence(o glare.Outcome) string {
	text := w.k.texts.Plural(o.Count, "Found %s finding", "Found %s findings", w.k.texts.Int(o.Count))
	if _, _, ignored := w.c.found.Decided(); ignored > 0 {
		text += w.k.t(" (%s ignored as before)", w.k.texts.Int(ignored))
	}
	return text + w.c.machine.ran(o, "")
}

// previewed announces the result of a search or correction that followed a change of the parameters.
func (w *window) previewed(o glare.Outcome, err error) {
	if o.Corrected {
		w.c.fixing.corrected(o, err)
		return
	}
	if w.k.prompts.ended(searchFailed, err) {
		w.k.say(w.foundSentence(o))
	}
}

// correctAll corrects every finding.
func (w *window) correctAll() {
	w.k.display.end()
	if len(w.c.session.Document().Spots()) == 0 {
		w.k.say(w.k.t("Find glare (%s) or paint it (%s)", w.k.press(findRun), w.k.press(toolBrush)))
		return
	}
	w.win.Canvas().Unfocus()
	w.c.glare.CorrectAll(w.c.fixing.corrected)
	// Showing another tab takes so long that it gets an event of its own.
	w.config.later(w.panel.showCorrection)
}

// correctSelected corrects the selected finding by the method chosen for it.
func (w *window) correctSelected() {
	f, ok := w.c.found.Selected()
	if !ok {
		w.k.say(w.k.noneSelected())
		return
	}
	w.c.fixing.correctBy(f.Asked)
}

// fixing corrects findings and announces the result.
type fixing struct {
	k       *kit
	found   *findings.Findings
	glare   *glare.Glare
	machine *machine
}

// correctBy corrects the selected finding by a method.
func (x *fixing) correctBy(m processing.Method) {
	x.k.prompts.win.Canvas().Unfocus()
	x.glare.CorrectSelected(m, x.corrected)
}

// correctListed corrects all listed findings by a method.
func (x *fixing) correctListed(m processing.Method) {
	x.k.prompts.win.Canvas().Unfocus()
	if x.glare.CorrectThese(x.found.Listed, m, x.corrected) == 0 {
		x.k.say(x.k.t("None of the listed findings is in the mask"))
	}
}

// corrected announces the result of a correction, and how to show the mask again if it was hidden.
func (x *fixing) corrected(o glare.Outcome, err error) {
	if !x.k.prompts.ended("Could not correct the findings", err) {
		return
	}
	hint := ""
	if x.k.display.hid {
		hint = x.k.t("; the mask is hidden (%s)", x.k.press(viewMask))
	}
	x.k.say(x.k.texts.Plural(o.Count, "%s finding corrected", "%s findings corrected", x.k.texts.Int(o.Count)) +
		x.machine.ran(o, hint))
}

// removeCorrection restores the original at the selected finding.
func (w *window) removeCorrection() {
	f, ok := w.c.found.Selected()
	if !ok {
		w.k.say(w.k.noneSelected())
		return
	}
	if w.c.glare.RemoveCorrection() {
		w.k.say(w.k.t("Correction of finding %s removed", fmt.Sprint(f.Number)))
	}
}

// removeCorrections restores the original everywhere.
func (w *window) removeCorrections() {
	if w.c.glare.RemoveCorrections() {
		w.k.say(w.k.t("All corrections removed"))
	}
}

// takeOver copies the values that the last detection chose into manual mode.
func (w *window) takeOver() {
	w.c.preview.TakeOver()
	w.k.say(w.k.t("The values were copied to manual mode"))
}

// undo undoes the last step, or the last typing if a field has the focus.
func (w *window) undo() {
	w.stepBy(&fyne.ShortcutUndo{}, w.c.editor.Undo, "Undone: %s", "Nothing to undo")
}

// redo repeats what undo undid.
func (w *window) redo() {
	w.stepBy(&fyne.ShortcutRedo{}, w.c.editor.Redo, "Redone: %s", "Nothing to redo")
}

func (w *window) stepBy(s fyne.Shortcut, step func() (message.Message, bool), format, nothing message.Text) {
	// The driver asks the menu before the field that has the focus.
	if field, ok := w.win.Canvas().Focused().(fyne.Shortcutable); ok {
		field.TypedShortcut(s)
		return
	}
	if w.c.session.Document() == nil || w.c.session.Busy() || w.dialogOpen() {
		return
	}
	if name, ok := step(); ok {
		w.k.say(w.k.t(format, name))
	} else {
		w.k.say(w.k.t(nothing))
	}
}

// escape ends the current activity: a polygon, a stroke or drag, a job, or the focus of a field.
func (w *window) escape() {
	if w.k.toolbox.abandon() {
		return
	}
	w.k.display.each((*viewport.Viewport).Abandon)
	w.k.actions.do(findCancel)
	w.win.Canvas().Unfocus()
}

// pointByKeys lets the keyboard move the pointer over the picture, or stops that.
func (w *window) pointByKeys() { w.k.display.under().ToggleKeys() }

// sayKeys explains the keys that move the pointer as long as they do.
func (w *window) sayKeys(on bool) {
	if !on {
		w.k.say("")
		return
	}
	w.k.say(w.k.t("Arrow keys move the pointer, with Shift by one pixel; the space bar clicks and drags; " +
		"Esc ends this"))
}

// changeMask returns a function that changes the mask and makes sure that it is visible.
func (w *window) changeMask(how func()) func() {
	return func() {
		w.k.display.showMask()
		how()
	}
}

func (w *window) invertMask() {
	w.k.display.showMask()
	w.c.editor.InvertMask()
}

// step selects the next or previous finding and centres it.
func (w *window) step(direction int) {
	if f, ok := w.c.found.SelectNext(direction); ok {
		w.c.review.reveal(f)
	} else {
		w.k.say(w.k.t("Mask is empty"))
	}
}

func (w *window) removeSelected() {
	if f, ok := w.c.found.Selected(); ok && w.c.found.RemoveSelected() {
		w.k.say(w.k.t("Finding %s removed; %s restores it", fmt.Sprint(f.Number), w.k.press(findKeep)))
	}
}

// setReviewZoom chooses the zoom at which findings are centred, and shows the selected one at it.
func (w *window) setReviewZoom(zoom float64) {
	w.c.session.Settings().ReviewZoom = zoom
	if f, ok := w.c.found.Selected(); ok {
		w.c.review.reveal(f)
	}
	w.update(change{View: true})
}

// toggleThumbnails shows the findings as thumbnails or as a table.
func (w *window) toggleThumbnails() {
	w.c.session.Settings().FindingThumbnails = !w.c.session.Settings().FindingThumbnails
	w.update(change{View: true})
	w.panel.tabs.SelectIndex(1)
}

// setDevice chooses the device for the next work.
func (w *window) setDevice(name string) {
	w.c.devices.Choose(name, func() { w.k.say(w.c.machine.deviceHelp()) })
}

// noneSelected says that no finding is selected, and how to select one.
func (k *kit) noneSelected() string {
	return k.t("No finding is selected; %s and %s step through them", k.press(findNext), k.press(findPrevious))
}
