package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"blik/app/view"
	"blik/processing"
	"blik/ui/texts"
)

// action is something that the user can do. Menus, tool buttons and keys are made from the same table. Its text has
// the key "action." and its ID.
type action struct {
	run func()
	// ready says whether it can be done now; nil is always. The driver runs shortcuts of greyed menu items too, so do
	// asks again.
	ready func() bool
	// checked says whether its menu item has a tick; nil for one that never has.
	checked  func() bool
	shortcut fyne.Shortcut
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
func (w *window) do(id string) {
	if !w.can(id) || w.dialogOpen() && id != "edit.undo" && id != "edit.redo" {
		return
	}
	a := w.actions[id]
	w.tips.Hide()
	a.run()
}

// can says whether an action can be done now.
func (w *window) can(id string) bool {
	a, ok := w.actions[id]
	return ok && (a.ready == nil || a.ready())
}

func (w *window) makeActions() {
	open := func() bool { return w.doc != nil }
	idle := func() bool { return w.doc != nil && !w.jobs.Busy() }
	free := func() bool { return !w.jobs.Busy() }
	w.actions = map[string]*action{
		"file.open":          {run: w.chooseFile, ready: free, shortcut: key(fyne.KeyO, ctrl)},
		"file.loadMask":      {run: w.chooseMask, ready: idle, shortcut: key(fyne.KeyL, ctrl)},
		"file.saveMask":      {run: func() { w.saveMask(nil) }, ready: idle, shortcut: key(fyne.KeyM, ctrl)},
		"file.saveMaskAs":    {run: func() { w.saveMaskAs(nil) }, ready: idle, shortcut: key(fyne.KeyM, ctrlShift)},
		"file.savePicture":   {run: func() { w.savePicture(nil) }, ready: idle, shortcut: key(fyne.KeyS, ctrl)},
		"file.savePictureAs": {run: func() { w.savePictureAs(nil) }, ready: idle, shortcut: key(fyne.KeyS, ctrlShift)},
		"file.information":   {run: w.showInformation, ready: open},
		"file.loadPreset":    {run: w.loadPreset},
		"file.savePreset":    {run: w.savePreset},
		"file.quit":          {run: w.quit, shortcut: key(fyne.KeyQ, ctrl)},

		"edit.undo":        {run: w.undo, shortcut: &fyne.ShortcutUndo{}},
		"edit.redo":        {run: w.redo, shortcut: &fyne.ShortcutRedo{}},
		"edit.invert":      {run: w.invertMask, ready: idle, shortcut: key(fyne.KeyI, ctrl)},
		"edit.clear":       {run: w.clearMask, ready: idle},
		"edit.clearRegion": {run: func() { w.SetRegion(nil) }, ready: func() bool { return w.doc != nil && w.doc.Region() != nil }, shortcut: key(fyne.KeyD, ctrl)},

		"view.in":     {run: func() { w.port.ZoomStep(1) }, ready: open},
		"view.out":    {run: func() { w.port.ZoomStep(-1) }, ready: open},
		"view.fit":    {run: w.port.Fit, ready: open, shortcut: key(fyne.Key0, ctrl)},
		"view.actual": {run: func() { w.port.SetZoom(1) }, ready: open, shortcut: key(fyne.Key1, ctrl)},
		"view.double": {run: func() { w.port.SetZoom(2) }, ready: open, shortcut: key(fyne.Key2, ctrl)},
		"view.four":   {run: func() { w.port.SetZoom(4) }, ready: open, shortcut: key(fyne.Key4, ctrl)},
		"view.mask":   {run: w.toggleMask, checked: func() bool { return w.maskShown }},
		"view.panel":  {run: w.togglePanel, checked: func() bool { return w.panelShown }},

		"find.run":      {run: w.detect, ready: idle, shortcut: key(fyne.KeyG, ctrl)},
		"find.cancel":   {run: w.jobs.Cancel, ready: func() bool { return w.jobs.Busy() }},
		"find.takeOver": {run: w.takeOver, ready: func() bool { return w.doc != nil && w.doc.Result() != nil }},
		"find.next":     {run: func() { w.step(1) }, ready: open},
		"find.previous": {run: func() { w.step(-1) }, ready: open},
		"find.remove":   {run: w.removeSelected, ready: open},

		"correct.all":       {run: w.correctAll, ready: idle},
		"correct.selected":  {run: w.correctSelected, ready: idle},
		"correct.remove":    {run: w.removeCorrection, ready: w.canCompare},
		"correct.removeAll": {run: w.removeCorrections, ready: w.canCompare},
		"view.source":       {run: w.toggleSource, ready: w.canCompare, checked: func() bool { return w.source }},
		"view.split":        {run: w.toggleSplit, ready: w.canCompare, checked: func() bool { return w.split }},

		"brush.smaller": {run: func() { w.scaleBrush(-1) }},
		"brush.larger":  {run: func() { w.scaleBrush(1) }},

		"region.finish": {run: w.finishRegion, ready: open},
		"region.back":   {run: w.backRegion, ready: open},
		"escape":        {run: w.escape},

		"scroll.left":  {run: func() { w.port.Scroll(-scrollShare, 0) }},
		"scroll.right": {run: func() { w.port.Scroll(scrollShare, 0) }},
		"scroll.up":    {run: func() { w.port.Scroll(0, -scrollShare) }},
		"scroll.down":  {run: func() { w.port.Scroll(0, scrollShare) }},

		"view.timing": {run: w.showTiming},

		"help.keys":  {run: w.showKeys},
		"help.about": {run: w.showAbout},
	}
	for _, t := range toolIDs() {
		w.actions[t] = &action{run: func() { w.setTool(t) }, checked: func() bool { return w.toolID == t }}
	}
	for _, mode := range []processing.Mode{processing.Adaptive, processing.Manual} {
		w.actions[modeAction(mode)] = &action{
			run:     func() { w.setMode(mode) },
			checked: func() bool { return w.settings.Params.Mode == mode },
		}
	}
	for id, mode := range viewModes() {
		w.actions[id] = &action{run: func() { w.setViewMode(mode) }, checked: func() bool { return w.look.Mode == mode }}
	}
}

// scrollShare is the part of the viewport that an arrow key moves the picture by.
const scrollShare = 0.1

func modeAction(m processing.Mode) string {
	if m == processing.Manual {
		return "find.manual"
	}
	return "find.adaptive"
}

func viewModes() map[string]view.Mode {
	return map[string]view.Mode{
		"view.overlay":  view.PictureAndMask,
		"view.outlines": view.Outlines,
		"view.maskOnly": view.MaskOnly,
	}
}

// item makes the menu item of an action.
func (w *window) item(id string) *fyne.MenuItem {
	a := w.actions[id]
	i := fyne.NewMenuItem(w.t("action."+id), func() { w.do(id) })
	i.Shortcut = a.shortcut
	if i.Shortcut == nil {
		i.Shortcut = keyOf(id)
	}
	i.Disabled = !w.can(id)
	if a.checked != nil {
		i.Checked = a.checked()
	}
	return i
}

func (w *window) menu(title string, ids ...string) *fyne.Menu {
	m := fyne.NewMenu(w.t(title))
	for _, id := range ids {
		switch id {
		case "-":
			m.Items = append(m.Items, fyne.NewMenuItemSeparator())
		case "recent":
			m.Items = append(m.Items, w.recentItem())
		case "colours":
			m.Items = append(m.Items, w.colourItem())
		case "appearance":
			m.Items = append(m.Items, w.appearanceItem())
		case "language":
			m.Items = append(m.Items, w.languageItem())
		case "methods":
			m.Items = append(m.Items, w.methodItem())
		case "device":
			m.Items = append(m.Items, w.deviceItem())
		default:
			m.Items = append(m.Items, w.item(id))
		}
	}
	return m
}

// menuTable lists the menus with the actions in them; "-" is a line, and names without a dot are submenus.
func menuTable() []struct {
	title string
	ids   []string
} {
	return []struct {
		title string
		ids   []string
	}{
		{"menu.file", []string{"file.open", "recent", "file.information", "-", "file.savePicture", "file.savePictureAs", "-",
			"file.loadMask", "file.saveMask", "file.saveMaskAs", "-", "file.loadPreset", "file.savePreset", "-", "file.quit"}},
		{"menu.edit", []string{"edit.undo", "edit.redo", "-", "edit.invert", "edit.clear", "-", "edit.clearRegion"}},
		{"menu.view", []string{"view.in", "view.out", "view.fit", "view.actual", "view.double", "view.four", "-",
			"view.mask", "view.overlay", "view.outlines", "view.maskOnly", "colours", "-", "view.panel", "appearance", "language"}},
		{"menu.tools", append(toolIDs(), "-", "brush.smaller", "brush.larger", "-", "device", "view.timing")},
		{"menu.find", []string{"find.run", "find.cancel", "-", "find.adaptive", "find.manual", "find.takeOver", "-",
			"find.next", "find.previous", "find.remove"}},
		{"menu.correct", []string{"correct.all", "correct.selected", "methods", "-", "correct.remove", "correct.removeAll", "-",
			"view.source", "view.split"}},
		{"menu.help", []string{"help.keys", "help.about"}},
	}
}

// mainMenu builds the whole menu for the state of the moment.
func (w *window) mainMenu() *fyne.MainMenu {
	menu := fyne.NewMainMenu()
	for _, m := range menuTable() {
		menu.Items = append(menu.Items, w.menu(m.title, m.ids...))
	}
	// Fyne adds a Quit of its own where it finds none.
	file := menu.Items[0].Items
	file[len(file)-1].IsQuit = true
	return menu
}

// refreshMenu shows the state of the moment in the menu.
func (w *window) refreshMenu() { w.win.SetMainMenu(w.mainMenu()) }

func (w *window) recentItem() *fyne.MenuItem {
	item := fyne.NewMenuItem(w.t("menu.recent"), nil)
	var files []*fyne.MenuItem
	for _, path := range w.settings.Recent {
		files = append(files, fyne.NewMenuItem(path, func() { w.open(path) }))
	}
	item.Disabled = len(files) == 0
	if len(files) > 0 {
		item.ChildMenu = fyne.NewMenu("", files...)
	}
	return item
}

func (w *window) colourItem() *fyne.MenuItem {
	item := fyne.NewMenuItem(w.t("menu.colour"), nil)
	var all []*fyne.MenuItem
	for _, c := range view.OverlayColours() {
		i := fyne.NewMenuItem(c.Name.In(w.texts.Lang()), func() { w.setColour(c) })
		i.Checked = w.settings.OverlayColour == c.ID
		all = append(all, i)
	}
	item.ChildMenu = fyne.NewMenu("", all...)
	return item
}

// methodItem lists the methods for the selected spot.
func (w *window) methodItem() *fyne.MenuItem {
	item := fyne.NewMenuItem(w.t("menu.method"), nil)
	var all []*fyne.MenuItem
	for m, name := range w.spotMethods() {
		i := fyne.NewMenuItem(name, func() {
			if w.can("correct.selected") && !w.dialogOpen() {
				w.redoSelected(processing.Method(m))
			}
		})
		i.Checked = w.methods.selected && w.methods.asked == processing.Method(m)
		all = append(all, i)
	}
	item.Disabled = !w.methods.selected
	item.ChildMenu = fyne.NewMenu("", all...)
	return item
}

func (w *window) appearanceItem() *fyne.MenuItem {
	item := fyne.NewMenuItem(w.t("menu.appearance"), nil)
	var all []*fyne.MenuItem
	for _, look := range appearances() {
		i := fyne.NewMenuItem(w.t("appearance."+string(look)), func() { w.setAppearance(look) })
		i.Checked = w.appearance == look
		all = append(all, i)
	}
	item.ChildMenu = fyne.NewMenu("", all...)
	return item
}

func (w *window) languageItem() *fyne.MenuItem {
	item := fyne.NewMenuItem(w.t("menu.language"), nil)
	var all []*fyne.MenuItem
	for _, l := range texts.Languages() {
		i := fyne.NewMenuItem(l.Name, func() { w.setLanguage(l.Code) })
		i.Checked = w.texts.Lang() == l.Code
		all = append(all, i)
	}
	item.ChildMenu = fyne.NewMenu("", all...)
	return item
}
