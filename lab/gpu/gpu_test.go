//go:build cuda && (linux || windows) && amd64

package gpu

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"blik/app/i18n"
	"blik/cuda"
	"blik/internal/test/testpic"
	"blik/lab/experiment"
	"blik/processing"
)

// alike compares what the variants of an experiment compute on drawn pixels with its first one, the direct one of the
// CPU.
func alike(t *rapid.T, x *provider, id string, c experiment.Case) {
	e, err := experiment.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	side := rapid.OneOf(rapid.IntRange(1, 70), rapid.IntRange(1, 4), rapid.IntRange(71, 300))
	c.Size = experiment.Size{W: side.Draw(t, "w"), H: side.Draw(t, "h")}
	in := &experiment.Input{Size: c.Size, U8: noise[uint8](t, "pixels", c.Size.Samples(), math.MaxUint8)}
	direct, err := e.Variants[0].Method.Prepare(background, in, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := direct.Run(background); err != nil {
		t.Fatal(err)
	}
	want, err := direct.Output(background)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range x.Variants(id) {
		same(t, v.ID, c.Size.W, trialOutput(t, x, v, in, c).U8, want.U8)
	}
}

// odd draws the side of a window or element.
func odd(t *rapid.T) string { return strconv.Itoa(2*radius(t, 150) + 1) }

func TestSlidingTrials(t *testing.T) {
	x := experimentsOnGPU(t)
	rapid.Check(t, func(t *rapid.T) {
		alike(t, x, "sliding", experiment.Case{Values: map[string]string{"m": odd(t)}})
	})
}

func TestVHGWTrials(t *testing.T) {
	x := experimentsOnGPU(t)
	rapid.Check(t, func(t *rapid.T) {
		alike(t, x, "vhgw", experiment.Case{Values: map[string]string{
			"op":    rapid.SampledFrom([]string{"erode", "dilate", "open", "close"}).Draw(t, "op"),
			"shape": rapid.SampledFrom([]string{"square", "horizontal", "vertical"}).Draw(t, "shape"),
			"se":    odd(t),
		}})
	})
}

// pixels are a picture to compute on, which takes no time to paint.
func pixels() *processing.Picture {
	p := &processing.Picture{Width: 16, Height: 16, Channels: 1, U8: make([]uint8, 256)}
	for i := range p.U8 {
		p.U8[i] = uint8(i * i * 37)
	}
	return p
}

// The experiment's own check, on pictures of one pixel, of one line, and larger than a block.
func TestTrialsMeasured(t *testing.T) {
	x := experimentsOnGPU(t)
	o := experiment.Options{Sizes: []experiment.Size{{W: 1, H: 1}, {W: 1, H: 77}, {W: 133, H: 65}}, Picture: pixels()}
	o.Values = map[string][]string{"m": {"3", "101"}}
	measuredByFrame(t, x, "sliding", o, 4*2*3)
	o.Values = map[string][]string{"op": {"open"}, "kind": {"binary"}, "shape": {"square", "horizontal"},
		"se": {"3", "201"}}
	measuredByFrame(t, x, "vhgw", o, 3*4*3)
}

// All pixels white, in windows as large as a case may have: the sums come closest to 32 bits.
func TestSlidingTrialsAtTheirEnds(t *testing.T) {
	x := experimentsOnGPU(t)
	c := experiment.Case{Size: experiment.Size{W: 300, H: 70}, Values: map[string]string{"m": "4095"}}
	in := &experiment.Input{Size: c.Size, U8: slices.Repeat([]uint8{math.MaxUint8}, c.Size.Samples())}
	for _, v := range x.Variants("sliding") {
		if out := trialOutput(t, x, v, in, c); !slices.Equal(out.U8, in.U8) {
			t.Errorf("%s: the mean of white is not white", v.ID)
		}
	}
}

// Blocks of the kernels with shared memory use what every GPU has, and even with the longest element they have a
// thread.
func TestVHGWBlock(t *testing.T) {
	for k := 1; k <= 4095; k += 2 {
		b := vhgwBlock(k)
		if n := b.x * b.y; n < 2 || b.y%2 != 0 || n > 128 || n*vhgwBytes(k) > cuda.MaxShared ||
			2*n <= min(128, cuda.MaxShared/vhgwBytes(k)) {
			t.Errorf("element of %d: block of %d × %d threads", k, b.x, b.y)
		}
	}
	if b := vhgwBlock(3); b != (threads{32, 4}) {
		t.Errorf("%+v", b)
	}
}

func TestSumTrials(t *testing.T) {
	x := experimentsOnGPU(t)
	e, err := experiment.Find("sum")
	if err != nil {
		t.Fatal(err)
	}
	o := experiment.Options{Quick: true, Variants: []string{"gpu-halving", "gpu-tree", "gpu-several"},
		Providers: []experiment.Provider{x}}
	for _, n := range []int{1, 2, 3, 7, 1000, treeTile - 1, treeTile, treeTile + 1, 2*treeTile + 3, 999_999} {
		o.Sizes = append(o.Sizes, experiment.Line(n))
	}
	// A second context on the same GPU stands for a second one.
	second, err := cuda.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	x.names, x.others = []string{x.Name(), "the second"}, []*cuda.Backend{second}
	r, err := experiment.Run(background, e, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 3*len(o.Sizes) {
		t.Errorf("%d rows", len(r.Rows))
	}
	if !slices.Equal(r.Devices, x.names) {
		t.Errorf("%q took part, want %q", r.Devices, x.names)
	}
	for _, row := range r.Rows {
		if row.State != experiment.Measured || row.Median <= 0 {
			t.Errorf("%s, %s: %s %s", row.Variant.ID, row.Case.Size, row.State, row.Note.String())
		}
	}
}

func TestSumOfSeveralNeedsThem(t *testing.T) {
	x := experimentsOnGPU(t)
	testpic.Need(t, len(x.names) < 2, "a machine with one GPU")
	e, err := experiment.Find("sum")
	if err != nil {
		t.Fatal(err)
	}
	r, err := experiment.Run(background, e, experiment.Options{Quick: true, Variants: []string{"gpu-several"},
		Providers: []experiment.Provider{x}})
	if err != nil || len(r.Rows) != 1 || r.Rows[0].State != experiment.NeedsGPU ||
		r.Rows[0].Note.String() != "needs two NVIDIA GPUs" {
		t.Errorf("%+v, %v", r, err)
	}
}

// Whole numbers add up exactly in any order, so every length must give exactly the sum.
func TestSumsOfWholeNumbers(t *testing.T) {
	x := experimentsOnGPU(t)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1, 70_000)).Draw(t, "n")
		in := &experiment.Input{Size: experiment.Line(n), F32: make([]float32, n)}
		var want float64
		for i, v := range noise[uint16](t, "values", n, 200) {
			in.F32[i] = float32(v) - 100
			want += float64(in.F32[i])
		}
		for _, v := range x.Variants("sum") {
			out := trialOutput(t, x, v, in, experiment.Case{Size: in.Size})
			if out.Sum == nil || *out.Sum != want {
				t.Fatalf("%s of %d: %v, want %v", v.ID, n, out.Sum, want)
			}
		}
	})
}

