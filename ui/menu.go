package ui

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"

	"blik/app/i18n"
	"blik/app/thumbnail"
	"blik/app/view"
	"blik/internal/message"
	"blik/processing"
	"blik/ui/keyset"
	"blik/ui/look"
)

// menuEntries are a menu with its actions; "-" is a separator, and names without a dot are submenus.
type menuEntries struct {
	title message.Text
	ids   []string
}

// all returns the actions of a menu and of its submenu "looks".
func (m menuEntries) all() []string {
	if i := slices.Index(m.ids, "looks"); i >= 0 {
		return slices.Concat(m.ids[:i], maskLooks(), m.ids[i+1:])
	}
	return m.ids
}

// maskLooks lists the entries of the submenu for the look of the mask.
func maskLooks() []string {
	return []string{viewOverlay, viewOutlines, viewMaskOnly, viewChanged, "-", "colours"}
}

// menuTable lists the menus.
func menuTable() []menuEntries {
	var tools []string
	for _, s := range toolSpecs() {
		tools = append(tools, s.ID)
		if s.Last {
			tools = append(tools, "-")
		}
	}
	return []menuEntries{
		{"File", []string{fileOpen, fileFolder, "recent", fileSample, fileInformation, fileCopyInformation, "-",
			fileSavePicture, fileSavePictureAs, fileSaveProject, "-",
			fileLoadMask, fileSaveMask, fileSaveMaskAs, fileCompareMask, fileEndCompare, "-",
			"presets", fileLoadPreset, fileSavePreset, "-", fileQuit}},
		{"Edit", []string{editUndo, editRedo, editHistory, editCopy, "-",
			editInvert, editClear, editForget, editGrow, editShrink, editFill, "-",
			editAddRegion, editTakeRegion, editKeepRegion, editClearRegion, "-", editPreferences}},
		{"View", []string{viewIn, viewOut, viewFit, viewActual, viewDouble, viewFour, "review", "-",
			viewMask, "looks", "-", viewNavigator, viewLoupe, viewGrid, "-",
			viewPanel, panelNext, panelPrevious, "appearance", "language"}},
		{"Analysis", append(layerActions(), "-", viewHistogram, viewReasons)},
		{"Tools", append(tools, "-", brushSmaller, brushLarger, toolKeys, "-", "device", timingAction)},
		{"Glare", []string{findRun, findCancel, "-", findAdaptive, findManual, findTakeOver, "-",
			findNext, findPrevious, "-", findKeep, findIgnore, findRemove, "-",
			findKeepListed, findIgnoreListed, findThumbnails, findSave, findCopy, "-", findLearn, findForget}},
		{"Correction", []string{correctAll, correctSelected, "methods", "listedMethods", "-",
			correctRemove, correctRemoveAll, "-", holdAction, viewBlink, viewSplit, viewBeside, viewClient}},
		{"Filmstrip", []string{filmFolder, filmPrevious, filmNext, "-",
			filmFind, filmCorrect, filmFarm, "-", filmClose}},
		{"Help", []string{helpGuide, helpTour, commandsAction, helpKeys, helpAbout}},
	}
}

// mainMenu is the menu of the window. It is rebuilt only when something in it changes.
type mainMenu struct {
	w     *window
	shown string
	// thumbnails are those of the recent files that have been requested so far.
	thumbnails map[string]fyne.Resource
}

func (m *mainMenu) update(c change) {
	if !affectsMenu(c) {
		return
	}
	if c.Recent || c.Document {
		m.shown, m.thumbnails = "", map[string]fyne.Resource{}
	}
	menu := m.build()
	var b strings.Builder
	for _, sub := range menu.Items {
		describe(&b, sub)
	}
	if b.String() != m.shown {
		m.shown = b.String()
		m.w.win.SetMainMenu(menu)
	}
}

// affectsMenu reports whether a change may affect the menu; most changes of a stroke or a job do not.
func affectsMenu(c change) bool {
	return c.Document || c.Listing || c.Mask || c.Corrections || c.Result || c.Region || c.Selection || c.Params ||
		c.History || c.Busy || c.Device || c.Compared || c.Presets || c.Recent || c.Film || c.Tool || c.View || c.Layout
}

// describe writes all visible properties of a menu.
func describe(b *strings.Builder, m *fyne.Menu) {
	fmt.Fprintln(b, m.Label)
	for _, i := range m.Items {
		fmt.Fprintln(b, i.Label, i.Disabled, i.Checked, i.IsSeparator)
		if i.ChildMenu != nil {
			describe(b, i.ChildMenu)
		}
	}
}

