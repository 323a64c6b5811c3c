// Package timing is the window for measurements: detection on the CPU and on GPUs, stage by stage, and the experiments
// that the program is based on. The measurements and their presentation come from blik/lab/bench and
// blik/lab/experiment.
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

	"blik/app/i18n"
	"blik/app/job"
	"blik/app/session"
	"blik/internal/message"
	"blik/lab/bench"
	"blik/lab/experiment"
	"blik/processing"
	"blik/ui"
	"blik/ui/filedialog"
	"blik/ui/xwidget"
)

// Picture is the picture open in the program, and its search region.
type Picture struct {
	Name    string
	Picture *processing.Picture
	Region  *processing.Region
}

// Host is what the view needs: the window, and the measurements, which run in jobs.
type Host struct {
	ui.Host

	Compare    func(ctx context.Context, r bench.Request) (*bench.Comparison, error)
	Experiment func(ctx context.Context, e *experiment.Experiment, o experiment.Options) (*experiment.Result, error)
	// Providers opens the devices that measure the GPU variants; release closes them. missing says why there are none.
	Providers func(ctx context.Context) (list []experiment.Provider, release func(), missing *message.Message)
	Generate  func(ctx context.Context, megapixels float64) (*processing.Picture, error)
}

// View is the timing view. It is used on the toolkit's goroutine only.
type View struct {
	Host
	texts  *i18n.Printer
	win    fyne.Window
	modals *xwidget.Modals
	files  filedialog.Dialogs

	// running is set while a measurement of the view is running; turn counts their starts and ends, so that late
	// results are dropped.
	running bool
	turn    int

	// Measurements are kept when the language changes; the parts of the content are made anew.
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

// update shows changes of the program's state.
func (v *View) update(c session.Change) {
	if c.Progress && v.running {
		v.progress.SetValue(v.Session.Progress().Done)
	}
	if c.Document || c.Busy {
		v.Refresh()
	}
}

// picture returns the open picture, or nil.
func (v *View) picture() *Picture {
	doc := v.Session.Document()
	if doc == nil {
		return nil
	}
	return &Picture{Name: doc.Path(), Picture: doc.Picture(), Region: doc.Region()}
}

func (v *View) t(format message.Text, args ...any) string { return v.texts.Sprintf(format, args...) }

// Show shows the view.
func (v *View) Show() {
	v.Refresh()
	v.win.Show()
	v.win.RequestFocus()
	v.note("timing")
}

// close cancels the running measurement and hides the view; finished measurements are kept.
func (v *View) close() {
	v.cancel()
	v.win.Hide()
}

// SetTexts remakes the content for another language or appearance.
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
			// Space for the progress is reserved, so that nothing moves.
			container.NewBorder(nil, nil, xwidget.NewGap(0, v.busy.MinSize().Height), v.busy, v.message)))
	content := container.NewStack(container.NewBorder(nil, foot, nil, nil, v.tabs), v.tips.Layer)
	if v.Note != nil {
		content.Layout = &watched{content.Layout, v}
		v.tabs.OnSelected = func(*container.TabItem) { v.Later(v.notePage) }
	}
	v.win.SetContent(content)
	v.Refresh()
}

// Refresh shows the current state.
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

// start runs work as the program's only job and shows what. ok is false if another job is running. done receives the
// result; after a cancel, the context's error. failed is the title of an error.
func start[T any](v *View, what string, failed message.Text, work job.Work[T], done func(T, error)) (ok bool) {
	if v.Session.Busy() {
		v.say(v.t("Another task is still running; wait for it or cancel it"))
		return false
	}
	v.turn++
	v.running = true
	v.say(what)
	quiet := func(ctx context.Context, report processing.Progress) (T, error) { return work(ctx, throttled(report)) }
	v.Session.Settle()
	session.Begin(v.Session, session.Other, quiet, nil, func(r T, err error) {
		v.running = false
		v.turn++
		switch {
		case errors.Is(err, context.Canceled):
			v.say(v.t("Cancelled"))
		case err != nil:
			v.say("")
			v.showError(failed, err)
		default:
			v.say("")
		}
		done(r, err)
		v.Refresh()
	})
	v.Refresh()
	return true
}

// measureFailed is the title of the error of a measurement.
const measureFailed message.Text = "Could not measure"

// progressInterval is the shortest time between two progress reports, because drawing them slows down what is measured.
const progressInterval = 500 * time.Millisecond

// throttled limits progress reports to one in each progressInterval.
func throttled(report processing.Progress) processing.Progress {
	var mu sync.Mutex
	var last time.Time
	return func(stage message.Message, done float64) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(last) >= progressInterval {
			last = now
			report(stage, done)
		}
	}
}

// showError shows an error below a title that says what did not work.
func (v *View) showError(failed message.Text, err error) {
	d := dialog.NewCustom(v.t(failed), v.t("OK"), xwidget.NewWrapped(v.Sentence(err)), v.win)
	d.Resize(fyne.NewSize(460, 160))
	v.modals.Show(d, nil)
}

// keys handles the keys that no control uses.
type keys struct{ v *View }

func (k keys) Rune(rune) {}

// Key cancels on Escape and starts the measurement of the current page on F5, unless a dialog is open.
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

// folder returns the initial folder for saving: that of the open picture, or empty for the dialog's default.
func (v *View) folder() string {
	if p := v.picture(); p != nil {
		return filepath.Dir(p.Name)
	}
	return ""
}
