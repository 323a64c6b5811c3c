//go:build cuda && (linux || windows) && amd64

package gpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blik/lab/experiment"
)

// trialOutput runs a variant twice, as a repetition would, and returns its result. Nothing may remain on the device.
func trialOutput(t rapid.TB, x *provider, v experiment.Variant, in *experiment.Input,
	c experiment.Case) experiment.Output {
	t.Helper()
	run, err := v.Method.Prepare(background, in, c)
	if err != nil {
		t.Fatalf("%s, %v: %v", v.ID, c, err)
	}
	for range 2 {
		if err := run.Run(background); err != nil {
			t.Fatalf("%s, %v: %v", v.ID, c, err)
		}
	}
	out, err := run.Output(background)
	if err != nil {
		t.Fatalf("%s, %v: %v", v.ID, c, err)
	}
	out.U8, out.F32 = slices.Clone(out.U8), slices.Clone(out.F32)
	if err := run.Close(); err != nil {
		t.Fatalf("%s, %v: %v", v.ID, c, err)
	}
	if n, bytes := x.b.Live(); n != 0 || bytes != 0 {
		t.Fatalf("%s, %v: %d planes, %d bytes are left on the device", v.ID, c, n, bytes)
	}
	return out
}

// measuredByFrame runs the GPU's variants of an experiment as the program does, with the frame's own check, and wants
// every row measured.
func measuredByFrame(t *testing.T, x *provider, id string, o experiment.Options, rows int) {
	t.Helper()
	e, err := experiment.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range e.Variants {
		if v.Device == experiment.GPU {
			o.Variants = append(o.Variants, v.ID)
		}
	}
	o.Quick, o.Providers = true, []experiment.Provider{x}
	r, err := experiment.Run(background, e, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != rows {
		t.Errorf("%d rows, want %d", len(r.Rows), rows)
	}
	for _, row := range r.Rows {
		if row.State != experiment.Measured || row.Median <= 0 || row.Check.Compared == 0 {
			t.Errorf("%s, %v: %s %s", row.Variant.ID, row.Case, row.State, row.Note.String())
		}
	}
}

// blurred is the result of the experiment traversal by its definition.
func blurred(pix []uint8, w, h int) []uint8 {
	taps := experiment.GaussTaps()
	pass := func(src []uint8, dx, dy int) []uint8 {
		out := make([]uint8, w*h)
		for y := range h {
			for x := range w {
				sum := uint32(1 << 15)
				for d := -5; d <= 5; d++ {
					u, v := min(max(x+d*dx, 0), w-1), min(max(y+d*dy, 0), h-1)
					sum += taps[max(d, -d)] * uint32(src[v*w+u])
				}
				out[y*w+x] = uint8(sum >> 16)
			}
		}
		return out
	}
	return pass(pass(pix, 0, 1), 1, 0)
}

func TestTraversalTrials(t *testing.T) {
	x := experimentsOnGPU(t)
	variants := x.Variants("traversal")
	if len(variants) != 5 {
		t.Fatalf("%d variants", len(variants))
	}
	side := rapid.OneOf(rapid.SampledFrom([]int{1, 2, 3, 5, 11, 15, 16, 17, 32, 63}), rapid.IntRange(1, 150))
	rapid.Check(t, func(t *rapid.T) {
		s := experiment.Size{W: side.Draw(t, "w"), H: side.Draw(t, "h")}
		in := &experiment.Input{Size: s, U8: noise[uint8](t, "pixels", s.Samples(), 255)}
		want := blurred(in.U8, s.W, s.H)
		for _, memory := range []string{"device", "mapped"} {
			c := experiment.Case{Size: s, Values: map[string]string{"memory": memory}}
			for _, v := range variants {
				same(t, v.ID+" "+memory, s.W, trialOutput(t, x, v, in, c).U8, want)
			}
		}
	})
}

func TestTraversalMeasured(t *testing.T) {
	x := experimentsOnGPU(t)
	sizes := []experiment.Size{{W: 1, H: 1}, {W: 97, H: 61}}
	measuredByFrame(t, x, "traversal", experiment.Options{Sizes: sizes}, 2*5*len(sizes))
}

// refused requires every variant of a list to refuse a case for lack of memory, to leave nothing on the device, and to
// report a cancel.
func refused(t *testing.T, x *provider, variants []experiment.Variant, in *experiment.Input, c experiment.Case) {
	t.Helper()
	cancelled, cancel := context.WithCancel(background)
	cancel()
	for _, v := range variants {
		if _, err := v.Method.Prepare(background, in, c); !errors.Is(err, experiment.ErrMemory) {
			t.Errorf("%s: %v", v.ID, err)
		}
		if _, err := v.Method.Prepare(cancelled, in, c); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after a cancel: %v", v.ID, err)
		}
	}
	released(t, x)
}

func TestTraversalWithoutMemory(t *testing.T) {
	x := experimentsOnGPU(t)
	x.b.LimitMemory(200_000)
	s := experiment.Size{W: 400, H: 300}
	in := &experiment.Input{Size: s, U8: make([]uint8, s.Samples())}
	refused(t, x, x.Variants("traversal"), in, experiment.Case{Size: s, Values: map[string]string{"memory": "device"}})
}

// A picture whose coordinates a list cannot hold is refused.
func TestTraversalTooLarge(t *testing.T) {
	x := experimentsOnGPU(t)
	s := experiment.Size{W: 1<<16 + 1, H: 1}
	in := &experiment.Input{Size: s, U8: make([]uint8, s.Samples())}
	for _, v := range x.Variants("traversal") {
		_, err := v.Method.Prepare(background, in, experiment.Case{Size: s,
			Values: map[string]string{"memory": "device"}})
		if err == nil || !strings.Contains(err.Error(), "65536") {
			t.Errorf("%s: %v", v.ID, err)
		}
	}
	released(t, x)
}
