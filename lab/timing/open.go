package timing

import (
	"context"
	"math"

	"blik/app/device"
	"blik/app/i18n"
	"blik/internal/message"
	"blik/lab/bench"
	"blik/lab/experiment"
	"blik/lab/gpu"
	"blik/lab/synth"
	"blik/processing"
	"blik/ui"
)

// Open makes the view for the program's window.
func Open(h ui.Host, words *i18n.Printer) ui.TimingView {
	return New(Host{
		Host: h, Compare: bench.Compare, Experiment: experiment.Run, Providers: experimentsOnGPU, Generate: paintSample,
	}, words)
}

// experimentsOnGPU opens the first GPU for the experiments. missing says why none is available.
func experimentsOnGPU(ctx context.Context) (list []experiment.Provider, release func(), missing *message.Message) {
	p, err := gpu.Open(ctx, "auto")
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
