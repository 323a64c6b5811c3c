package ui

import (
	"context"
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"

	"blik/app/compute"
	"blik/app/crash"
	"blik/app/device"
	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/job"
	"blik/app/settings"
	"blik/app/view"
	"blik/ui/filedialog"
	"blik/ui/texts"
	"blik/ui/timing"
	"blik/ui/tool"
	"blik/ui/viewport"
	"blik/ui/xwidget"
)

// config is what a window is made from.
type config struct {
	texts    *texts.Texts
	settings settings.Settings
	// path is where the settings are kept; empty keeps them nowhere.
	path    string
	version string
	engine  engine
	// slot is the device that the engine works on; devices lists those that there are, and may take its time.
	slot    *compute.Slot
	devices func() ([]device.Device, error)
	// dialogs makes the file dialogs of one of the program's windows.
	dialogs func(w *window, win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs
	log     *logger
	crash   *crash.Guard
	// dispatch runs functions on the toolkit's goroutine, in their order.
	dispatch func(func())
}

// window is the program's one window. All of it belongs to the toolkit's goroutine.
type window struct {
	config
	app        fyne.App
	win        fyne.Window
	files      filedialog.Dialogs
	jobs       *job.Runner
	appearance appearance

	doc *document.Document
	// file is what the picture was read from.
	file *imagefile.File
	// before shows the picture as it was read, after as it is corrected by what shown holds.
	before, after *view.Pyramid
	shown         *document.Corrections
	// maskFile is where the mask was last saved, saved where the corrected picture was; empty before the first time.
	maskFile string
	saved    pictureFile
	// result is what saving the corrected picture did last.
	result written
	// replaced is the generation of the mask whose findings are corrected in the source itself, which was replaced; 0 where it
	// was not.
	replaced uint64

	// found are the devices that there are, as far as is known; wanted is the name of the one to work on.
	found  []device.Device
	wanted string

	// methods is what the menu of methods shows.
	methods methodMenu

	// source and split say how the source is compared with the corrected picture. heldKey is the scan code of the key that
	// is held for it, 0 for none, lastKey that of the key pressed last.
	source, split, heldButton bool
	heldKey, lastKey          int

	actions map[string]*action
	keys    keys
	tips    *xwidget.Tooltips
	port    *viewport.Viewport
	tools   map[string]tool.Tool
	toolID  string
	look    view.Options

	modals *xwidget.Modals
	// timing is the timing view; nil before it is shown first.
	timing *timing.View

	maskShown, panelShown bool

	// The parts of the content are made anew when the language changes.
	bar    *topBar
	strip  map[string]*xwidget.ToolButton
	panel  *panel
	status *statusBar
	side   *fyne.Container
}

// The toolkit's preferences that hold the look of the window and the name of the device to work on.
const (
	preferenceAppearance = "appearance"
	preferenceDevice     = "device"
)

// closeGrace is how long a closing window waits for work that has been cancelled.
const closeGrace = 2 * time.Second

func newWindow(a fyne.App, c config) *window {
	w := &window{config: c, app: a, maskShown: true, panelShown: true, look: view.DefaultOptions()}
	w.jobs = job.NewRunner(c.dispatch, w.recordPanic)
	w.keys = keys{w}
	w.look.Opacity = c.settings.OverlayOpacity
	w.look.Colour = view.OverlayColourByID(c.settings.OverlayColour).Colour
	w.appearance = appearance(a.Preferences().StringWithFallback(preferenceAppearance, string(appearanceSystem)))
	a.Settings().SetTheme(newTheme(w.appearance))
	w.wanted = wantedDevice(a.Preferences())

	w.win = a.NewWindow(programName)
	w.win.SetPadded(false)
	w.modals = xwidget.NewModals(w.win)
	w.files = c.dialogs(w, w.win, w.modals)
	w.port = viewport.New()
	w.port.OnView = func(view.Transform) { w.viewChanged() }
	w.port.OnHover = w.hovered
	w.port.OnBrush = w.wheelBrush
	c.log.frames(w.port)
	w.makeTools()
	w.makeActions()
	w.build()

	size := fyne.NewSize(float32(c.settings.WindowWidth), float32(c.settings.WindowHeight))
	if size.Width < 600 || size.Height < 400 {
		size = fyne.NewSize(1280, 800)
	}
	w.win.Resize(size)
	w.win.SetCloseIntercept(w.quit)
	w.win.SetOnDropped(w.dropped)
	w.keys.listen(w.win.Canvas())
	for s, id := range map[fyne.Shortcut]string{
		key(fyne.KeyZ, ctrlShift):     "edit.redo",
		key(fyne.KeyEqual, ctrl):      "view.in",
		key(fyne.KeyPlus, ctrl):       "view.in",
		key(fyne.KeyMinus, ctrl):      "view.out",
		key(fyne.KeyEqual, ctrlShift): "view.in",
		&desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: ctrl}: "find.run",
	} {
		w.win.Canvas().AddShortcut(s, func(fyne.Shortcut) { w.do(id) })
	}
	return w
}

