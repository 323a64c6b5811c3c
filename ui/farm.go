package ui

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
	"blik/app/work"
	"blik/ui/xwidget"
)

// farmDialogs run the pictures of the filmstrip through the queue, on this computer or on a farm. The batch goes on
// while its dialog is closed. If the program ends, for whatever reason, the same request continues the batch.
type farmDialogs struct {
	w *window
	// adapt changes the request; nil outside tests.
	adapt func(*batch.Request)
	run   *batch.Run
	state batch.State
	shown *farmProgress
}

// farmAddress returns the default address: a farm on this computer, unless the environment names another.
func farmAddress() string {
	if text := os.Getenv("BLIK_FARM_JOIN"); text != "" {
		return text
	}
	return "nats://127.0.0.1:4222"
}

// open asks for a batch, or shows the running one.
func (f *farmDialogs) open() {
	if f.run != nil && !f.state.Ended {
		f.showProgress()
		return
	}
	frames := f.w.c.frames.Frames()
	here, there := f.w.k.t("This computer"), f.w.k.t("A farm")
	folder, address := widget.NewEntry(), widget.NewPasswordEntry()
	folder.SetText(cmp.Or(f.w.c.session.Settings().OutputFolder, filepath.Join(filepath.Dir(frames[0].Path), "blik")))
	address.SetText(farmAddress())
	shared := xwidget.NewCheck(f.w.k.t("Workers see these folders at the same paths"), f.w.k.keys, nil)
	where := xwidget.NewRadio([]string{here, there}, f.w.k.keys, func(chosen string) {
		xwidget.SetVisible(address, chosen == there)
		xwidget.SetVisible(shared, chosen == there)
	})
	address.Hide()
	shared.Hide()
	correct, search := f.w.k.t("Find and correct"), f.w.k.t("Find only")
	task := xwidget.NewRadio([]string{correct, search}, f.w.k.keys, nil)
	form := container.New(layout.NewFormLayout(),
		xwidget.NewHeading(f.w.k.t("Task")), task,
		xwidget.NewHeading(f.w.k.t("Run on")), where,
		widget.NewLabel(""), address,
		widget.NewLabel(""), shared,
		xwidget.NewHeading(f.w.k.t("Save results to")), folder)
	note := xwidget.NewWrapped(f.w.k.texts.Plural(len(frames),
		"%s picture will be processed with the current parameters. Processing resumes after a crash or a power cut.",
		"%s pictures will be processed with the current parameters. Processing resumes after a crash or a power cut.",
		f.w.k.texts.Int(len(frames))))
	d := dialog.NewCustomWithoutButtons(f.w.k.t("Batch"), container.NewBorder(nil, note, nil, nil, form), f.w.win)
	start := func() {
		d.Hide()
		r := batch.Request{
			Work: work.Default(), Own: true, AnyName: true, Folder: folder.Text, Language: f.w.k.texts.Code(),
			Version: f.w.config.version, Shared: shared.Checked, Host: f.w.config.queue,
		}
		r.Detect, r.Params = task.Selected == search, f.w.c.session.Settings().Params
		for _, frame := range frames {
			r.Files = append(r.Files, batch.File{Path: frame.Path})
		}
		if where.Selected == there {
			r.Farm = address.Text
		}
		f.start(r)
	}
	button := xwidget.NewButton(f.w.k.t("Start"), f.w.k.keys, start)
	button.Importance = widget.HighImportance
	d.SetButtons([]fyne.CanvasObject{xwidget.NewButton(f.w.k.prompts.NoText(), f.w.k.keys, d.Hide), button})
	f.w.k.prompts.Show(d, 620, 460, start)
}

// start begins a batch and shows it.
func (f *farmDialogs) start(r batch.Request) {
	if f.adapt != nil {
		f.adapt(&r)
	}
	dispatch := f.w.config.session.Dispatch
	f.state = batch.State{Files: len(r.Files)}
	f.run = batch.Start(context.Background(), r, func(s batch.State) {
		dispatch(func() {
			f.state = s
			f.shown.update(s)
			if s.Ended {
				f.w.k.say(f.stateText(s))
			}
		})
	})
	f.showProgress()
}

// farmProgress is the dialog of a running batch.
type farmProgress struct {
	farm     *farmDialogs
	bar      *widget.ProgressBar
	text     *widget.Label
	failures *widget.Label
	results  *xwidget.Select
	cancel   *xwidget.Button
}

func (f *farmDialogs) showProgress() {
	p := &farmProgress{
		farm: f, bar: widget.NewProgressBar(), text: xwidget.NewWrapped(""), failures: xwidget.NewWrapped(""),
	}
	p.failures.Selectable = true
	var d *dialog.CustomDialog
	p.results = xwidget.NewSelect(nil, f.w.k.keys, func(string) {
		if i := p.results.SelectedIndex(); i >= 0 && i < len(f.state.Results) {
			d.Hide()
			f.w.files.open(f.state.Results[i])
		}
	})
	p.results.PlaceHolder = f.w.k.t("Open a result…")
	p.cancel = xwidget.NewButton(f.w.k.t("Cancel the batch"), f.w.k.keys, f.run.Cancel)
	top := container.NewVBox(p.bar, p.text, p.results)
	content := container.NewBorder(top, nil, nil, nil, container.NewVScroll(p.failures))
	d = dialog.NewCustomWithoutButtons(f.w.k.t("Batch"), content, f.w.win)
	d.SetButtons([]fyne.CanvasObject{p.cancel, xwidget.NewButton(f.w.k.t("Close"), f.w.k.keys, d.Hide)})
	f.shown = p
	p.update(f.state)
	f.w.k.prompts.Show(d, 620, 420, nil)
}

// update shows a state, if the dialog has been shown.
func (p *farmProgress) update(s batch.State) {
	if p == nil {
		return
	}
	p.bar.SetValue(float64(s.Done+s.Failed) / float64(max(1, s.Files)))
	p.text.SetText(p.farm.stateText(s))
	if len(p.results.Options) != len(s.Results) {
		names := make([]string, len(s.Results))
		for i, path := range s.Results {
			names[i] = baseName(path)
		}
		p.results.SetOptions(names)
	}
	xwidget.SetVisible(p.results, len(s.Results) > 0)
	var lines []string
	for _, x := range s.Failures {
		lines = append(lines, baseName(x.File)+": "+x.Reason)
	}
	p.failures.SetText(strings.Join(lines, "\n"))
	if s.Ended {
		p.cancel.Disable()
	}
}

// stateText describes the progress of a batch.
func (f *farmDialogs) stateText(s batch.State) string {
	text := f.w.k.t("Batch: %s of %s done, %s failed", f.w.k.texts.Int(s.Done), f.w.k.texts.Int(s.Files),
		f.w.k.texts.Int(s.Failed))
	switch {
	case s.Ended && s.Err != nil:
		text += "\n" + f.w.k.prompts.ErrorText(s.Err)
	case !s.Ended && s.Remark != nil:
		text += "\n" + f.w.k.prompts.ErrorText(s.Remark)
	case !s.Ended && s.Left >= 1:
		text += ", " + f.w.k.t("%s left", (time.Duration(s.Left)*time.Second).String())
	}
	return text
}
