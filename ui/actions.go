package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"blik/app/view"
	"blik/processing"
)

// action is something that the user can do. Menus, tool buttons and keys are made from the same table. Its text has
// the key "action." and its ID.
type action struct {
	run func()
	// ready reports whether it can be done now; nil is always. The driver runs shortcuts of greyed menu items, too, so do
	// asks again.
	ready func() bool
	// checked reports whether its menu item has a tick; nil for one that never has.
	checked  func() bool
	shortcut fyne.Shortcut
	// keys are characters of a Latin keyboard that run it, named other keys; of both the first is shown.
	keys  string
	named []fyne.KeyName
}

// actions is the table of all actions.
type actions struct {
	table map[string]*action
	// blocked reports whether a dialog lies over the window, started is called before an action runs.
	blocked func() bool
	started func()
}

const (
	ctrl      = fyne.KeyModifierShortcutDefault
	ctrlShift = fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift
)

func key(name fyne.KeyName, mod fyne.KeyModifier) fyne.Shortcut {
	return &desktop.CustomShortcut{KeyName: name, Modifier: mod}
}

// do runs an action if it can be done now. The driver runs the menu's shortcuts while a dialog is open as well; there
// only undo and redo of typing may pass.
func (a *actions) do(id string) {
	if !a.can(id) || a.blocked() && id != "edit.undo" && id != "edit.redo" {
		return
	}
	a.started()
	a.table[id].run()
}

// can reports whether an action can be done now.
func (a *actions) can(id string) bool {
	known, ok := a.table[id]
	return ok && (known.ready == nil || known.ready())
}

// name is what an action is called outside the menu.
func (c *common) name(id string) string { return strings.TrimSuffix(c.t("action."+id), "…") }

