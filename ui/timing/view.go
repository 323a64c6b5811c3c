// Package timing is the window that measures: detection on the CPU beside the GPUs, stage by stage, and the experiments
// that the program stands on. What is measured and how it is presented comes from blik/app/bench and
// blik/processing/experiment.
package timing

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/app/bench"
	"blik/app/i18n"
	"blik/app/job"
	"blik/app/session"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/experiment"
	"blik/ui/filedialog"
	"blik/ui/xwidget"
)

// Picture is the one that is open in the program, with what glare is searched for in it.
type Picture struct {
	Name    string
	Picture *processing.Picture
	Region  *processing.Region
}

// Host is what the view needs of the program. Its functions are called on the toolkit's goroutine, but for those that
// take a context, which may take long.
type Host struct {
	App     fyne.App
	Version string
	// Session runs the measurements as its one job, so that nothing else computes meanwhile.
	Session *session.Session
	// Dispatch runs functions on the toolkit's goroutine, in their order.
	Dispatch func(func())
	// Files makes the file dialogs of the view's window.
	Files func(win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs
	// Sentence says an error in the user's language.
	Sentence func(error) string
	// Note writes a line for tests that watch the program; may be nil.
	Note func(format string, args ...any)

	Compare    func(ctx context.Context, r bench.Request) (*bench.Comparison, error)
	Experiment func(ctx context.Context, e *experiment.Experiment, o experiment.Options) (*experiment.Result, error)
	// Providers opens what measures the variants for GPUs; release gives it back. missing says why there is none.
	Providers func(ctx context.Context) (list []experiment.Provider, release func(), missing *message.Message)
	Generate  func(ctx context.Context, megapixels float64) (*processing.Picture, error)
}

// View is the timing view. All of it belongs to the toolkit's goroutine.
type View struct {
	Host
	texts  *i18n.Printer
	win    fyne.Window
	modals *xwidget.Modals
	files  filedialog.Dialogs

	// running says that a measurement of the view's is on its way; turn counts them, so that what comes late is
	// dropped.
	running bool
	turn    int

	// What was measured stays when the language changes, and the parts of the content are made anew.
	compared *compared
	outcomes map[string]*outcome

	tips        *xwidget.Tooltips
	tabs        *container.AppTabs
	detection   *detectionPage
	experiments *experimentsPage
	message     *xwidget.FixedText
	progress    *widget.ProgressBar
	busy        *fyne.Container
}

// New makes the view's window; Show brings it up.
func New(h Host, words *i18n.Printer) *View {
	v := &View{Host: h, texts: words, outcomes: map[string]*outcome{}}
	v.win = h.App.NewWindow("")
	v.win.SetPadded(false)
	v.modals = xwidget.NewModals(v.win)
	v.files = h.Files(v.win, v.modals)
	v.SetTexts(words)
	v.win.Resize(fyne.NewSize(1180, 720))
	v.win.SetCloseIntercept(v.close)
	keys := keys{v}
	c := v.win.Canvas()
	c.SetOnTypedKey(keys.Key)
	for name, by := range map[fyne.KeyName]int{fyne.KeyPageDown: 1, fyne.KeyPageUp: -1} {
		turn := &desktop.CustomShortcut{KeyName: name, Modifier: fyne.KeyModifierShortcutDefault}
		c.AddShortcut(turn, func(fyne.Shortcut) { v.tabs.SelectIndex((v.tabs.SelectedIndex() + by + 2) % 2) })
	}
	leave := &desktop.CustomShortcut{KeyName: fyne.KeyW, Modifier: fyne.KeyModifierShortcutDefault}
	c.AddShortcut(leave, func(fyne.Shortcut) { v.close() })
	h.Session.Subscribe(v.update)
	return v
}

// update shows what changed in the program.
func (v *View) update(c session.Change) {
	if c.Progress && v.running {
		v.progress.SetValue(v.Session.Progress().Done)
	}
	if c.Document || c.Busy {
		v.Refresh()
	}
}

// picture returns the open picture, nil where there is none.
func (v *View) picture() *Picture {
	doc := v.Session.Document()
	if doc == nil {
		return nil
	}
	return &Picture{Name: doc.Path(), Picture: doc.Picture(), Region: doc.Region()}
}

func (v *View) t(format message.Text, args ...any) string { return v.texts.Sprintf(format, args...) }

// Show brings the view up.
func (v *View) Show() {
	v.Refresh()
	v.win.Show()
	v.win.RequestFocus()
	v.note("timing")
}

// close ends what is being measured and puts the view away; what was measured stays for the next time.
func (v *View) close() {
	v.cancel()
	v.win.Hide()
}

// SetTexts makes the content in another language, or in another look.
func (v *View) SetTexts(words *i18n.Printer) {
	page := 0
	if v.tabs != nil {
		page = v.tabs.SelectedIndex()
	}
	v.texts = words
	v.win.SetTitle(v.t("Timing and experiments – Blik"))
	v.tips = xwidget.NewTooltips()
	v.detection, v.experiments = newDetectionPage(v, v.detection), newExperimentsPage(v, v.experiments)
	v.tabs = container.NewAppTabs(
		container.NewTabItem(v.t("Detection"), v.detection.object),
		container.NewTabItem(v.t("Experiments"), v.experiments.object))
	v.tabs.SelectIndex(page)

	v.message = xwidget.NewFixedText("")
	v.message.Stretch, v.message.Tips = true, v.tips
	v.progress = widget.NewProgressBar()
	v.progress.TextFormatter = func() string { return v.texts.Sprint(v.Session.Progress().Stage) }
	v.busy = container.NewHBox(xwidget.NewMinWidth(340, v.progress),
		xwidget.NewButton(v.t("Cancel"), keys{v}, v.cancel))
	foot := container.NewVBox(widget.NewSeparator(),
		container.New(layout.NewCustomPaddedLayout(3, 4, 10, 10),
			// The room of the progress is kept while there is none, so that nothing moves.
			container.NewBorder(nil, nil, xwidget.NewGap(0, v.busy.MinSize().Height), v.busy, v.message)))
	content := container.NewStack(container.NewBorder(nil, foot, nil, nil, v.tabs), v.tips.Layer)
	if v.Note != nil {
		content.Layout = &watched{content.Layout, v}
		v.tabs.OnSelected = func(*container.TabItem) { v.Dispatch(v.notePage) }
	}
	v.win.SetContent(content)
	v.Refresh()
}

// Refresh shows the current state: the open picture, and whether a job runs.
func (v *View) Refresh() {
	v.detection.refresh()
	v.experiments.refresh()
	if v.running {
		v.busy.Show()
	} else {
		v.busy.Hide()
	}
}

// say shows a passing message.
func (v *View) say(text string) { v.message.SetText(text) }

func (v *View) note(format string, args ...any) {
	if v.Note != nil {
		v.Note(format, args...)
	}
}

func (v *View) cancel() {
	if v.running {
		v.Session.Cancel()
	}
}

// start runs work as the program's one job, and says what it is; ok is false where another one runs. done gets what it
// returned, and the context's error after a cancel.
func start[T any](v *View, what string, work job.Work[T], done func(T, error)) (ok bool) {
	if v.Session.Busy() {
		v.say(v.t("Another task is still running; wait for it or cancel it"))
		return false
	}
	v.turn++
	v.running = true
	v.say(what)
	quiet := func(ctx context.Context, report processing.Progress) (T, error) { return work(ctx, seldom(report)) }
	session.Start(v.Session, quiet, func(r T, err error) {
		v.running = false
		v.turn++
		switch {
		case errors.Is(err, context.Canceled):
			v.say(v.t("Cancelled"))
		case err != nil:
			v.say("")
			v.showSentence(v.Sentence(err))
		default:
			v.say("")
		}
		done(r, err)
		v.Refresh()
	})
	v.Refresh()
	return true
}

// rest is the shortest time between two reports of progress: drawing them takes time from what is measured.
const rest = 500 * time.Millisecond

// seldom passes on progress at intervals of rest or longer.
func seldom(report processing.Progress) processing.Progress {
	var mu sync.Mutex
	var last time.Time
	return func(stage message.Message, done float64) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(last) >= rest {
			last = now
			report(stage, done)
		}
	}
}

