package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"blik/app/document"
	"blik/app/view"
	"blik/internal/message"
	"blik/processing"
	"blik/ui/keyset"
)

// action is something that the user can do. Menus, tool buttons and keys are made from the same table.
type action struct {
	// name is the text of its menu item; empty for one that has none.
	name message.Text
	run  func()
	// ready reports whether the action can run now; nil means always. The driver also runs the shortcuts of greyed menu
	// items, so do checks again.
	ready func() bool
	// useful reports whether the action would do anything; nil means always. A menu greys one that would not. By key it
	// runs all the same and says why it does nothing.
	useful func() bool
	// checked reports whether its menu item has a tick; nil for one that never has.
	checked  func() bool
	shortcut fyne.Shortcut
	// job is set for actions that start a job. If a search or correction is running that follows a change of the
	// parameters, they wait for its end.
	job bool
	// queues is set for actions that wait for the running job instead of being refused; queue, if not nil, puts them
	// into the queue.
	queues bool
	queue  func()
	// keys are characters of a Latin keyboard that run the action, named other keys; the first of both is shown.
	keys  string
	named []fyne.KeyName
	// also are shortcuts that are not shown; usual are the keys without the user's choices.
	also  []fyne.Shortcut
	usual keyset.Set
}

// actions is the table of all actions.
type actions struct {
	table map[string]*action
	// blocked reports whether a dialog covers the window; started is called before an action runs.
	blocked func() bool
	started func()
	// reading reports whether the placeholder of a picture is shown that is still being read.
	reading func() bool
	// later postpones do until the end of a running preview; it returns false if none is running.
	later func(do func()) bool
	// working reports whether a job is running that the user waits for; queue puts an action into the queue behind it.
	working func() bool
	queue   func(id string)
	// refuse says why an action cannot run now.
	refuse func(id string)
	// catch receives the shortcuts of menu items while the user presses new keys; nil otherwise.
	catch func(fyne.Shortcut)
}

const (
	ctrl      = fyne.KeyModifierShortcutDefault
	ctrlShift = fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift
)

func key(name fyne.KeyName, mod fyne.KeyModifier) fyne.Shortcut {
	return &desktop.CustomShortcut{KeyName: name, Modifier: mod}
}

// do runs an action if it can run now. The driver also runs the menu's shortcuts while a dialog is open; then only undo
// and redo of typing and copying from a field are allowed.
func (a *actions) do(id string) {
	if a.catch != nil && a.blocked() {
		a.catch(a.table[id].shortcut)
		return
	}
	a.catch = nil
	typing := id == editUndo || id == editRedo || id == editCopy
	queued := a.queued(id)
	if a.blocked() && !typing || a.reading() && !allowedWhileReading(id) && !queued {
		return
	}
	if !a.can(id) {
		a.refuse(id)
		return
	}
	a.started()
	if queued {
		a.enqueue(id)
		return
	}
	if a.table[id].job && a.later(func() { a.do(id) }) {
		return
	}
	a.table[id].run()
}

// can reports whether an action can run now or can be queued.
func (a *actions) can(id string) bool {
	known, ok := a.table[id]
	return ok && (known.ready == nil || known.ready() || a.queued(id))
}

// offers reports whether a menu offers an action: it can run and would do something.
func (a *actions) offers(id string) bool {
	known, ok := a.table[id]
	return ok && a.can(id) && (known.useful == nil || known.useful() || a.queued(id))
}

// queued reports whether an action would wait for the running job.
func (a *actions) queued(id string) bool { return a.table[id].queues && a.working() }

// enqueue puts an action into the queue behind the running job.
func (a *actions) enqueue(id string) {
	if own := a.table[id].queue; own != nil {
		own()
		return
	}
	a.queue(id)
}

// name returns the name of an action outside the menu.
func (k *kit) name(id string) string {
	return strings.TrimSuffix(k.t(k.actions.table[id].name), "…")
}

