package detect_test

import (
	"bytes"
	"context"
	"testing"

	"blik/lab/synth"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// glaring is a small generated painting with glare.
func glaring(t testing.TB, w, h, depth int, seed uint64) *processing.Picture {
	t.Helper()
	glare, err := synth.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	glare.Density *= 4
	pic, _, _, _, err := generate(w, h, depth, seed, glare)
	if err != nil {
		t.Fatal(err)
	}
	return pic
}

func generate(w, h, depth int, seed uint64, glare synth.GlareOptions) (pic, clean *processing.Picture,
	truth *processing.Mask, st synth.Stats, err error) {
	ctx := context.Background()
	if clean, err = synth.Paint(ctx, w, h, depth, synth.PaintOptions{Seed: seed, Scene: "coast"}); err != nil {
		return
	}
	glare.Seed = seed
	pic, truth, st, err = synth.RenderGlare(ctx, clean, glare)
	return
}

// spots is a dark grey picture with discs (x, y, radius) of the given 8-bit colour.
func spots(w, h int, colour [3]uint8, discs ...[3]int) *processing.Picture {
	pic := &processing.Picture{Width: w, Height: h, Channels: 3, U8: bytes.Repeat([]uint8{70}, 3*w*h)}
	for _, d := range discs {
		for y := max(d[1]-d[2], 0); y <= min(d[1]+d[2], h-1); y++ {
			for x := max(d[0]-d[2], 0); x <= min(d[0]+d[2], w-1); x++ {
				if (x-d[0])*(x-d[0])+(y-d[1])*(y-d[1]) <= d[2]*d[2] {
					copy(pic.U8[3*(y*w+x):], colour[:])
				}
			}
		}
	}
	return pic
}

// classic runs the classical detector on the CPU, checks that no plane is left behind, and returns the numbers of pixels
// of its components.
func classic(t testing.TB, be *cpu.Backend, pic *processing.Picture, p processing.Params) (
	*detect.Classic, map[uint32]int,
) {
	t.Helper()
	c, err := detect.DetectClassic(t.Context(), be, pic, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if planes, size := be.Live(); planes != 0 {
		t.Fatalf("%d planes of %d bytes were not released", planes, size)
	}
	areas := map[uint32]int{}
	for _, s := range c.Spans {
		areas[s.Label] += int(s.X1 - s.X0)
	}
	return c, areas
}
