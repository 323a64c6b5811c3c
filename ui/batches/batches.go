// Package batches runs the pictures of the filmstrip as a batch, on this computer or on a farm.
package batches

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/app/batch"
	"blik/app/i18n"
	"blik/app/session"
	"blik/app/session/film"
	"blik/app/work"
	"blik/internal/message"
	"blik/ui/prompt"
	"blik/ui/words"
	"blik/ui/xwidget"
)

// Options are what the dialogs of a batch need. Texts and Keys return what is current.
type Options struct {
	Window  fyne.Window
	Prompts *prompt.Prompts
	Texts   func() *i18n.Printer
	Keys    func() xwidget.Keys
	Session *session.Session
	Frames  *film.Film
	Version string
	// Queue starts the queue on this computer.
	Queue batch.Host
	// Say shows a passing message, Open opens a picture.
	Say  func(text string)
	Open func(path string)
	// Adapt changes the request; nil outside tests.
	Adapt func(*batch.Request)
}

// Dialogs run the pictures of the filmstrip through the queue, on this computer or on a farm. The batch goes on while
// its dialog is closed. If the program ends, for whatever reason, the same request continues the batch.
type Dialogs struct {
	o     Options
	run   *batch.Run
	state batch.State
	shown *progress
}

// New returns the dialogs, of which none is shown.
func New(o Options) *Dialogs { return &Dialogs{o: o} }

// State returns what has become of the batch.
func (f *Dialogs) State() batch.State { return f.state }

func (f *Dialogs) t(format message.Text, args ...any) string {
	return f.o.Texts().Sprintf(format, args...)
}

// farmAddress returns the default address: a farm on this computer, unless the environment names another.
func farmAddress() string {
	if text := os.Getenv("BLIK_FARM_JOIN"); text != "" {
		return text
	}
	return "nats://127.0.0.1:4222"
}

// Open asks for a batch, or shows the running one.
func (f *Dialogs) Open() {
	if f.run != nil && !f.state.Ended {
		f.showProgress()
		return
	}
	frames := f.o.Frames.Frames()
	here, there := f.t("This computer"), f.t("A farm")
	folder, address := widget.NewEntry(), widget.NewPasswordEntry()
	folder.SetText(cmp.Or(f.o.Session.Settings().OutputFolder, filepath.Join(filepath.Dir(frames[0].Path), "blik")))
	address.SetText(farmAddress())
	shared := xwidget.NewCheck(f.t("Workers see these folders at the same paths"), f.o.Keys(), nil)
	where := xwidget.NewRadio([]string{here, there}, f.o.Keys(), func(chosen string) {
		xwidget.SetVisible(address, chosen == there)
		xwidget.SetVisible(shared, chosen == there)
	})
	address.Hide()
	shared.Hide()
	correct, search := f.t("Find and correct"), f.t("Find only")
	task := xwidget.NewRadio([]string{correct, search}, f.o.Keys(), nil)
	form := container.New(layout.NewFormLayout(),
		xwidget.NewHeading(f.t("Task")), task,
		xwidget.NewHeading(f.t("Run on")), where,
		widget.NewLabel(""), address,
		widget.NewLabel(""), shared,
		xwidget.NewHeading(f.t("Save results to")), folder)
	note := xwidget.NewWrapped(f.o.Texts().Plural(len(frames),
		"%s picture will be processed with the current parameters. Processing resumes after a crash or a power cut.",
		"%s pictures will be processed with the current parameters. Processing resumes after a crash or a power cut.",
		f.o.Texts().Int(len(frames))))
	d := dialog.NewCustomWithoutButtons(f.t("Batch"), container.NewBorder(nil, note, nil, nil, form), f.o.Window)
	start := func() {
		d.Hide()
		r := batch.Request{
			Work: work.Default(), Own: true, AnyName: true, Folder: folder.Text, Language: f.o.Texts().Code(),
			Version: f.o.Version, Shared: shared.Checked, Host: f.o.Queue,
		}
		r.Detect, r.Params = task.Selected == search, f.o.Session.Settings().Params
		for _, frame := range frames {
			r.Files = append(r.Files, batch.File{Path: frame.Path})
		}
		if where.Selected == there {
			r.Farm = address.Text
		}
		f.Start(r)
	}
	button := xwidget.NewButton(f.t("Start"), f.o.Keys(), start)
	button.Importance = widget.HighImportance
	d.SetButtons([]fyne.CanvasObject{xwidget.NewButton(f.o.Prompts.NoText(), f.o.Keys(), d.Hide), button})
	f.o.Prompts.Show(d, 620, 460, start)
}

