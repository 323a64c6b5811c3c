package correct_test

import (
	"testing"

	"blik/lab/synth"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// BenchmarkCorrectPainting corrects what the classical search finds on the painting that `blik sample` makes.
func BenchmarkCorrectPainting(b *testing.B) {
	painted, err := synth.Paint(b.Context(), 4993, 3745, 8, synth.PaintOptions{Seed: 1, Noiseless: true})
	if err != nil {
		b.Fatal(err)
	}
	glare, err := synth.Preset("default")
	if err != nil {
		b.Fatal(err)
	}
	glare.Seed = 1
	pic, _, _, err := synth.RenderGlare(b.Context(), painted, glare)
	if err != nil {
		b.Fatal(err)
	}
	p, be := processing.DefaultParams(), cpu.New()
	found, err := detect.DetectClassic(b.Context(), be, pic, p, nil)
	if err != nil {
		b.Fatal(err)
	}
	mask := processing.NewMask(pic.Width, pic.Height)
	if err := detect.CleanUp(b.Context(), be, mask, found.Spans, p, nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c, err := correct.Correct(b.Context(), be, pic, mask, p, correct.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, s := range c.Timings {
			b.ReportMetric(s.Time.Seconds(), s.Name+"-s")
		}
	}
}
