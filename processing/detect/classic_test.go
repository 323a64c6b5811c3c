package detect_test

import (
	"blik/internal/test/cancelling"
	"context"
	"image"
	"reflect"
	"testing"

	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// bySteps hides that a backend is frugal, so that detection goes step by step.
type bySteps struct{ processing.Backend }

func TestPlansAgree(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{411, 307}, {1, 1}, {1, 90}, {120, 1}} {
		pic, p := glaring(t, size[0], size[1], 8, 7), processing.DefaultParams()
		be := cpu.New()
		want, _ := classic(t, be, pic, p)
		got, err := detect.DetectClassic(t.Context(), bySteps{be}, pic, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d × %d: by steps there are other components", size[0], size[1])
		}
		o := detect.LayerOptions{Layer: detect.LayerContrast, Rect: image.Rect(0, 0, size[0], size[1])}
		layer := inspect(t, pic, p, o)
		if other, err := detect.Inspect(t.Context(), bySteps{be}, pic, p, o); err != nil || !reflect.DeepEqual(other, layer) {
			t.Errorf("%d × %d: by steps there is another contrast, or %v", size[0], size[1], err)
		}
		if size[0]*size[1] > 1000 && len(want.Spans) == 0 {
			t.Error("nothing found: the test shows nothing")
		}
		be.Close()
	}
}

// TestRules: each rule drops what it is meant to drop, and nothing else.
func TestRules(t *testing.T) {
	t.Parallel()
	white := [3]uint8{255, 255, 255}
	pic := spots(200, 120, white, [3]int{40, 40, 3}, [3]int{100, 40, 5})
	for x := 20; x < 180; x++ { // a thin stroke
		for y := 90; y < 93; y++ {
			copy(pic.U8[3*(y*200+x):], white[:])
		}
	}
	for _, at := range []int{150, 151, 152} { // a saturated red spot
		for y := 38; y < 41; y++ {
			copy(pic.U8[3*(y*200+at):], []uint8{255, 120, 70})
		}
	}
	base := processing.DefaultParams()
	base.Mode, base.Contrast, base.Level, base.MaxElongation = processing.Manual, 5, 50, 100
	count := func(change func(p *processing.Params)) int {
		p := base
		change(&p)
		_, areas := classic(t, cpu.New(), pic, p)
		return len(areas)
	}
	for _, c := range []struct {
		name   string
		change func(p *processing.Params)
		want   int
	}{
		{"no rule", func(*processing.Params) {}, 4},
		{"elongation: the stroke goes", func(p *processing.Params) { p.MaxElongation = 10 }, 3},
		{"smallest area: only the large disc and the stroke stay", func(p *processing.Params) { p.MinArea = 40 }, 2},
		{"largest area: only the small disc and the red spot stay", func(p *processing.Params) { p.MaxArea = 40 }, 2},
	} {
		if got := count(c.change); got != c.want {
			t.Errorf("%s: %d components, want %d", c.name, got, c.want)
		}
	}
}

// The classical detector is cancelled at every stage: it must stop at once and leave nothing behind.
func TestCancelClassic(t *testing.T) {
	t.Parallel()
	w, h := 600, 450
	if testing.Short() {
		w, h = 360, 270
	}
	pic := glaring(t, w, h, 8, 2)
	be := cpu.New(cpu.Workers(2))
	defer be.Close()
	// More than ten passes over the picture, with a check every 1024 pixels: microseconds.
	cancelling.Everywhere(t, 10*w*h/1024, func(ctx context.Context) error {
		_, err := detect.DetectClassic(ctx, be, pic, processing.DefaultParams(), nil)
		if planes, size := be.Live(); planes != 0 {
			t.Errorf("%d planes of %d bytes left after a cancel", planes, size)
		}
		return err
	})
}
