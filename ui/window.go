package ui

import (
	"context"
	"image"
	"math"
	"path/filepath"
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
	"blik/ui/arrange"
	"blik/ui/batches"
	"blik/ui/client"
	"blik/ui/files"
	"blik/ui/look"
	"blik/ui/prompt"
	"blik/ui/shader"
	"blik/ui/viewport"
	"blik/ui/words"
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
	dialogs prompt.Dialogs
	// queue starts the queue of a batch on this computer.
	queue batch.Host
	// adapt changes the request of a batch; nil outside tests.
	adapt func(*batch.Request)
	crash *crash.Guard
	// timing makes the timing view; nil in a build without one.
	timing func(Host, *i18n.Printer) TimingView
	// card draws the picture; nil leaves that to the processor.
	card *shader.Card
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
	c *common
	k *kit

	config    config
	layers    *layers
	app       fyne.App
	win       fyne.Window
	files     *files.Files
	menu      *mainMenu
	board     *keyboard
	batches   *batches.Dialogs
	clipboard *clipboard
	recovery  *recovery
	teaching  *teaching
	pages     *pages
	// timing is the timing view; nil before it is first shown.
	timing TimingView

	// The parts of the content are remade when the language changes.
	bar         *toolbar
	strip       *strip
	film        filmPart
	aids        *viewAids
	panel       *panel
	status      *statusBar
	comparison  *comparison
	welcome     startPage
	placeholder *placeholder
	side        *fyne.Container
	// middle holds the picture between the comparison and the filmstrip.
	middle     *fyne.Container
	panelShown bool
	parts      []part
	// client shows the result on a second screen. observed reports to the observer, if there is one.
	client   clientPart
	observed *observed
}

// programName is the same in every language.
const programName = "Blik"

// closeGrace is how long a closing window waits for cancelled work to end.
const closeGrace = 2 * time.Second

func newWindow(a fyne.App, c config) *window {
	if c.later == nil {
		c.later = c.session.Dispatch
	}
	w := &window{config: c, app: a, win: a.NewWindow(programName), panelShown: true}
	w.win.SetPadded(false)
	w.c = newCommon(w, c)
	w.k = w.c.k
	w.k.display = newDisplay(w.c.session, w.c.found.Selected, w.c.analysis.ComparedView, c.card, w.update)
	w.k.win = w.win
	modals := xwidget.NewModals(w.win)
	w.k.prompts = prompt.New(modals, prompt.Options{
		Window: w.win, Texts: w.k.current, Keys: w.k.keyboard, Say: w.k.message,
	})
	w.pages = &pages{w.k, c.version}
	w.k.toolbox = newToolbox(w.c)
	w.k.display.each(func(v *viewport.Viewport) { v.OnBrush = w.k.toolbox.scaleBrush })
	w.files = files.New(files.Options{
		Session: w.c.session, Found: w.c.found, Preview: w.c.preview, Frames: w.c.frames, Store: w.c.store,
		Analysis: w.c.analysis, Prompts: w.k.prompts, Dialogs: c.dialogs(w.k.prompts, w.win, modals),
		Texts: w.k.current, Words: func() *words.Words { return w.k.words },
		Presets: w.presetFolder, PresetsChanged: func() { w.update(change{Presets: true}) },
		Say: w.k.message, Blocked: w.dialogOpen, ShowMask: w.k.display.showMask, EndDrawing: w.k.display.end,
		Wait:        w.k.waiting(w.c.session),
		SaveMaskKey: func() string { return w.k.press(fileSaveMask) },
	})
	w.batches = batches.New(batches.Options{
		Window: w.win, Prompts: w.k.prompts, Texts: w.k.current, Keys: w.k.keyboard, Session: w.c.session,
		Frames: w.c.frames, Version: c.version, Queue: c.queue, Say: w.k.message, Open: w.files.Open, Adapt: c.adapt,
	})
	w.clipboard = &clipboard{k: w.k, app: a, session: w.c.session, found: w.c.found,
		status: func() *statusBar { return w.status }}
	w.recovery = &recovery{k: w.k, session: w.c.session, store: w.c.store, files: w.files}
	w.teaching = &teaching{k: w.k, learner: w.c.learner, preview: w.c.preview, treatment: w.c.treatment, files: w.files}
	w.k.actions = &actions{blocked: w.dialogOpen, started: func() { w.k.tips.Hide() }, later: w.c.preview.AfterPreview,
		reading: func() bool { return w.c.store.Placeholder() != nil }, queue: w.queueAction,
		working: func() bool { return w.c.session.Busy() && !w.c.preview.Previewing() },
		refuse:  w.k.refuse(w.c.session)}
	w.layers = &layers{k: w.k, session: w.c.session, preview: w.c.preview, analysis: w.c.analysis}
	w.client = clientPart{client.New(a, w.c.session, w.k.display.port, c.card, func() {
		w.k.changed(change{View: true})
	})}
	if c.card != nil {
		c.card.Failed = func() {
			c.later(func() {
				w.k.display.each((*viewport.Viewport).Redraw)
				w.client.Redraw()
				w.k.say(w.k.t("The graphics card is out of memory; the processor draws the picture from now on"))
			})
		}
	}
	w.makeActions()
	w.board = &keyboard{w: w}
	w.k.keys = w.board
	w.k.display.each(func(v *viewport.Viewport) { v.SetKeys(w.k.keys, w.sayKeys) })
	w.board.use(w.c.session.Settings().Keys)
	w.menu = &mainMenu{w: w}
	a.Settings().SetTheme(look.NewTheme(w.appearance()))
	w.build()
	w.c.session.Subscribe(func(c session.Change) { w.update(change{Change: c}) })
	observe(w, c.observer)

	size := fyne.NewSize(float32(w.c.session.Settings().WindowWidth), float32(w.c.session.Settings().WindowHeight))
	if size.Width < 600 || size.Height < 400 {
		size = fyne.NewSize(1280, 800)
	}
	w.win.Resize(size)
	w.win.SetCloseIntercept(w.quit)
	w.win.SetOnDropped(w.files.Dropped)
	w.board.listen(w.win.Canvas())
	return w
}

