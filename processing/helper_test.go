package processing_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"blik/lab/synth"
	"blik/processing"
	"blik/processing/cpu"
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

// looked is a context that is cancelled after it has been checked a given number of times.
type looked struct {
	context.Context
	left, after atomic.Int64
}

func cancelledAt(looks int) *looked {
	c := &looked{Context: context.Background()}
	c.left.Store(int64(looks))
	return c
}

func (c *looked) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	c.after.Add(1)
	return context.Canceled
}

// cancels runs job to the end, where it must check its context at least so many times, and then cancels it at eight of
// these checks. After the cancel each worker and each nested stage may check once more.
func cancels(t *testing.T, least int, job func(ctx context.Context) error) {
	t.Helper()
	const plenty = 1 << 40
	all := cancelledAt(plenty)
	if err := job(all); err != nil {
		t.Fatal(err)
	}
	looks := plenty - int(all.left.Load())
	if looks < least {
		t.Errorf("looked at its context %d times, want at least %d", looks, least)
	}
	// The number of checks varies a little with the order in which workers finish.
	for n := 0; n < looks*9/10; n += 1 + looks/9 {
		c := cancelledAt(n)
		if err := job(c); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at look %d of %d: error %v", n, looks, err)
		}
		if after := c.after.Load(); after > 24 {
			t.Errorf("cancelled at look %d of %d, and looked %d times more", n, looks, after)
		}
	}
}

// classic runs the classical detector on the CPU, checks that no plane is left behind, and returns the numbers of pixels
// of its components.
func classic(t testing.TB, be *cpu.Backend, pic *processing.Picture, p processing.Params) (
	*processing.Classic, map[uint32]int,
) {
	t.Helper()
	c, err := processing.DetectClassic(t.Context(), be, pic, p, processing.ClassicOptions{})
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