// programName is the program's name in every language.
const programName = "Blik"

func (w *window) t(key string, fields ...any) string { return w.texts.T(key, fields...) }

// build makes the content in the window's language and shows the state of the moment in it.
func (w *window) build() {
	w.tips = xwidget.NewTooltips()
	w.bar = newTopBar(w)
	w.panel = newPanel(w)
	w.status = newStatusBar(w)
	strip := w.newStrip()
	w.side = container.NewStack(w.panel.object)
	if !w.panelShown {
		w.side.Hide()
	}
	body := container.NewBorder(w.bar.object, w.status.object, strip, w.side, w.port)
	w.win.SetContent(container.NewStack(body, w.tips.Layer))
	w.refreshAll()
}

// rebuild makes the content of all windows anew.
func (w *window) rebuild() {
	w.build()
	if w.timing != nil {
		w.timing.SetTexts(w.texts)
	}
}

// refreshAll shows the whole state of the moment.
func (w *window) refreshAll() {
	w.refreshTitle()
	w.refreshMenu()
	w.refreshTools()
	w.refreshView()
	w.refreshBusy()
	w.refreshRegion()
	w.showParams()
	w.refreshResult()
	w.refreshColours()
	w.refreshCompare()
	w.refreshMask()
	w.refreshDevice()
}

// refreshTitle names the picture, with a mark where the mask or the corrected picture is not saved.
func (w *window) refreshTitle() {
	title := programName
	if w.doc != nil {
		title = baseName(w.doc.Path()) + " – " + programName
		if w.doc.Dirty() || w.doc.PictureDirty() {
			title = "• " + title
		}
	}
	if w.win.Title() != title {
		w.win.SetTitle(title)
	}
}

// dialogOpen says whether a dialog or a menu lies over the content, which then gets no keys.
func (w *window) dialogOpen() bool { return w.win.Canvas().Overlays().Top() != nil }

func (w *window) setLanguage(code string) {
	words, err := texts.New(code)
	if err != nil {
		w.showError(err)
		return
	}
	if err := lang.AddTranslationsForLocale(words.Source(), lang.SystemLocale()); err != nil {
		w.showError(err)
		return
	}
	w.texts = words
	w.settings.Language = code
	w.rebuild()
}

func (w *window) setAppearance(look appearance) {
	w.appearance = look
	w.app.Preferences().SetString(preferenceAppearance, string(look))
	w.app.Settings().SetTheme(newTheme(look))
	w.rebuild()
}

func (w *window) togglePanel() {
	w.panelShown = !w.panelShown
	if w.panelShown {
		w.side.Show()
	} else {
		w.side.Hide()
	}
	w.win.Content().Refresh()
	w.refreshMenu()
}

// focusLost ends what would wait for a release that goes to another window.
func (w *window) focusLost() {
	w.port.SetPanKey(false)
	w.port.End()
	w.holdKey(0)
	w.holdButton(false)
	w.tips.Hide()
}

// quit closes the window after the work is safe.
func (w *window) quit() { w.guard(w.close) }

// close closes the window at once.
func (w *window) close() {
	// A frame on its way would be told of after the toolkit's goroutine has ended.
	w.port.OnFrame = nil
	size := w.win.Canvas().Size()
	w.settings.WindowWidth, w.settings.WindowHeight = math.Round(float64(size.Width)), math.Round(float64(size.Height))
	w.saveSettings()
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := w.jobs.Close(ctx); err != nil {
		fyne.LogError("work did not end in time", err)
	}
	if err := w.slot.Close(ctx); err != nil {
		fyne.LogError("the device was not given back in time", err)
	}
	w.win.SetCloseIntercept(nil)
	w.win.Close()
	w.app.Quit()
}

func (w *window) saveSettings() {
	if w.path == "" {
		return
	}
	if err := w.settings.Save(w.path); err != nil {
		fyne.LogError("settings not saved", err)
	}
}