// makeActions fills the table.
func (w *window) makeActions() {
	files, d, port := w.files, w.display, w.display.port
	open := func() bool { return w.Document() != nil }
	free := func() bool { return !w.Busy() }
	idle := func() bool { return open() && free() }
	keys := func(names ...fyne.KeyName) []fyne.KeyName { return names }
	w.actions.table = map[string]*action{
		"file.open":          {run: files.choosePicture, ready: free, shortcut: key(fyne.KeyO, ctrl)},
		"file.loadMask":      {run: files.chooseMask, ready: idle, shortcut: key(fyne.KeyL, ctrl)},
		"file.saveMask":      {run: func() { files.saveMask(func() {}) }, ready: idle, shortcut: key(fyne.KeyM, ctrl)},
		"file.saveMaskAs":    {run: func() { files.saveMaskAs(func() {}) }, ready: idle, shortcut: key(fyne.KeyM, ctrlShift)},
		"file.savePicture":   {run: func() { files.savePicture(func() {}) }, ready: idle, shortcut: key(fyne.KeyS, ctrl)},
		"file.savePictureAs": {run: files.savePictureAs, ready: idle, shortcut: key(fyne.KeyS, ctrlShift)},
		"file.information":   {run: w.prompts.showInformation, ready: open},
		"file.loadPreset":    {run: files.choosePreset},
		"file.savePreset":    {run: files.savePreset},
		"file.quit":          {run: w.quit, shortcut: key(fyne.KeyQ, ctrl)},

		"edit.undo":   {run: w.undo, shortcut: &fyne.ShortcutUndo{}},
		"edit.redo":   {run: w.redo, shortcut: &fyne.ShortcutRedo{}},
		"edit.invert": {run: w.invertMask, ready: idle, shortcut: key(fyne.KeyI, ctrl)},
		"edit.clear":  {run: w.ClearMask, ready: idle},
		"edit.clearRegion": {run: func() { w.toolbox.SetRegion(nil) }, ready: func() bool { return w.Region() != nil },
			shortcut: key(fyne.KeyD, ctrl)},

		"view.in":     {run: func() { port.ZoomStep(1) }, ready: open, keys: "+="},
		"view.out":    {run: func() { port.ZoomStep(-1) }, ready: open, keys: "-"},
		"view.fit":    {run: port.Fit, ready: open, shortcut: key(fyne.Key0, ctrl), keys: "f", named: keys(fyne.KeyHome)},
		"view.actual": {run: func() { port.SetZoom(1) }, ready: open, shortcut: key(fyne.Key1, ctrl)},
		"view.double": {run: func() { port.SetZoom(2) }, ready: open, shortcut: key(fyne.Key2, ctrl)},
		"view.four":   {run: func() { port.SetZoom(4) }, ready: open, shortcut: key(fyne.Key4, ctrl)},
		"view.mask":   {run: d.toggleMask, checked: func() bool { return d.maskShown }, keys: "m"},
		"view.panel":  {run: w.togglePanel, checked: func() bool { return w.panelShown }, named: keys(fyne.KeyF9)},
		"view.timing": {run: w.showTiming, named: keys(fyne.KeyF8)},

		"find.run":      {run: w.detect, ready: idle, shortcut: key(fyne.KeyG, ctrl), named: keys(fyne.KeyF5)},
		"find.cancel":   {run: w.Cancel, ready: w.Busy},
		"find.takeOver": {run: w.takeOver, ready: func() bool { return open() && w.Document().Result() != nil }},
		"find.next":     {run: func() { w.step(1) }, ready: open, keys: "n", named: keys(fyne.KeyF3)},
		"find.previous": {run: func() { w.step(-1) }, ready: open, keys: "p"},
		"find.remove":   {run: w.removeSelected, ready: open, named: keys(fyne.KeyDelete)},

		"correct.all":       {run: w.correctAll, ready: idle, named: keys(fyne.KeyF6)},
		"correct.selected":  {run: w.correctSelected, ready: idle, keys: "a"},
		"correct.remove":    {run: w.removeCorrection, ready: w.Corrected, keys: "x"},
		"correct.removeAll": {run: w.removeCorrections, ready: w.Corrected},
		holdAction:          {run: d.toggleOriginal, ready: w.Corrected, checked: func() bool { return d.original }, keys: "c"},
		"view.split":        {run: d.toggleSplit, ready: w.Corrected, checked: func() bool { return d.split }, keys: "s"},

		"brush.smaller": {run: func() { w.toolbox.scaleBrush(-1) }, keys: "["},
		"brush.larger":  {run: func() { w.toolbox.scaleBrush(1) }, keys: "]"},

		"region.finish": {run: w.toolbox.finish, ready: open, named: keys(fyne.KeyReturn, fyne.KeyEnter)},
		"region.back":   {run: w.toolbox.back, ready: open, named: keys(fyne.KeyBackspace)},
		"escape":        {run: w.escape, named: keys(fyne.KeyEscape)},

		"scroll.left":  {run: func() { port.Scroll(-scrollShare, 0) }, named: keys(fyne.KeyLeft)},
		"scroll.right": {run: func() { port.Scroll(scrollShare, 0) }, named: keys(fyne.KeyRight)},
		"scroll.up":    {run: func() { port.Scroll(0, -scrollShare) }, named: keys(fyne.KeyUp)},
		"scroll.down":  {run: func() { port.Scroll(0, scrollShare) }, named: keys(fyne.KeyDown)},

		"help.keys":  {run: w.prompts.showKeys, named: keys(fyne.KeyF1)},
		"help.about": {run: w.prompts.showAbout},
	}
	w.makeChoices()
}

// scrollShare is the part of the viewport that an arrow key moves the picture by.
const scrollShare = 0.1

// makeChoices adds the actions of which one is ticked: the tools, the modes of detection, and those of the overlay.
func (w *window) makeChoices() {
	for _, s := range w.toolbox.specs {
		w.actions.table[s.ID] = &action{
			run: func() { w.toolbox.take(s) }, checked: func() bool { return w.toolbox.current.ID == s.ID }, keys: string(s.Key),
		}
	}
	for id, mode := range map[string]processing.Mode{"find.adaptive": processing.Adaptive, "find.manual": processing.Manual} {
		w.actions.table[id] = &action{
			run: func() {
				p := w.Settings().Params
				p.Mode = mode
				w.SetParams(p)
			},
			checked: func() bool { return w.Settings().Params.Mode == mode },
		}
	}
	for id, mode := range map[string]view.Mode{
		"view.overlay": view.PictureAndMask, "view.outlines": view.Outlines, "view.maskOnly": view.MaskOnly,
	} {
		w.actions.table[id] = &action{
			run: func() { w.display.setMode(mode) }, checked: func() bool { return w.display.look.Mode == mode },
		}
	}
}
