package processing_test

import (
	"context"
	"math"
	"reflect"
	"testing"

	"blik/processing"
	"blik/processing/cpu"
)

// bySteps hides that a backend is frugal, so that detection goes step by step.
type bySteps struct{ processing.Backend }

func TestFrugalAgrees(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{411, 307}, {1, 1}, {1, 90}, {120, 1}} {
		pic, p := glaring(t, size[0], size[1], 8, 7), processing.DefaultParams()
		be := cpu.New()
		want, _ := classic(t, be, pic, p)
		got, err := processing.DetectClassic(t.Context(), bySteps{be}, pic, p, processing.ClassicOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d × %d: by steps there are other components", size[0], size[1])
		}
		if size[0]*size[1] > 1000 && len(want.Spans) == 0 {
			t.Error("nothing found: the test shows nothing")
		}
		be.Close()
	}
}

// TestManualRules: each rule drops what it is meant to drop, and nothing else.
func TestManualRules(t *testing.T) {
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
		{"line residue: the stroke goes", func(p *processing.Params) { p.MinLine = 30 }, 3},
		{"elongation: the stroke goes", func(p *processing.Params) { p.MaxElongation = 10 }, 3},
		{"colour: the red spot goes", func(p *processing.Params) { p.ColourGate = true }, 3},
		{"top-hat: the weak spot goes", func(p *processing.Params) { p.MinTopHat = 150 }, 3},
		{"guard ring: all stand out", func(p *processing.Params) { p.MinZ = 1 }, 4},
		{"smallest area: only the large disc and the stroke stay", func(p *processing.Params) { p.MinArea = 40 }, 2},
		{"largest area: only the small disc and the red spot stay", func(p *processing.Params) { p.MaxArea = 40 }, 2},
	} {
		if got := count(c.change); got != c.want {
			t.Errorf("%s: %d components, want %d", c.name, got, c.want)
		}
	}
}

// inks returns an RGB picture as CMYK; black is the share of what all three inks have in common that is printed in
// black.
func inks(pic *processing.Picture, black float64, depth int) *processing.Picture {
	out := &processing.Picture{Width: pic.Width, Height: pic.Height, Channels: 4}
	for i := 0; i < len(pic.U8); i += 3 {
		r, g, b := float64(pic.U8[i])/255, float64(pic.U8[i+1])/255, float64(pic.U8[i+2])/255
		k := black * (1 - max(r, g, b))
		for _, v := range []float64{1 - r/(1-k), 1 - g/(1-k), 1 - b/(1-k), k} {
			if depth == 8 {
				out.U8 = append(out.U8, uint8(math.Round(v*255)))
			} else {
				out.U16 = append(out.U16, uint16(math.Round(v*65535)))
			}
		}
	}
	return out
}

// TestColourGateOnInks: the gate decides on CMYK as it does on RGB.
func TestColourGateOnInks(t *testing.T) {
	t.Parallel()
	white, red := [3]uint8{250, 250, 250}, [3]uint8{250, 120, 120}
	pic := spots(160, 120, white, [3]int{30, 30, 4}, [3]int{90, 40, 4}, [3]int{40, 90, 4})
	warm := spots(160, 120, red, [3]int{120, 90, 4})
	for i, v := range warm.U8 {
		if v != 70 {
			pic.U8[i] = v
		}
	}
	p := processing.DefaultParams()
	p.Mode, p.ColourGate, p.Contrast, p.Level = processing.Manual, true, 15, 100
	_, want := classic(t, cpu.New(), pic, p)
	p.ColourGate = false
	if _, all := classic(t, cpu.New(), pic, p); len(all) <= len(want) {
		t.Fatalf("the gate lets all %d of %d components through", len(want), len(all))
	}
	p.ColourGate = true
	floats := &processing.Picture{Width: pic.Width, Height: pic.Height, Channels: 4}
	for _, v := range inks(pic, 0.5, 16).U16 {
		floats.F32 = append(floats.F32, float32(v)/65535)
	}
	for name, cmyk := range map[string]*processing.Picture{"8 bits": inks(pic, 0, 8), "16 bits": inks(pic, 0.5, 16),
		"floats": floats} {
		if _, got := classic(t, cpu.New(), cmyk, p); len(got) != len(want) {
			t.Errorf("%s: %d components in CMYK, %d in RGB", name, len(got), len(want))
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
	cancels(t, 10*w*h/1024, func(ctx context.Context) error {
		_, err := processing.DetectClassic(ctx, be, pic, processing.DefaultParams(), processing.ClassicOptions{})
		if planes, size := be.Live(); planes != 0 {
			t.Errorf("%d planes of %d bytes left after a cancel", planes, size)
		}
		return err
	})
}