func (m *mainMenu) build() *fyne.MainMenu {
	menu := fyne.NewMainMenu()
	for _, entry := range menuTable() {
		menu.Items = append(menu.Items, fyne.NewMenu(m.w.k.t(entry.title), m.items(entry.ids)...))
	}
	// Fyne adds a Quit item of its own unless it finds one.
	file := menu.Items[0].Items
	file[len(file)-1].IsQuit = true
	return menu
}

// items makes the items of a menu or submenu.
func (m *mainMenu) items(ids []string) (items []*fyne.MenuItem) {
	for _, id := range ids {
		if id != timingAction || m.w.config.timing != nil {
			items = append(items, m.item(id))
		}
	}
	if runtime.GOOS != "darwin" {
		showKeys(items)
	}
	return items
}

// item makes the menu item for an ID of menuTable.
func (m *mainMenu) item(id string) *fyne.MenuItem {
	switch id {
	case "-":
		return fyne.NewMenuItemSeparator()
	case "recent":
		return submenu(m.w.k.t("Open recent"), m.recentItems())
	case "presets":
		return submenu(m.w.k.t("Presets"), m.presetItems())
	case "looks":
		return submenu(m.w.k.t("Look of the mask"), m.items(maskLooks()))
	case "colours":
		return submenu(m.w.k.t("Mask colour"), m.colourItems())
	case "appearance":
		return submenu(m.w.k.t("Appearance"), m.appearanceItems())
	case "language":
		return submenu(m.w.k.t("Language"), m.languageItems())
	case "methods":
		return submenu(m.w.k.t("Method of the selected finding"), m.methodItems())
	case "listedMethods":
		return submenu(m.w.k.t("Correct all listed by"), m.listedMethodItems())
	case "review":
		return submenu(m.w.k.t("Zoom for findings"), m.reviewItems())
	case "device":
		return submenu(m.w.k.t("Compute device"), m.deviceItems())
	}
	a := m.w.k.actions.table[id]
	i := fyne.NewMenuItem(m.w.k.t(a.name), func() { m.w.k.actions.do(id) })
	if i.Shortcut = a.shortcut; i.Shortcut == nil {
		i.Shortcut = a.singleKey()
	}
	// Of two keys the texts of the window name the function key. The letter F is none.
	name := a.keyName()
	if a.shortcut != nil && name != fyne.KeyF && strings.HasPrefix(string(name), "F") && runtime.GOOS != "darwin" {
		i.Shortcut = unshown{a.shortcut, string(name)}
	}
	i.Disabled = !m.w.k.actions.offers(id)
	i.Checked = a.checked != nil && a.checked()
	return i
}

// singleKey returns the key to show in the menu for an action without a shortcut. The driver never fires it, because it
// has no modifier.
func (a *action) singleKey() fyne.Shortcut {
	if name := a.keyName(); name != "" {
		return &desktop.CustomShortcut{KeyName: name}
	}
	return nil
}

// unshown is a shortcut whose keys the toolkit does not draw, with the text to show instead, if it is not empty.
type unshown struct {
	fyne.Shortcut
	text string
}

// showKeys appends the keys of the items to their texts, as a column. The toolkit would draw them with a fifth of the
// opacity of text, which is hard to read; the menus of macOS are not its own.
func showKeys(items []*fyne.MenuItem) {
	width := func(text string) float32 { return fyne.MeasureText(text, theme.TextSize(), fyne.TextStyle{}).Width }
	var column float32
	for _, i := range items {
		if i.Shortcut != nil {
			column = max(column, width(i.Label+"\t"))
		}
	}
	for _, i := range items {
		if i.Shortcut == nil {
			continue
		}
		for i.Label += "\t"; width(i.Label) < column; {
			i.Label += "\t"
		}
		if u, ok := i.Shortcut.(unshown); ok {
			i.Label += u.text
			continue
		}
		i.Label += keyset.Text(i.Shortcut)
		i.Shortcut = unshown{Shortcut: i.Shortcut}
	}
}

// submenu makes an item that opens a list; it is greyed if the list is empty.
func submenu(title string, items []*fyne.MenuItem) *fyne.MenuItem {
	i := fyne.NewMenuItem(title, nil)
	i.Disabled = len(items) == 0
	if len(items) > 0 {
		i.ChildMenu = fyne.NewMenu("", items...)
	}
	return i
}

