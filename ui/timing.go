package ui

import (
	"context"
	"math"

	"fyne.io/fyne/v2"

	"blik/app/bench"
	"blik/app/device"
	"blik/processing"
	"blik/processing/experiment"
	"blik/processing/synth"
	"blik/ui/filedialog"
	"blik/ui/timing"
	"blik/ui/xwidget"
)

// showTiming brings the timing view up. It measures as a job of this window, so that neither spoils the other's time.
func (w *window) showTiming() {
	if w.timing == nil {
		w.timing = timing.New(timing.Host{
			App: w.app, Version: w.version, Jobs: w.jobs, Dispatch: w.dispatch,
			Files: func(win fyne.Window, modals *xwidget.Modals) filedialog.Dialogs { return w.dialogs(w, win, modals) },
			Picture: func() *timing.Picture {
				if w.doc == nil {
					return nil
				}
				return &timing.Picture{Name: w.doc.Path(), Picture: w.doc.Picture(), Region: w.doc.Region()}
			},
			Params:     func() processing.Params { return w.settings.Params },
			Progressed: w.refreshProgress,
			Changed:    w.refreshBusy,
			Sentence:   w.errorText,
			Note:       w.log.line,
			Compare:    bench.Compare,
			Experiment: experiment.Run,
			Providers:  experimentsOnGPU,
			Generate:   paintSample,
		}, w.texts)
	}
	w.timing.Show()
	w.log.line("timing")
}

// experimentsOnGPU opens the first GPU for the experiments. missing says why there is none.
func experimentsOnGPU(ctx context.Context) (list []experiment.Provider, release func(), missing *processing.Text) {
	p, err := device.Experiments(ctx, deviceAuto)
	if err != nil {
		text := device.Explain(err)
		return nil, func() {}, &text
	}
	return []experiment.Provider{p}, func() { _ = p.Close() }, nil
}

// paintSample paints a picture of 4:3 with glare, the same each time.
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