// Start begins a batch and shows it.
func (f *Dialogs) Start(r batch.Request) {
	if f.o.Adapt != nil {
		f.o.Adapt(&r)
	}
	dispatch := f.o.Session.Dispatch
	f.state = batch.State{Files: len(r.Files)}
	f.run = batch.Start(context.Background(), r, func(s batch.State) {
		dispatch(func() {
			f.state = s
			f.shown.update(s)
			if s.Ended {
				f.o.Say(f.stateText(s))
			}
		})
	})
	f.showProgress()
}

// progress is the dialog of a running batch.
type progress struct {
	farm     *Dialogs
	bar      *widget.ProgressBar
	text     *widget.Label
	failures *widget.Label
	results  *xwidget.Select
	cancel   *xwidget.Button
}

func (f *Dialogs) showProgress() {
	p := &progress{
		farm: f, bar: widget.NewProgressBar(), text: xwidget.NewWrapped(""), failures: xwidget.NewWrapped(""),
	}
	p.failures.Selectable = true
	var d *dialog.CustomDialog
	p.results = xwidget.NewSelect(nil, f.o.Keys(), func(string) {
		if i := p.results.SelectedIndex(); i >= 0 && i < len(f.state.Results) {
			d.Hide()
			f.o.Open(f.state.Results[i])
		}
	})
	p.results.PlaceHolder = f.t("Open a result…")
	p.cancel = xwidget.NewButton(f.t("Cancel the batch"), f.o.Keys(), f.run.Cancel)
	top := container.NewVBox(p.bar, p.text, p.results)
	content := container.NewBorder(top, nil, nil, nil, container.NewVScroll(p.failures))
	d = dialog.NewCustomWithoutButtons(f.t("Batch"), content, f.o.Window)
	d.SetButtons([]fyne.CanvasObject{p.cancel, xwidget.NewButton(f.t("Close"), f.o.Keys(), d.Hide)})
	f.shown = p
	p.update(f.state)
	f.o.Prompts.Show(d, 620, 420, nil)
}

// update shows a state, if the dialog has been shown.
func (p *progress) update(s batch.State) {
	if p == nil {
		return
	}
	p.bar.SetValue(float64(s.Done+s.Failed) / float64(max(1, s.Files)))
	p.text.SetText(p.farm.stateText(s))
	if len(p.results.Options) != len(s.Results) {
		names := make([]string, len(s.Results))
		for i, path := range s.Results {
			names[i] = filepath.Base(path)
		}
		p.results.SetOptions(names)
	}
	xwidget.SetVisible(p.results, len(s.Results) > 0)
	var lines []string
	for _, x := range s.Failures {
		lines = append(lines, filepath.Base(x.File)+": "+x.Reason)
	}
	p.failures.SetText(strings.Join(lines, "\n"))
	if s.Ended {
		p.cancel.Disable()
	}
}

// stateText describes the progress of a batch.
func (f *Dialogs) stateText(s batch.State) string {
	text := f.t("Batch: %s of %s done, %s failed", f.o.Texts().Int(s.Done), f.o.Texts().Int(s.Files),
		f.o.Texts().Int(s.Failed))
	switch {
	case s.Ended && s.Err != nil:
		text += "\n" + f.o.Prompts.ErrorText(s.Err)
	case !s.Ended && s.Remark != nil:
		text += "\n" + f.o.Prompts.ErrorText(s.Remark)
	case !s.Ended && s.Left >= 1:
		text += ", " + f.t("%s left", words.New(f.o.Texts()).Time(time.Duration(s.Left)*time.Second))
	}
	return text
}