// newCommon makes the session with its parts for a window, whose display need not exist yet.
func newCommon(w *window, o config) *common {
	on := o.session
	on.Panicked = func(p *job.PanicError) { o.crash.Record(p.Value, p.Stack) }
	on.Settle = func() { w.k.display.end() }
	on.Hold = w.dialogOpen
	s := session.New(on)
	c := &common{k: &kit{texts: o.texts, words: words.New(o.texts), changed: w.update}, session: s}
	o.store.Thumbnailed = func() []string { return c.frames.Paths() }
	c.store = store.New(s, o.store)
	c.frames = film.New(s, film.Options{
		Store: c.store, Files: o.store.Files, Engine: o.engine, Thumbnails: o.store.Thumbnails, Version: o.version,
	})
	c.editor, c.found, c.learner = editor.New(s), findings.New(s), findings.NewLearner(s, o.engine)
	c.glare = glare.New(s, o.engine)
	c.preview = preview.New(s, c.glare, o.engine, preview.Options{
		Visible:  func() image.Rectangle { return w.k.display.port.Shown() },
		Announce: func(o glare.Outcome, err error) { c.treatment.previewed(o, err) },
	})
	c.analysis = analysis.New(s, o.engine, o.store.Files)
	c.devices = devices.New(s, o.device, o.machine)
	c.review = &review{k: c.k, session: s, found: c.found, tab: w.showFindings}
	c.treatment = &treatment{
		k: c.k, session: s, found: c.found, glare: c.glare, devices: c.devices,
		tab: func() { w.config.later(w.panel.showCorrection) }, check: func() { c.review.check() },
	}
	return c
}

