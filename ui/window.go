package ui

import (
	"context"
	"image"
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"blik/app/batch"
	"blik/app/crash"
	"blik/app/device"
	"blik/app/i18n"
	"blik/app/job"
	"blik/app/session"
	"blik/app/session/analysis"
	"blik/app/session/devices"
	"blik/app/session/editor"
	"blik/app/session/film"
	"blik/app/session/findings"
	"blik/app/session/glare"
	"blik/app/session/preview"
	"blik/app/session/store"
	"blik/processing"
	"blik/ui/viewport"
	"blik/ui/xwidget"
)

// config holds the parts from which a window is made.
type config struct {
	texts   *i18n.Printer
	session session.Options
	store   store.Options
	engine  session.Engine
	device  devices.Device
	// machine lists the devices of the machine. It may be slow; it is called on another goroutine.
	machine func() ([]device.Device, error)
	version string
	dialogs dialogMaker
	// queue starts the queue of a batch on this computer.
	queue batch.Host
	crash *crash.Guard
	// timing makes the timing view; nil in a build without one.
	timing func(Host, *i18n.Printer) TimingView
	// later runs a function after the next frame; nil is session.Dispatch.
	later func(func())
	// observer, which may be nil, receives the events of the window.
	observer Observer
	// exit, which may be nil, ends the process if the toolkit does not: the main loop of Fyne 2.7.3 drops calls that
	// are being queued when it ends, and then waits for them.
	exit func()
}

// window is the program's main window. Its parts update themselves from changes; its actions concern more than one
// part. It is used on the toolkit's goroutine only.
type window struct {
	*common
	config config
	layers *layers
	app    fyne.App
	win    fyne.Window
	files  *files
	menu   *mainMenu
	board  *keyboard
	farm   *farmDialogs
	// timing is the timing view; nil before it is first shown.
	timing TimingView

	// The parts of the content are remade when the language changes.
	bar         *toolbar
	strip       *strip
	film        *filmstrip
	aids        *viewAids
	panel       *panel
	status      *statusBar
	comparison  *comparison
	welcome     *startPage
	placeholder *placeholder
	side        *fyne.Container
	// middle holds the picture between the comparison and the filmstrip.
	middle     *fyne.Container
	panelShown bool
	parts      []part
	// observed reports to the observer, if there is one.
	observed *observed
}

// programName is the same in every language.
const programName = "Blik"

// closeGrace is how long a closing window waits for cancelled work to end.
const closeGrace = 2 * time.Second

func newWindow(a fyne.App, c config) (*window, error) {
	if c.later == nil {
		c.later = c.session.Dispatch
	}
	w := &window{config: c, app: a, win: a.NewWindow(programName), panelShown: true}
	w.win.SetPadded(false)
	w.common = newCommon(w, c)
	w.display = newDisplay(w.session, w.found.Selected, w.analysis.ComparedView, w.update)
	w.prompts = &prompts{common: w.common, win: w.win, modals: xwidget.NewModals(w.win), version: c.version}
	w.farm = &farmDialogs{window: w}
	w.toolbox = newToolbox(w.common)
	w.display.each(func(v *viewport.Viewport) { v.OnBrush = w.toolbox.scaleBrush })
	w.files = &files{common: w.common, presets: w.presetFolder(),
		dialogs: c.dialogs(w.prompts, w.win, w.prompts.modals)}
	w.actions = &actions{blocked: w.dialogOpen, started: func() { w.tips.Hide() }, later: w.preview.AfterPreview,
		reading: func() bool { return w.store.Placeholder() != nil }, queue: w.queueAction,
		working: func() bool { return w.session.Busy() && !w.preview.Previewing() }}
	w.layers = &layers{common: w.common}
	w.makeActions()
	w.board = &keyboard{w: w}
	w.keys = w.board
	w.display.each(func(v *viewport.Viewport) { v.SetKeys(w.keys, w.sayKeys) })
	w.board.use(w.session.Settings().Keys)
	w.menu = &mainMenu{window: w}
	a.Settings().SetTheme(newTheme(w.appearance()))
	w.build()
	w.session.Subscribe(func(c session.Change) { w.update(change{Change: c}) })
	observe(w, c.observer)

	size := fyne.NewSize(float32(w.session.Settings().WindowWidth), float32(w.session.Settings().WindowHeight))
	if size.Width < 600 || size.Height < 400 {
		size = fyne.NewSize(1280, 800)
	}
	w.win.Resize(size)
	w.win.SetCloseIntercept(w.quit)
	w.win.SetOnDropped(w.files.dropped)
	w.board.listen(w.win.Canvas())
	return w, nil
}

// newCommon makes the session with its parts for a window, whose display need not exist yet.
func newCommon(w *window, c config) *common {
	o := c.session
	o.Panicked = func(p *job.PanicError) { c.crash.Record(p.Value, p.Stack) }
	o.Settle = func() { w.display.end() }
	o.Hold = w.dialogOpen
	k := &common{session: session.New(o), texts: c.texts, changed: w.update}
	c.store.Thumbnailed = func() []string { return k.frames.Paths() }
	k.store = store.New(k.session, c.store)
	k.frames = film.New(k.session, film.Options{
		Store: k.store, Files: c.store.Files, Engine: c.engine, Thumbnails: c.store.Thumbnails, Version: c.version,
	})
	k.editor, k.found = editor.New(k.session), findings.New(k.session)
	k.learner = findings.NewLearner(k.session, c.engine)
	k.glare = glare.New(k.session, c.engine)
	k.preview = preview.New(k.session, k.glare, c.engine, preview.Options{
		Visible: func() image.Rectangle { return w.display.visible() }, Announce: w.previewed,
	})
	k.analysis = analysis.New(k.session, c.engine, c.store.Files)
	k.devices = devices.New(k.session, c.device, c.machine)
	return k
}