func TestTrialCancel(t *testing.T) {
	x := experimentsOnGPU(t)
	c := experiment.Case{Size: experiment.Size{W: 64, H: 64}, Values: map[string]string{"m": "5"}}
	in := &experiment.Input{Size: c.Size, U8: make([]uint8, c.Size.Samples())}
	for _, v := range x.Variants("sliding") {
		run, err := v.Method.Prepare(background, in, c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(background)
		cancel()
		if err := run.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", v.ID, err)
		}
		if err := run.Run(background); err != nil {
			t.Errorf("%s after a cancel: %v", v.ID, err)
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
		if _, err := v.Method.Prepare(ctx, in, c); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", v.ID, err)
		}
	}
	released(t, x)
}

// A side beyond what kernels count to is left out, and the device goes on.
func TestTrialsTooLarge(t *testing.T) {
	x := experimentsOnGPU(t)
	e, err := experiment.Find("sliding")
	if err != nil {
		t.Fatal(err)
	}
	r, err := experiment.Run(background, e, experiment.Options{Quick: true,
		Variants: []string{"gpu-recursive-coalesced"}, Picture: pixels(),
		Sizes:  []experiment.Size{{W: 5, H: 5}, {W: 1, H: cuda.MaxSide + 1}, {W: cuda.MaxSide + 1, H: 1}},
		Values: map[string][]string{"m": {"3"}}, Providers: []experiment.Provider{x}})
	if err != nil || len(r.Rows) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, want := range []experiment.State{experiment.Measured, experiment.LeftOut, experiment.LeftOut} {
		if row := r.Rows[i]; row.State != want {
			t.Errorf("%s: %s %s", row.Case.Size, row.State, row.Note.String())
		}
	}
}

// A case that does not fit into the device's memory is left out, and nothing of it remains.
func TestTrialsWithoutMemory(t *testing.T) {
	x := experimentsOnGPU(t)
	for id, size := range map[string]experiment.Size{"sliding": {W: 400, H: 300}, "vhgw": {W: 400, H: 300},
		"sum": experiment.Line(100_000)} {
		e, err := experiment.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		variants := x.Variants(id)
		o := experiment.Options{Quick: true, Sizes: []experiment.Size{size}, Picture: pixels(),
			Providers: []experiment.Provider{x}}
		for _, v := range variants {
			// Several GPUs have memory of their own each.
			if v.ID != "gpu-several" {
				o.Variants = append(o.Variants, v.ID)
			}
		}
		x.b.LimitMemory(200_000)
		r, err := experiment.Run(background, e, o)
		x.b.LimitMemory(0)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			if row.State != experiment.LeftOut || row.Note.String() == i18n.For("ru").Sprint(row.Note) {
				t.Errorf("%s, %s: %s %q", id, row.Variant.ID, row.State, row.Note)
			}
		}
		if n, bytes := x.b.Live(); n != 0 || bytes != 0 {
			t.Errorf("%s: %d planes, %d bytes are left on the device", id, n, bytes)
		}
	}
}