// showSentence shows what went wrong.
func (v *View) showSentence(sentence string) {
	text := xwidget.NewWrapped(sentence)
	d := dialog.NewCustom(v.t("Something went wrong"), v.t("OK"), text, v.win)
	d.Resize(fyne.NewSize(460, 160))
	v.modals.Show(d, nil)
}

// keys are those of the view while no control has the focus, or has no use for them.
type keys struct{ v *View }

func (k keys) Rune(rune) {}

// Key lets Escape cancel, F5 start what the page in front measures, and both leave dialogs alone.
func (k keys) Key(e *fyne.KeyEvent) {
	if k.v.modals.Key(e.Name) || k.v.win.Canvas().Overlays().Top() != nil {
		return
	}
	switch e.Name {
	case fyne.KeyEscape:
		k.v.cancel()
	case fyne.KeyF5:
		if k.v.tabs.SelectedIndex() == 0 {
			k.v.detection.start()
		} else {
			k.v.experiments.start()
		}
	}
}

func (k keys) Down(*fyne.KeyEvent) {}
func (k keys) Up(*fyne.KeyEvent)   {}

// folder is where measurements are saved at first: beside the open picture, else where the dialog begins.
func (v *View) folder() string {
	if p := v.picture(); p != nil {
		return filepath.Dir(p.Name)
	}
	return ""
}
