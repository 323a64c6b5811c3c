package ui

import (
	"fmt"

	"fyne.io/fyne/v2"

	"blik/app/session"
	"blik/app/session/devices"
	"blik/app/session/findings"
	"blik/app/session/glare"
	"blik/app/settings"
	"blik/internal/message"
	"blik/processing"
	"blik/ui/prompt"
	"blik/ui/viewport"
)

// searchFailed is the title of the error of a search.
const searchFailed message.Text = "Could not search for glare"

// detect searches for glare with the current parameters.
func (x *treatment) detect() {
	x.k.win.Canvas().Unfocus()
	x.glare.Detect(func(o glare.Outcome, err error) {
		if x.k.prompts.Ended(searchFailed, err) {
			x.k.say(x.foundSentence(o))
		}
	})
}

// foundSentence states the number of findings, how many the user had marked or kept, and how many stay out of the mask
// because they were ignored.
func (x *treatment) foundSentence(o glare.Outcome) string {
	text := x.k.texts.Plural(o.Count, "Found %s finding", "Found %s findings", x.k.texts.Int(o.Count))
	switch marked, ignored := x.session.Document().ByHand(); {
	case marked > 0 && ignored > 0:
		text += x.k.t(" (yours: %s kept, %s ignored as before)", x.k.texts.Int(marked), x.k.texts.Int(ignored))
	case marked > 0:
		text += x.k.t(" (yours: %s kept)", x.k.texts.Int(marked))
	case ignored > 0:
		text += x.k.t(" (%s ignored as before)", x.k.texts.Int(ignored))
	}
	return text + x.k.words.Ran(o, x.devices, "")
}

// previewed announces the result of a search or correction that followed a change of the parameters.
func (x *treatment) previewed(o glare.Outcome, err error) {
	if o.Corrected {
		x.corrected(o, err)
		return
	}
	if x.k.prompts.Ended(searchFailed, err) {
		x.k.say(x.foundSentence(o))
	}
}

// correctAll corrects every finding. If there are some that a person should look at first, it asks.
func (x *treatment) correctAll() {
	x.k.display.end()
	if len(x.session.Document().Spots()) == 0 {
		x.k.say(x.k.t("Find glare (%s) or paint it (%s)", x.k.press(findRun), x.k.press(toolBrush)))
		return
	}
	n := x.found.Unchecked()
	if n == 0 {
		x.correctBoldly(x.glare.CorrectAll)
		return
	}
	x.k.prompts.Ask(x.k.texts.Plural(n, "%s finding is not checked", "%s findings are not checked", x.k.texts.Int(n)),
		x.k.t("Large findings and probable painted lights should be looked at first. Check them, correct only the "+
			"others, or correct all?"),
		[]prompt.Answer{
			prompt.Plain(x.k.t("Correct all"), func() { x.correctBoldly(x.glare.CorrectAll) }),
			prompt.Plain(x.k.t("Correct the certain"), func() { x.correctBoldly(x.glare.CorrectCertain) }),
			prompt.Main(x.k.t("Check"), x.check),
		})
}

// correctBoldly corrects what how corrects, without a question.
func (x *treatment) correctBoldly(how func(done func(glare.Outcome, error))) {
	x.k.win.Canvas().Unfocus()
	how(x.corrected)
	x.tab()
}

// correctSelected corrects the selected finding by the method chosen for it.
func (x *treatment) correctSelected() {
	f, ok := x.found.Selected()
	if !ok {
		x.k.say(x.k.noneSelected())
		return
	}
	x.correctBy(f.Asked)
}

// treatment finds glare and corrects it, and announces the results.
type treatment struct {
	k       *kit
	session *session.Session
	found   *findings.Findings
	glare   *glare.Glare
	devices *devices.Devices
	// tab shows the tab of correction, in an event of its own because that takes long.
	tab func()
	// check lists the findings that a person should look at, and shows the first.
	check func()
}

// correctBy corrects the selected finding by a method.
func (x *treatment) correctBy(m processing.Method) {
	x.k.win.Canvas().Unfocus()
	x.glare.CorrectSelected(m, x.corrected)
}

// correctListed corrects all listed findings by a method.
func (x *treatment) correctListed(m processing.Method) {
	x.k.win.Canvas().Unfocus()
	if x.glare.CorrectThese(x.found.Listed, m, x.corrected) == 0 {
		x.k.say(x.k.t("None of the listed findings is in the mask"))
	}
}

// corrected announces the result of a correction, how much of it changed nothing, and how to show the mask again if it
// was hidden.
func (x *treatment) corrected(o glare.Outcome, err error) {
	if !x.k.prompts.Ended("Could not correct the findings", err) {
		return
	}
	hint := ""
	if o.Unchanged > 0 {
		hint = x.k.t("; no pixel changed in %s of them", x.k.texts.Int(o.Unchanged))
	}
	if x.k.display.hid {
		hint += x.k.t("; the mask is hidden (%s)", x.k.press(viewMask))
	}
	x.k.say(x.k.texts.Plural(o.Count, "%s finding corrected", "%s findings corrected", x.k.texts.Int(o.Count)) +
		x.k.words.Ran(o, x.devices, hint))
}