// build makes the content in the window's language and shows the current state.
func (w *window) build() {
	w.tips = xwidget.NewTooltips()
	w.status = newStatusBar(w.common)
	w.status.panelHidden = !w.panelShown
	w.bar = newToolbar(w.common)
	w.panel = newPanel(w.common, w.config.later)
	w.strip = newStrip(w.common)
	w.comparison = newComparison(w.common)
	w.welcome = newStartPage(w.common, w.files.open)
	w.placeholder = newPlaceholder(w.common, w.config.session.Dispatch)
	w.film = newFilmstrip(w.common, w.files.openFrame)
	w.aids = newViewAids(w.common, w.layers)
	w.display.onHover = func(at processing.Point, inside bool) {
		w.status.hovered(at, inside)
		w.aids.hovered(at, inside)
	}
	w.side = container.NewStack(w.panel.object)
	w.parts = []part{w.display, w.toolbox, w.strip, w.bar, w.panel, w.film, w.comparison, w.aids,
		w.welcome, w.placeholder, w.status, w.menu}
	if w.observed != nil {
		w.parts = append(w.parts, w.observed)
	}
	w.middle = container.NewBorder(w.comparison.object, w.film.object, nil, nil,
		container.NewStack(w.aids.object, w.welcome.object, w.placeholder.object))
	body := container.New(bodyLayout{}, w.bar.object, w.strip.object, w.middle, w.side, w.status.object)
	w.win.SetContent(container.NewStack(body, w.tips.Layer))
	w.update(everything())
	if w.timing != nil {
		w.timing.SetTexts(w.texts)
	}
}

// update updates all parts after a change.
func (w *window) update(c change) {
	if c.Change != (session.Change{}) && w.display.follow(c) {
		c.View = true
	}
	around := [2]bool{w.comparison.object.Visible(), w.film.object.Visible()}
	for _, p := range w.parts {
		p.update(c)
	}
	if around != [2]bool{w.comparison.object.Visible(), w.film.object.Visible()} {
		// Fyne does not give the room of what is hidden to the picture.
		w.middle.Layout.Layout(w.middle.Objects, w.middle.Size())
	}
	if c.Document || c.Saved {
		w.showTitle()
	}
	if c.Layout {
		xwidget.SetVisible(w.side, w.panelShown)
		w.win.Content().Refresh()
	}
	if c.Fault != nil {
		w.prompts.showError("Autosave failed", c.Fault)
	}
}

// showTitle shows the name of the picture, with a mark if the mask or the corrected picture is not saved.
func (w *window) showTitle() {
	title := programName
	if doc := w.session.Document(); doc != nil {
		title = baseName(doc.Path()) + " – " + programName
		if mask, picture := w.store.Unsaved(); mask || picture {
			title = "• " + title
		}
	}
	if w.win.Title() != title {
		w.win.SetTitle(title)
	}
}

// dialogOpen reports whether a dialog or menu covers the content, which then gets no keys.
func (w *window) dialogOpen() bool { return w.win.Canvas().Overlays().Top() != nil }

func (w *window) setLanguage(code string) {
	tr := i18n.For(code)
	if err := lang.AddTranslationsForLocale(tr.Toolkit(), lang.SystemLocale()); err != nil {
		w.prompts.showError("Could not change the language", err)
		return
	}
	w.texts = tr
	w.session.Settings().Language = code
	w.build()
}

func (w *window) appearance() appearance { return appearance(w.session.Settings().Appearance) }

func (w *window) setAppearance(look appearance) {
	w.session.Settings().Appearance = string(look)
	w.app.Settings().SetTheme(newTheme(look))
	w.build()
}

func (w *window) togglePanel() {
	w.panelShown = !w.panelShown
	w.status.panelHidden = !w.panelShown
	w.update(change{Layout: true})
}

// focusLost ends everything that waits for a release, which would go to another window.
func (w *window) focusLost() {
	w.display.release()
	w.tips.Hide()
}

// quit closes the window once the work is saved or discarded.
func (w *window) quit() {
	w.files.guard(func() {
		w.store.Forget()
		w.close()
	})
}

// close closes the window immediately.
func (w *window) close() {
	// A frame in progress would be reported after the toolkit's goroutine has ended.
	w.display.port.OnFrame, w.placeholder.port.OnFrame = nil, nil
	size := w.win.Canvas().Size()
	s := w.session.Settings()
	s.WindowWidth, s.WindowHeight = math.Round(float64(size.Width)), math.Round(float64(size.Height))
	if err := w.session.SaveSettings(); err != nil {
		fyne.LogError("settings not saved", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := w.session.Close(ctx); err != nil {
		fyne.LogError("work did not end in time", err)
	}
	w.win.SetCloseIntercept(nil)
	w.win.Close()
	w.app.Quit()
	if w.config.exit != nil {
		time.AfterFunc(closeGrace, w.config.exit)
	}
}