// makeActions fills the table.
func (w *window) makeActions() {
	files, d, port := w.files, w.k.display, w.k.display.port
	open := func() bool { return w.c.session.Document() != nil }
	free := func() bool { return !w.c.session.Busy() || w.c.preview.Previewing() }
	idle := func() bool { return open() && free() }
	drawn := func() bool { return free() && w.c.editor.Region() != nil }
	filmed := func() bool { return free() && len(w.c.frames.Frames()) > 0 }
	beside := func(direction int) func() bool {
		return func() bool {
			_, ok := files.Course.Beside(direction)
			return ok
		}
	}
	undo := func() bool { undo, _ := w.c.editor.Steps(); return undo && free() }
	redo := func() bool { _, redo := w.c.editor.Steps(); return redo && free() }
	marked := func() bool { return open() && !w.c.session.Document().Blank() }
	found := func() bool { return open() && w.c.session.Document().Stats().Spots > 0 }
	listed := func() bool { return len(w.c.found.Listed()) > 0 }
	selectedIs := func(is func(f document.Spot) bool) func() bool {
		return func() bool {
			f, ok := w.c.found.Selected()
			return ok && is(f)
		}
	}
	inMask := selectedIs(func(f document.Spot) bool { return f.Decision != document.Ignored })
	fixed := selectedIs(func(f document.Spot) bool { return f.State != document.Uncorrected })
	brush := func() bool { return w.k.toolbox.current.Brush }
	comparing := func() bool { return w.c.analysis.ComparedView() != nil }
	keys := func(names ...fyne.KeyName) []fyne.KeyName { return names }
	w.k.actions.table = map[string]*action{
		fileOpen:   {name: "Open picture…", run: files.ChoosePicture, shortcut: key(fyne.KeyO, ctrl), job: true},
		fileFolder: {name: "Open folder…", run: files.ChooseFolder, job: true},
		fileSample: {name: "Open the sample", run: files.OpenSample},
		fileLoadMask: {name: "Load mask…", run: files.ChooseMask, ready: idle, shortcut: key(fyne.KeyL, ctrl),
			job: true},
		fileCompareMask: {name: "Compare with a mask…", run: files.ChooseCompared, ready: idle, job: true},
		fileEndCompare:  {name: "End comparison of masks", run: w.c.analysis.EndComparison, ready: comparing},
		fileSaveMask: {name: "Save mask", run: func() { files.SaveMask(func() {}) }, ready: idle,
			shortcut: key(fyne.KeyM, ctrl), job: true, queues: true},
		fileSaveMaskAs: {name: "Save mask as…", run: func() { files.SaveMaskAs(func() {}) }, ready: idle,
			shortcut: key(fyne.KeyM, ctrlShift), job: true},
		fileSavePicture: {name: "Save picture", run: func() { files.SavePicture(func() {}) }, ready: idle,
			shortcut: key(fyne.KeyS, ctrl), useful: w.c.session.Corrected, job: true, queues: true},
		fileSavePictureAs: {name: "Save picture as…", run: func() { files.SavePictureAs(func() {}) }, ready: idle,
			shortcut: key(fyne.KeyS, ctrlShift), useful: w.c.session.Corrected, job: true},
		fileSaveProject: {name: "Save project", run: func() { files.SaveProject(func() {}) }, ready: idle,
			shortcut: key(fyne.KeyP, ctrl), job: true, queues: true},
		fileInformation: {name: "Picture information…", ready: open,
			run: func() { w.pages.showInformation(w.c.session.Shown()) }},
		fileLoadPreset: {name: "Load preset…", run: files.ChoosePreset},
		fileSavePreset: {name: "Save preset…", run: files.SavePreset},
		fileQuit:       {name: "Quit", run: w.quit, shortcut: key(fyne.KeyQ, ctrl)},

		editUndo: {name: "Undo", run: w.k.toolbox.undo, shortcut: &fyne.ShortcutUndo{}, useful: undo},
		editRedo: {name: "Redo", run: w.k.toolbox.redo, shortcut: &fyne.ShortcutRedo{},
			also: []fyne.Shortcut{key(fyne.KeyZ, ctrlShift)}, useful: redo},
		editCopy: {name: "Copy values", run: w.clipboard.copyValues, shortcut: &fyne.ShortcutCopy{},
			useful: open},
		findCopy:            {name: "Copy list of findings", run: w.clipboard.copyList, ready: open, useful: listed},
		fileCopyInformation: {name: "Copy picture information", run: w.clipboard.copyInformation, ready: open},
		editPreferences:     {name: "Preferences…", run: w.showPreferences},
		editHistory:         {name: "History…", run: w.showHistory, keys: "y", useful: open},
		editInvert: {name: "Invert mask", run: w.k.toolbox.changeMask(w.c.editor.InvertMask), ready: idle,
			shortcut: key(fyne.KeyI, ctrl)},
		editClear:     {name: "Clear mask", run: w.c.editor.ClearMask, ready: idle, useful: marked},
		editForget:    {name: "Forget what I marked", run: w.k.toolbox.forget, ready: idle, useful: open},
		editAddRegion: {name: "Mark the region as glare", run: w.k.toolbox.fillRegion(document.Add), ready: drawn},
		editTakeRegion: {name: "Clear the mask inside the region", run: w.k.toolbox.fillRegion(document.Subtract),
			ready: drawn, useful: marked},
		editKeepRegion: {name: "Clear the mask outside the region", run: w.k.toolbox.fillRegion(document.Intersect),
			ready: drawn, useful: marked},
		editGrow: {name: "Grow mask by 1 px", run: w.k.toolbox.changeMask(w.c.editor.GrowMask), ready: idle,
			keys: ".", useful: marked},
		editShrink: {name: "Shrink mask by 1 px", run: w.k.toolbox.changeMask(w.c.editor.ShrinkMask), ready: idle,
			keys: ",", useful: marked},
		editFill: {name: "Fill holes in the mask", run: w.k.toolbox.changeMask(w.c.editor.FillHoles), ready: idle,
			useful: marked},
		editClearRegion: {name: "Search the whole picture", run: func() { w.k.toolbox.SetRegion(nil) },
			ready: func() bool { return w.c.editor.Region() != nil }, shortcut: key(fyne.KeyD, ctrl)},

		viewIn: {name: "Zoom in", run: func() { port.ZoomStep(1) }, ready: open, keys: "+=",
			also: []fyne.Shortcut{key(fyne.KeyEqual, ctrl), key(fyne.KeyPlus, ctrl), key(fyne.KeyEqual, ctrlShift)}},
		viewOut: {name: "Zoom out", run: func() { port.ZoomStep(-1) }, ready: open, keys: "-",
			also: []fyne.Shortcut{key(fyne.KeyMinus, ctrl)}},
		viewFit: {name: "Fit in window", run: port.Fit, ready: open, shortcut: key(fyne.Key0, ctrl), keys: "f",
			named: keys(fyne.KeyHome)},
		viewActual: {name: "Actual pixels, 1:1", run: func() { port.SetZoom(1) }, ready: open,
			shortcut: key(fyne.Key1, ctrl)},
		viewDouble: {name: "200 %", run: func() { port.SetZoom(2) }, ready: open, shortcut: key(fyne.Key2, ctrl)},
		viewFour:   {name: "400 %", run: func() { port.SetZoom(4) }, ready: open, shortcut: key(fyne.Key4, ctrl)},
		viewMask:   {name: "Show mask", run: d.toggleMask, checked: func() bool { return d.maskShown }, keys: "m"},
		viewPanel: {name: "Show panel", run: w.togglePanel, checked: func() bool { return w.panelShown },
			named: keys(fyne.KeyF9)},
		panelNext:     {name: "Next tab of the panel", run: w.turnPanel(1), shortcut: key(fyne.KeyPageDown, ctrl)},
		panelPrevious: {name: "Previous tab of the panel", run: w.turnPanel(-1), shortcut: key(fyne.KeyPageUp, ctrl)},

		findRun: {name: "Find glare", run: w.c.treatment.detect, ready: idle, shortcut: key(fyne.KeyG, ctrl),
			named: keys(fyne.KeyF5), also: []fyne.Shortcut{key(fyne.KeyReturn, ctrl)}, job: true, queues: true},
		findCancel: {name: "Cancel", run: w.c.session.Cancel, ready: func() bool { return !free() }},
		findTakeOver: {name: "Copy values to manual mode", run: w.takeOver,
			ready: func() bool { return open() && w.c.session.Document().Result() != nil }},
		findNext: {name: "Next finding", run: func() { w.c.review.step(1) }, ready: open, keys: "n",
			named: keys(fyne.KeyF3), useful: listed},
		findPrevious: {name: "Previous finding", run: func() { w.c.review.step(-1) }, ready: open, keys: "p",
			useful: listed},
		findRemove: {name: "Remove selected finding", run: w.c.review.removeSelected, ready: open,
			named: keys(fyne.KeyDelete), useful: inMask},
		findKeep: {name: "Keep finding, go to next", run: w.c.review.keep, ready: open, keys: "k",
			useful: listed},
		findIgnore: {name: "Ignore finding, go to next", run: w.c.review.ignore, ready: open, keys: "j",
			useful: listed},
		findKeepListed:   {name: "Keep all listed", run: w.c.review.keepListed, ready: open, useful: listed},
		findIgnoreListed: {name: "Ignore all listed", run: w.c.review.ignoreListed, ready: open, useful: listed},
		findLearn:        {name: "Learn from my decisions…", run: w.teaching.learn, ready: idle, job: true},
		findForget: {name: "Forget what was learned", run: w.teaching.forgetLearned,
			ready: func() bool { return free() && w.c.session.Settings().Params.Learned != nil }},
		findThumbnails: {name: "Findings as thumbnails", run: w.toggleThumbnails, keys: "t",
			checked: func() bool { return w.c.session.Settings().FindingThumbnails }},
		findSave: {name: "Save list of findings…", run: files.SaveFindings, ready: open, useful: listed},

		filmFolder: {name: "Folder as filmstrip", run: files.AddFolder, ready: idle},
		filmNext: {name: "Next picture", run: files.OpenBeside(1), ready: beside(1),
			named: keys(fyne.KeyPageDown), job: true},
		filmPrevious: {name: "Previous picture", run: files.OpenBeside(-1), ready: beside(-1),
			named: keys(fyne.KeyPageUp), job: true},
		filmFind: {name: "Find glare in all pictures", run: files.Batch(false), ready: filmed, job: true,
			queues: true},
		filmCorrect: {name: "Correct and save all pictures", run: files.Batch(true), ready: filmed, job: true,
			queues: true},
		filmFarm:  {name: "Batch on this computer or a farm…", run: w.batches.Open, ready: filmed},
		filmClose: {name: "Close the filmstrip", run: w.c.frames.Clear, ready: filmed},

		correctAll: {name: "Correct all", run: w.c.treatment.correctAll, ready: idle, named: keys(fyne.KeyF6),
			useful: found, job: true, queues: true},
		correctSelected: {name: "Correct selected", run: w.c.treatment.correctSelected, ready: idle, keys: "a",
			useful: inMask, job: true, queues: true, queue: w.c.treatment.queueCorrection},
		correctRemove: {name: "Remove correction of selected", run: w.c.treatment.removeCorrection,
			ready: w.c.session.Corrected, keys: "x", useful: fixed},
		correctRemoveAll: {name: "Remove all corrections", run: w.c.treatment.removeCorrections,
			ready: w.c.session.Corrected},
		holdAction: {name: "Show the original", run: d.toggleOriginal, ready: d.comparable,
			checked: func() bool { return d.original }, keys: "c"},
		viewSplit: {name: "Split line", run: d.toggleSplit, ready: d.comparable,
			checked: func() bool { return d.split }, keys: "s"},
		viewBlink: {name: "Blink original and result", run: d.toggleBlink, ready: d.comparable, checked: d.blinking,
			keys: `\`},

		brushSmaller: {name: "Smaller brush", run: func() { w.k.toolbox.scaleBrush(-1) }, keys: "[", useful: brush},
		brushLarger:  {name: "Larger brush", run: func() { w.k.toolbox.scaleBrush(1) }, keys: "]", useful: brush},
		toolKeys: {name: "Pointer by keys", run: func() { d.under().ToggleKeys() }, ready: open,
			named: keys(fyne.KeyF12)},

		regionFinish: {run: w.k.toolbox.finish, ready: open, named: keys(fyne.KeyReturn, fyne.KeyEnter)},
		regionBack:   {run: w.k.toolbox.back, ready: open, named: keys(fyne.KeyBackspace)},
		escapeAction: {run: w.escape, named: keys(fyne.KeyEscape)},

		scrollLeft:  {run: func() { port.Scroll(-scrollShare, 0) }, named: keys(fyne.KeyLeft)},
		scrollRight: {run: func() { port.Scroll(scrollShare, 0) }, named: keys(fyne.KeyRight)},
		scrollUp:    {run: func() { port.Scroll(0, -scrollShare) }, named: keys(fyne.KeyUp)},
		scrollDown:  {run: func() { port.Scroll(0, scrollShare) }, named: keys(fyne.KeyDown)},

		helpTour: {name: "Tour", run: func() {
			w.k.prompts.ShowCustom(w.k.t("Tour"), w.k.t("Close"), w.k.tour(), 640, 380)
		}},
		helpGuide:      {name: "Guide", run: w.pages.showGuide, named: keys(fyne.KeyF1)},
		helpKeys:       {name: "Keys and mouse", run: w.pages.showKeys},
		commandsAction: {name: "All commands…", run: w.showCommands, shortcut: key(fyne.KeyP, ctrlShift)},
		helpAbout:      {name: "About Blik", run: w.pages.showAbout},
	}
	if w.config.timing != nil {
		w.k.actions.table[timingAction] = &action{
			name: "Timing and experiments…", run: w.showTiming, named: keys(fyne.KeyF8),
		}
	}
	w.makeChoices()
	w.makeLooks()
	for _, a := range w.k.actions.table {
		a.usual = a.inForce()
	}
}

// scrollShare is the share of the viewport by which an arrow key moves the picture.
const scrollShare = 0.1

// setMode sets the look of the mask, and explains the colours of changed pixels.
func (w *window) setMode(m view.Mode) {
	w.k.display.setMode(m)
	if m == view.Changed {
		w.k.say(w.k.t("Changed pixels: marked in orange, halo in blue, veil in pink"))
	}
}

// makeChoices adds the groups of actions of which one is ticked: tools, detection modes and overlay modes.
func (w *window) makeChoices() {
	for _, s := range w.k.toolbox.specs {
		w.k.actions.table[s.ID] = &action{
			name: s.Name, run: func() { w.k.toolbox.take(s) }, keys: string(s.Key),
			checked: func() bool { return w.k.toolbox.current.ID == s.ID },
		}
	}
	for _, c := range []struct {
		id   string
		name message.Text
		mode processing.Mode
	}{
		{findAdaptive, "Adaptive parameters", processing.Adaptive},
		{findManual, "Manual parameters", processing.Manual},
	} {
		w.k.actions.table[c.id] = &action{
			name: c.name,
			run: func() {
				p := w.c.session.Settings().Params
				p.Mode = c.mode
				w.c.preview.SetParams(p)
			},
			checked: func() bool { return w.c.session.Settings().Params.Mode == c.mode },
		}
	}
	for _, c := range []struct {
		id   string
		name message.Text
		mode view.Mode
	}{
		{viewOverlay, "Mask as overlay", view.PictureAndMask},
		{viewOutlines, "Mask as outlines", view.Outlines},
		{viewMaskOnly, "Mask only", view.MaskOnly},
		{viewChanged, "Changed pixels", view.Changed},
	} {
		w.k.actions.table[c.id] = &action{
			name: c.name, run: func() { w.setMode(c.mode) },
			checked: func() bool { return w.k.display.look.Mode == c.mode },
		}
	}
}