// build makes the content in the window's language and shows the current state. The tab of the panel stays in front.
func (w *window) build() {
	tab := 0
	if w.panel != nil {
		tab = w.panel.tabs.SelectedIndex()
	}
	w.k.tips = xwidget.NewTooltips()
	w.status = newStatusBar(w.c)
	w.status.panelHidden = !w.panelShown
	w.bar = newToolbar(w.c)
	w.panel = newPanel(w.c, w.config.later)
	w.panel.tabs.SelectIndex(tab)
	w.strip = newStrip(w.c)
	w.comparison = newComparison(w.c)
	w.welcome = newStartPage(w.c, w.files.Open)
	w.placeholder = newPlaceholder(w.c, w.config.session.Dispatch)
	w.film = newFilmPart(w.c, w.files.OpenFrame)
	w.aids = newViewAids(w.c, w.layers)
	w.k.display.onHover = func(at processing.Point, inside bool) {
		w.status.hovered(at, inside)
		w.aids.hovered(at, inside)
	}
	w.side = container.NewStack(w.panel.object)
	w.parts = []part{w.k.display, w.k.toolbox, w.strip, w.bar, w.panel, w.film, w.comparison, w.aids,
		w.welcome, w.placeholder, w.status, w.menu, w.client}
	if w.observed != nil {
		w.parts = append(w.parts, w.observed)
	}
	w.middle = container.NewBorder(w.comparison.object, w.film.Object, nil, nil,
		container.NewStack(w.aids.object, w.welcome.Object, w.placeholder.object))
	body := container.New(arrange.Body{}, w.bar.object, w.strip.object, w.middle, w.side, w.status.object)
	w.win.SetContent(container.NewStack(body, w.k.tips.Layer))
	w.update(everything())
	w.client.SetTitle(w.k.clientTitle())
	if w.timing != nil {
		w.timing.SetTexts(w.k.texts)
	}
}

// update updates all parts after a change.
func (w *window) update(c change) {
	if c.Change != (session.Change{}) && !c.Remade && w.k.display.follow(c) {
		c.View = true
	}
	around := [2]bool{w.comparison.object.Visible(), w.film.Object.Visible()}
	for _, p := range w.parts {
		p.update(c)
	}
	if around != [2]bool{w.comparison.object.Visible(), w.film.Object.Visible()} {
		// Fyne does not give the room of what is hidden to the picture.
		w.middle.Layout.Layout(w.middle.Objects, w.middle.Size())
	}
	if c.Document || c.Corrections {
		if v := w.k.display.under(); v.Hovering() {
			v.Hovered()
		}
	}
	if c.Document || c.Saved {
		w.showTitle()
	}
	if c.Layout {
		xwidget.SetVisible(w.side, w.panelShown)
		w.win.Content().Refresh()
	}
	if c.Fault != nil {
		w.k.prompts.ShowError("Autosave failed", c.Fault)
	}
}

// showTitle shows the name of the picture, with a mark if the mask or the corrected picture is not saved.
func (w *window) showTitle() {
	title := programName
	if doc := w.c.session.Document(); doc != nil {
		title = filepath.Base(doc.Path()) + " – " + programName
		if mask, picture := w.c.store.Unsaved(); mask || picture {
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
		w.k.prompts.ShowError("Could not change the language", err)
		return
	}
	w.k.texts, w.k.words = tr, words.New(tr)
	w.c.session.Settings().Language = code
	w.build()
}

func (w *window) appearance() look.Appearance {
	return look.Appearance(w.c.session.Settings().Appearance)
}

func (w *window) setAppearance(chosen look.Appearance) {
	w.c.session.Settings().Appearance = string(chosen)
	w.app.Settings().SetTheme(look.NewTheme(chosen))
	w.build()
}

func (w *window) togglePanel() {
	w.panelShown = !w.panelShown
	w.status.panelHidden = !w.panelShown
	w.update(change{Layout: true})
}

// focusLost ends everything that waits for a release, which would go to another window.
func (w *window) focusLost() {
	w.k.display.release()
	w.k.tips.Hide()
}

// quit closes the window once the work is saved or discarded.
func (w *window) quit() {
	w.files.Guard(func() {
		w.c.store.Forget()
		w.close()
	})
}

// close closes the window immediately.
func (w *window) close() {
	// A frame in progress would be reported after the toolkit's goroutine has ended.
	w.k.display.port.OnFrame, w.placeholder.port.OnFrame = nil, nil
	w.k.display.stopBlinking()
	size := w.win.Canvas().Size()
	s := w.c.session.Settings()
	s.WindowWidth, s.WindowHeight = math.Round(float64(size.Width)), math.Round(float64(size.Height))
	saveSettings(w.c.session)
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := w.c.session.Close(ctx); err != nil {
		fyne.LogError("work did not end in time", err)
	}
	w.win.SetCloseIntercept(nil)
	w.win.Close()
	w.app.Quit()
	if w.config.exit != nil {
		time.AfterFunc(closeGrace, w.config.exit)
	}
}