// choice makes an item of a list in which one is ticked.
func choice(label string, checked bool, run func()) *fyne.MenuItem {
	i := fyne.NewMenuItem(label, run)
	i.Checked = checked
	return i
}

func (m *mainMenu) recentItems() (items []*fyne.MenuItem) {
	for _, path := range m.w.c.session.Settings().Recent {
		item := fyne.NewMenuItem(path, func() { m.w.files.Open(path) })
		item.Icon = m.thumbnail(path)
		items = append(items, item)
	}
	return items
}

// thumbnail returns the thumbnail of a recent file, nil if there is none.
func (m *mainMenu) thumbnail(path string) fyne.Resource {
	if icon, known := m.thumbnails[path]; known {
		return icon
	}
	m.thumbnails[path] = nil
	var b bytes.Buffer
	if small, ok := m.w.c.store.Thumbnail(path); ok && thumbnail.WriteJPEG(&b, small) == nil {
		m.thumbnails[path] = fyne.NewStaticResource(path, b.Bytes())
	}
	return m.thumbnails[path]
}

func (m *mainMenu) colourItems() (items []*fyne.MenuItem) {
	for _, c := range view.OverlayColours() {
		items = append(items, choice(m.w.k.texts.Sprint(c.Name), m.w.c.session.Settings().OverlayColour == c.ID,
			func() { m.w.k.display.setColour(c) }))
	}
	return items
}

func (m *mainMenu) appearanceItems() (items []*fyne.MenuItem) {
	for _, a := range look.Appearances() {
		items = append(items, choice(m.w.k.t(a.Name()), m.w.appearance() == a,
			func() { m.w.setAppearance(a) }))
	}
	return items
}

func (m *mainMenu) languageItems() (items []*fyne.MenuItem) {
	for _, l := range i18n.Languages() {
		items = append(items, choice(l.Name, m.w.k.texts.Code() == l.Code, func() { m.w.setLanguage(l.Code) }))
	}
	return items
}

// methodItems lists the correction methods for the selected finding, if there is one.
func (m *mainMenu) methodItems() (items []*fyne.MenuItem) {
	f, ok := m.w.c.found.Selected()
	if !ok {
		return nil
	}
	for method, name := range m.w.k.words.Methods() {
		method := processing.Method(method)
		items = append(items, choice(name, f.Asked == method, func() {
			if m.w.k.actions.can(correctSelected) && !m.w.k.actions.blocked() {
				m.w.c.treatment.correctBy(method)
			}
		}))
	}
	return items
}

// listedMethodItems lists the correction methods for all listed findings, if there are any.
func (m *mainMenu) listedMethodItems() (items []*fyne.MenuItem) {
	if !m.w.k.actions.can(correctAll) || len(m.w.c.found.Listed()) == 0 {
		return nil
	}
	names := m.w.k.words.Methods()
	names[0] = m.w.k.t("the method of the parameters")
	for method, name := range names {
		items = append(items, fyne.NewMenuItem(name, func() {
			if m.w.k.actions.can(correctAll) && !m.w.k.actions.blocked() {
				m.w.c.treatment.correctListed(processing.Method(method))
			}
		}))
	}
	return items
}

// reviewItems lists the zooms at which findings are centred.
func (m *mainMenu) reviewItems() (items []*fyne.MenuItem) {
	for _, zoom := range reviewZooms() {
		title := m.w.k.reviewZoom(zoom)
		items = append(items, choice(title, m.w.c.session.Settings().ReviewZoom == zoom,
			func() { m.w.c.review.setReviewZoom(zoom) }))
	}
	return items
}

// deviceItems lists the devices.
func (m *mainMenu) deviceItems() (items []*fyne.MenuItem) {
	wanted := m.w.c.session.Settings().Device
	names := []string{deviceAuto, deviceCPU}
	for _, d := range m.w.c.devices.All() {
		names = append(names, d.Name)
	}
	// A chosen device that no longer exists stays in the list, so that the choice is visible.
	names = append(names, wanted)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		title := m.w.k.t("Automatic")
		if name != deviceAuto {
			title = m.w.k.words.Device(name, m.w.c.devices.All())
		}
		items = append(items, choice(title, name == wanted, func() { m.w.setDevice(name) }))
	}
	return items
}
