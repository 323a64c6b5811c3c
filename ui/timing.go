package ui

import (
	"context"
	"math"

	"fyne.io/fyne/v2"

	"blik/app/device"
	"blik/internal/message"
	"blik/lab/bench"
	"blik/lab/experiment"
	"blik/lab/synth"
	"blik/processing"
	"blik/ui/filedialog"
	"blik/ui/timing"
	"blik/ui/xwidget"
)

// showTiming shows the timing view. It measures in a job of the session, so that measurements and other work do not
// slow each other down.
func (w *window) showTiming() {
	if w.timing == nil {
		host := timing.Host{
			App: w.app, Version: w.config.version, Session: w.Session, Dispatch: w.config.session.Dispatch,
			Later: w.config.later,
			Files: func(win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs {
				return w.config.dialogs(w.prompts, win, modals)
			},
			Sentence:   w.prompts.errorText,
			Note:       w.config.observer,
			Compare:    bench.Compare,
			Experiment: experiment.Run,
			Providers:  experimentsOnGPU,
			Generate:   paintSample,
		}
		w.timing = timing.New(host, w.texts)
	}
	w.timing.Show()
}

// experimentsOnGPU opens the first GPU for the experiments. missing says why none is available.
func experimentsOnGPU(ctx context.Context) (list []experiment.Provider, release func(), missing *message.Message) {
	p, err := device.Experiments(ctx, deviceAuto)
	if err != nil {
		text := device.Explain(err)
		return nil, func() {}, &text
	}
	return []experiment.Provider{p}, func() { _ = p.Close() }, nil
}

// paintSample renders a 4:3 picture with glare, the same each time.
func paintSample(ctx context.Context, megapixels float64) (*processing.Picture, error) {
	glare, err := synth.Preset("default")
	if err != nil {
		return nil, err
	}
	width := int(math.Round(math.Sqrt(megapixels * 1e6 * 4 / 3)))
	height := int(math.Round(megapixels * 1e6 / float64(width)))
	pic, _, _, err := synth.Generate(ctx, width, height, 8, 1, synth.PaintOptions{}, glare)
	return pic, err
}
