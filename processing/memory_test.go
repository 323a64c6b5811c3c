package processing_test

import (
	"bytes"
	"context"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/testpic"
	"blik/processing"
	"blik/processing/cpu"
)

// same reports whether two results are equal.
func same(a, b *processing.Result) bool {
	return bytes.Equal(a.Mask.Pix, b.Mask.Pix) && reflect.DeepEqual(a.Findings, b.Findings) && a.Params == b.Params &&
		reflect.DeepEqual(a.Chosen, b.Chosen)
}

// Whatever changes between two detections, the second gives the same with and without a memory.
func TestMemoryChangesNoResult(t *testing.T) {
	testpic.NoRace(t)
	pics := []*processing.Picture{glaring(t, 150, 110, 8, 1), glaring(t, 97, 61, 16, 2), spots(1, 1, [3]uint8{9, 9, 9})}
	specs := processing.SpecsOf(processing.StageDetection)
	base := []processing.Params{processing.DefaultParams(), processing.DefaultParams(), processing.DefaultParams()}
	base[1].Mode = processing.Manual
	base[2].Mode, base[2].Detector = processing.Manual, processing.DetectJoined
	served := 0
	rapid.Check(t, func(r *rapid.T) {
		memory := &processing.Memory{}
		pic, p := rapid.SampledFrom(pics).Draw(r, "pic"), rapid.SampledFrom(base).Draw(r, "params")
		detect(t, pic, p, processing.Options{Memory: memory})
		for range rapid.IntRange(1, 3).Draw(r, "steps") {
			was := p
			s := rapid.SampledFrom(specs).Draw(r, "spec")
			steps := int((s.Max - s.Min) / s.Step)
			if err := s.Set(&p, s.Min+s.Step*float64(rapid.IntRange(0, steps).Draw(r, "value"))); err != nil {
				// Odd numbers and the like.
				continue
			}
			if rapid.IntRange(0, 4).Draw(r, "other picture") == 0 {
				pic = rapid.SampledFrom(pics).Draw(r, "pic")
			}
			if memory.Serves(pic, was, p) {
				served++
			}
			var region *processing.Region
			if pic.Width > 50 && rapid.Bool().Draw(r, "region") {
				region = &processing.Region{Shape: processing.RectangleShape,
					Points: []processing.Point{{X: 10, Y: 5}, {X: 60, Y: 50}}}
			}
			got := detect(t, pic, p, processing.Options{Memory: memory, Region: region})
			if want := detect(t, pic, p, processing.Options{Region: region}); !same(got, want) {
				r.Fatalf("after a change of %s: %d findings, without memory %d", s.ID, len(got.Findings),
					len(want.Findings))
			}
		}
	})
	if served == 0 {
		t.Error("the memory never served")
	}
}

// A memory serves only if the candidates stay the same, and then nothing is measured again.
func TestMemoryServes(t *testing.T) {
	pic, memory := glaring(t, 150, 110, 8, 1), &processing.Memory{}
	p := processing.DefaultParams()
	if memory.Serves(pic, p, p) || (*processing.Memory)(nil).Serves(pic, p, p) {
		t.Error("an empty memory serves")
	}
	first := detect(t, pic, p, processing.Options{Memory: memory})
	q := p
	q.Sensitivity, q.Margin, q.Window = -4, 3, 31 // adaptive mode chooses the window itself
	if !memory.Serves(pic, p, q) {
		t.Error("another sensitivity is not served")
	}
	again := detect(t, pic, q, processing.Options{Memory: memory})
	if len(again.Findings) >= len(first.Findings) {
		t.Errorf("%d findings with less sensitivity, %d before", len(again.Findings), len(first.Findings))
	}
	for _, s := range again.Timings {
		if s.Name == "network" || s.Name == "first estimate" {
			t.Errorf("stage %q ran again", s.Name)
		}
	}
	for name, change := range map[string]func(p *processing.Params){
		"detector": func(p *processing.Params) { p.Detector = processing.DetectClassic },
		"mode":     func(p *processing.Params) { p.Mode = processing.Manual },
		"learned":  func(p *processing.Params) { p.Learned = &processing.Learned{} },
	} {
		q := p
		if change(&q); memory.Serves(pic, p, q) {
			t.Errorf("another %s is served", name)
		}
	}
	if memory.Serves(glaring(t, 150, 110, 8, 1), p, p) {
		t.Error("another picture is served")
	}
}

// A memory stays usable after a detection is cancelled.
func TestMemoryOutlivesCancel(t *testing.T) {
	pic, memory := glaring(t, 150, 110, 8, 1), &processing.Memory{}
	be := cpu.New()
	defer be.Close()
	p := processing.DefaultParams()
	want := detect(t, pic, p, processing.Options{})
	for looks := 1; looks < 60; looks += 7 {
		for range 2 {
			if r, err := processing.Detect(cancelledAt(looks), be, pic, p, processing.Options{Memory: memory}); err == nil &&
				!same(r, want) {
				t.Fatalf("cancelled after %d looks it gives %d findings", looks, len(r.Findings))
			}
		}
	}
	got, err := processing.Detect(context.Background(), be, pic, p, processing.Options{Memory: memory})
	if err != nil || !same(got, want) {
		t.Errorf("after cancels: %v", err)
	}
}

// BenchmarkMemory compares a search with one that only has to decide, on 4 megapixels of a painting with glare.
func BenchmarkMemory(b *testing.B) {
	pic := glaring(b, 2400, 1667, 8, 1)
	be := cpu.New()
	defer be.Close()
	run := func(p processing.Params, o processing.Options) {
		if _, err := processing.Detect(b.Context(), be, pic, p, o); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("whole", func(b *testing.B) {
		b.SetBytes(2400 * 1667)
		for b.Loop() {
			run(processing.DefaultParams(), processing.Options{})
		}
	})
	b.Run("decide", func(b *testing.B) {
		b.SetBytes(2400 * 1667)
		memory, p := &processing.Memory{}, processing.DefaultParams()
		run(p, processing.Options{Memory: memory})
		for b.Loop() {
			p.Sensitivity = 0.5 - p.Sensitivity
			run(p, processing.Options{Memory: memory})
		}
	})
}
