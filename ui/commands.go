package ui

import (
	"fmt"

	"fyne.io/fyne/v2"

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
	w.glare.Detect(func(o glare.Outcome, err error) {
		if w.prompts.ended(searchFailed, err) {
			w.say(w.foundSentence(o))
		}
	})
}

// foundSentence states the number of findings, and how many of them stay out of the mask because similar ones were
// ignored.
func (w *window) foundSentence(o glare.Outcome) string {
	text := w.texts.Plural(o.Count, "Found %s finding", "Found %s findings", w.texts.Int(o.Count))
	if _, _, ignored := w.found.Decided(); ignored > 0 {
		text += w.t(" (%s ignored as before)", w.texts.Int(ignored))
	}
	return text + w.ran(o, "")
}

// previewed announces the result of a search or correction that followed a change of the parameters.
func (w *window) previewed(o glare.Outcome, err error) {
	if o.Corrected {
		w.corrected(o, err)
		return
	}
	if w.prompts.ended(searchFailed, err) {
		w.say(w.foundSentence(o))
	}
}

// correctAll corrects every finding.
func (w *window) correctAll() {
	w.display.end()
	if len(w.session.Document().Spots()) == 0 {
		w.say(w.t("Find glare (%s) or paint it (%s)", w.press("find.run"), w.press("tool.brush")))
		return
	}
	w.win.Canvas().Unfocus()
	w.glare.CorrectAll(w.corrected)
	// Showing another tab takes so long that it gets an event of its own.
	w.config.later(w.panel.showCorrection)
}

// correctSelected corrects the selected finding by the method chosen for it.
func (w *window) correctSelected() {
	f, ok := w.found.Selected()
	if !ok {
		w.say(w.noneSelected())
		return
	}
	w.correctBy(f.Asked)
}

// correctBy corrects the selected finding by a method.
func (c *common) correctBy(m processing.Method) {
	c.prompts.win.Canvas().Unfocus()
	c.glare.CorrectSelected(m, c.corrected)
}

// correctListed corrects all listed findings by a method.
func (c *common) correctListed(m processing.Method) {
	c.prompts.win.Canvas().Unfocus()
	if c.glare.CorrectThese(c.found.Listed, m, c.corrected) == 0 {
		c.say(c.t("None of the listed findings is in the mask"))
	}
}

// corrected announces the result of a correction, and how to show the mask again if it was hidden.
func (c *common) corrected(o glare.Outcome, err error) {
	if !c.prompts.ended("Could not correct the findings", err) {
		return
	}
	hint := ""
	if c.display.hid {
		hint = c.t("; the mask is hidden (%s)", c.press("view.mask"))
	}
	c.say(c.texts.Plural(o.Count, "%s finding corrected", "%s findings corrected", c.texts.Int(o.Count)) +
		c.ran(o, hint))
}

// removeCorrection restores the original at the selected finding.
func (w *window) removeCorrection() {
	f, ok := w.found.Selected()
	if !ok {
		w.say(w.noneSelected())
		return
	}
	if w.glare.RemoveCorrection() {
		w.say(w.t("Correction of finding %s removed", fmt.Sprint(f.Number)))
	}
}

// removeCorrections restores the original everywhere.
func (w *window) removeCorrections() {
	if w.glare.RemoveCorrections() {
		w.say(w.t("All corrections removed"))
	}
}

// takeOver copies the values that the last detection chose into manual mode.
func (w *window) takeOver() {
	w.preview.TakeOver()
	w.say(w.t("The values were copied to manual mode"))
}

// undo undoes the last step, or the last typing if a field has the focus.
func (w *window) undo() {
	w.stepBy(&fyne.ShortcutUndo{}, w.editor.Undo, "Undone: %s", "Nothing to undo")
}

// redo repeats what undo undid.
func (w *window) redo() {
	w.stepBy(&fyne.ShortcutRedo{}, w.editor.Redo, "Redone: %s", "Nothing to redo")
}

func (w *window) stepBy(s fyne.Shortcut, step func() (message.Message, bool), format, nothing message.Text) {
	// The driver asks the menu before the field that has the focus.
	if field, ok := w.win.Canvas().Focused().(fyne.Shortcutable); ok {
		field.TypedShortcut(s)
		return
	}
	if w.session.Document() == nil || w.session.Busy() || w.dialogOpen() {
		return
	}
	if name, ok := step(); ok {
		w.say(w.t(format, name))
	} else {
		w.say(w.t(nothing))
	}
}

// escape ends the current activity: a polygon, a stroke or drag, a job, or the focus of a field.
func (w *window) escape() {
	if w.toolbox.abandon() {
		return
	}
	w.display.each((*viewport.Viewport).Abandon)
	w.actions.do("find.cancel")
	w.win.Canvas().Unfocus()
}

// pointByKeys lets the keyboard move the pointer over the picture, or stops that.
func (w *window) pointByKeys() { w.display.under().ToggleKeys() }

// sayKeys explains the keys that move the pointer as long as they do.
func (w *window) sayKeys(on bool) {
	if !on {
		w.say("")
		return
	}
	w.say(w.t("Arrow keys move the pointer, with Shift by one pixel; the space bar clicks and drags; Esc ends this"))
}

// changeMask returns a function that changes the mask and makes sure that it is visible.
func (w *window) changeMask(how func()) func() {
	return func() {
		w.display.showMask()
		how()
	}
}

func (w *window) invertMask() {
	w.display.showMask()
	w.editor.InvertMask()
}

// step selects the next or previous finding and centres it.
func (w *window) step(direction int) {
	if f, ok := w.found.SelectNext(direction); ok {
		w.reveal(f)
	} else {
		w.say(w.t("Mask is empty"))
	}
}

func (w *window) removeSelected() {
	if f, ok := w.found.Selected(); ok && w.found.RemoveSelected() {
		w.say(w.t("Finding %s removed; %s restores it", fmt.Sprint(f.Number), w.press("find.keep")))
	}
}

// setReviewZoom chooses the zoom at which findings are centred, and shows the selected one at it.
func (w *window) setReviewZoom(zoom float64) {
	w.session.Settings().ReviewZoom = zoom
	if f, ok := w.found.Selected(); ok {
		w.reveal(f)
	}
	w.update(change{View: true})
}

// toggleThumbnails shows the findings as thumbnails or as a table.
func (w *window) toggleThumbnails() {
	w.session.Settings().FindingThumbnails = !w.session.Settings().FindingThumbnails
	w.update(change{View: true})
	w.panel.tabs.SelectIndex(1)
}

// setDevice chooses the device for the next work.
func (w *window) setDevice(name string) {
	w.devices.Choose(name, func() { w.say(w.deviceHelp()) })
}

// noneSelected says that no finding is selected, and how to select one.
func (c *common) noneSelected() string {
	return c.t("No finding is selected; %s and %s step through them", c.press("find.next"), c.press("find.previous"))
}