// removeCorrection restores the original at the selected finding.
func (x *treatment) removeCorrection() {
	f, ok := x.found.Selected()
	if !ok {
		x.k.say(x.k.noneSelected())
		return
	}
	if x.glare.RemoveCorrection() {
		x.k.say(x.k.t("Correction of finding %s removed", fmt.Sprint(f.Number)))
	}
}

// removeCorrections restores the original everywhere.
func (x *treatment) removeCorrections() {
	if x.glare.RemoveCorrections() {
		x.k.say(x.k.t("All corrections removed"))
	}
}

// takeOver copies the values that the last detection chose into manual mode.
func (w *window) takeOver() {
	w.c.preview.TakeOver()
	w.k.say(w.k.t("The values were copied to manual mode"))
}

// undo undoes the last step, or the last typing if a field has the focus.
func (t *toolbox) undo() {
	t.stepBy(&fyne.ShortcutUndo{}, t.editor.Undo, "Undone: %s", "Nothing to undo")
}

// redo repeats what undo undid.
func (t *toolbox) redo() {
	t.stepBy(&fyne.ShortcutRedo{}, t.editor.Redo, "Redone: %s", "Nothing to redo")
}

func (t *toolbox) stepBy(s fyne.Shortcut, step func() (message.Message, bool), format, nothing message.Text) {
	// The driver asks the menu before the field that has the focus.
	if field, ok := t.k.win.Canvas().Focused().(fyne.Shortcutable); ok {
		field.TypedShortcut(s)
		return
	}
	if t.session.Document() == nil || t.k.actions.blocked() {
		return
	}
	if t.k.actions.working() {
		t.k.say(t.k.t("Another task is still running; wait for it or cancel it"))
		return
	}
	if name, ok := step(); ok {
		t.k.say(t.k.t(format, name))
	} else {
		t.k.say(t.k.t(nothing))
	}
}

// escape ends the current activity: a polygon, blinking, a stroke or drag, a job, or the focus of a field.
func (w *window) escape() {
	if w.k.toolbox.abandon() {
		return
	}
	if w.k.display.blinking() {
		w.k.display.toggleBlink()
		return
	}
	w.k.display.each((*viewport.Viewport).Abandon)
	w.k.actions.do(findCancel)
	w.win.Canvas().Unfocus()
}

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
func (t *toolbox) changeMask(how func()) func() {
	return func() {
		t.k.display.showMask()
		how()
	}
}

// forget takes back all that the user marked and decided.
func (t *toolbox) forget() {
	t.k.display.showMask()
	if t.editor.Forget() {
		t.k.say(t.k.t("Forgotten: the mask is that of the last search. Ctrl+Z brings yours back"))
	} else {
		t.k.say(t.k.t("You have marked and decided nothing"))
	}
}

// step selects the next or previous finding and centres it.
func (r *review) step(direction int) {
	if f, ok := r.found.SelectNext(direction); ok {
		r.tab(true)
		r.reveal(f)
	} else if len(r.session.Document().Spots()) > 0 {
		r.tab(false)
		r.k.say(r.k.t("None of the findings is in the list"))
	} else {
		r.k.say(r.k.t("Mask is empty"))
	}
}

func (r *review) removeSelected() {
	if f, ok := r.found.Selected(); ok && r.found.RemoveSelected() {
		r.k.say(r.k.t("Finding %s removed; %s restores it", fmt.Sprint(f.Number), r.k.press(findKeep)))
	}
}

// reviewZooms returns the zooms to choose from for findings.
func reviewZooms() []float64 { return []float64{settings.ReviewFitting, 0, 1, 2, 4, 8} }

// reviewZoom returns the name of a zoom for findings.
func (k *kit) reviewZoom(zoom float64) string {
	switch zoom {
	case settings.ReviewFitting:
		return k.t("By size")
	case 0:
		return k.t("Unchanged")
	}
	return k.words.Percent(zoom)
}

// setReviewZoom chooses the zoom at which findings are centred, and shows the selected one at it.
func (r *review) setReviewZoom(zoom float64) {
	r.session.Settings().ReviewZoom = zoom
	saveSettings(r.session)
	if f, ok := r.found.Selected(); ok {
		r.reveal(f)
	}
	r.k.changed(change{View: true})
}

// toggleThumbnails shows the findings as thumbnails or as a table.
func (w *window) toggleThumbnails() {
	w.c.session.Settings().FindingThumbnails = !w.c.session.Settings().FindingThumbnails
	w.update(change{View: true})
	w.panel.tabs.SelectIndex(findingsTab)
}

// setDevice chooses the device for the next work.
func (w *window) setDevice(name string) {
	w.c.devices.Choose(name, func() { w.k.say(w.k.words.Running(w.c.devices)) })
}

// noneSelected says that no finding is selected, and how to select one.
func (k *kit) noneSelected() string {
	return k.t("No finding is selected; %s and %s step through them", k.press(findNext), k.press(findPrevious))
}
