// Package optest holds a call of each operation, for tests that go through all of them.
package optest

import (
	"context"
	"testing"

	"blik/processing"
	"blik/processing/network"
)

// W and H are the size of the planes in pixels.
const W, H = 8, 6

// T is what a comparison needs of a test.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Same fails unless the samples of two planes of w columns are equal, bit for bit except the sign of zero and the
// payload of NaN.
func Same[S uint8 | uint16 | uint32 | int32 | float32](t T, what string, w int, got, want []S) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d samples, want %d", what, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: pixel (%d, %d) is %v, want %v", what, i%w, i/w, got[i], want[i])
		}
	}
}

// Plane returns a plane of b with rising samples, none of them 0 in a plane of floats. It lives until the test ends.
func Plane(t testing.TB, b processing.Backend, kind processing.Kind) processing.Plane {
	t.Helper()
	var s processing.Samples
	for i := range W * H {
		switch kind {
		case processing.U8:
			s.U8 = append(s.U8, uint8(i))
		case processing.U16:
			s.U16 = append(s.U16, uint16(i))
		case processing.F32:
			s.F32 = append(s.F32, 0.25+float32(i)/W/H)
		}
	}
	p, err := b.Alloc(kind, W, H)
	if err == nil {
		err = b.Upload(context.Background(), p, s)
		t.Cleanup(p.Release)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// All returns a valid call of each operation for b. Calls share no planes. Operations with a result have a place for
// it.
func All(t testing.TB, b processing.Backend) []processing.Op {
	t.Helper()
	u8 := func() processing.Plane { return Plane(t, b, processing.U8) }
	u16 := func() processing.Plane { return Plane(t, b, processing.U16) }
	f32 := func() processing.Plane { return Plane(t, b, processing.F32) }
	cores := func() processing.Components {
		c, err := processing.Evaluate(context.Background(), b,
			processing.Label{Class: u8(), Bits: processing.ClassCore})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Release)
		return c
	}
	pic := &processing.Picture{Width: W, Height: H, Channels: 3, U16: make([]uint16, 3*W*H)}
	tiles := []processing.Tile{{X: 1, Y: 1, W: 3, H: 2}, {X: 4, Y: 0, W: 1, H: 1}}
	model := processing.Separation{Axes: [4][4]float32{{1}}, Variance: [4]float32{1}, Light: [4]float32{1}, Sweeps: 1}
	filtered := cores()
	glints, err := network.Default()
	if err != nil {
		t.Fatal(err)
	}
	return []processing.Op{
		processing.Luminance{
			Y: u16(), V: u8(), Red: u8(), Green: u8(), Blue: u8(), Picture: pic, Tables: pic.Tables(),
		},
		processing.BoxMean{Dst: u8(), Src: u8(), Radius: 1},
		processing.Background{Dst: u16(), Y: u16(), Exclude: u8(), Radii: []int{1, 2}},
		processing.Contrast{Class: u8(), Seed: u16(), Y: u16(), Background: u16(), V: u8()},
		processing.Cores{Class: u8(), Y: u16(), Background: u16(), Peak: u16()},
		processing.DifferenceThreshold{Dst: u8(), Y: u16(), Background: u16(), V: u8(), Over: 1, Level: 1},
		processing.Glints{Dst: u8(), Kinds: u8(), Red: u8(), Green: u8(), Blue: u8(), Model: glints, Offset: 7},
		processing.GlintChannels{
			Red: u8(), Green: u8(), Blue: u8(), Model: glints, Index: []uint32{3, W*H - 1}, Out: new([]uint8),
		},
		processing.MeasureGlints{
			Components: cores(), Logits: u8(), Kinds: u8(), Red: u8(), Green: u8(), Blue: u8(),
			Out: new([]processing.GlintProps),
		},
		processing.Morph{Dst: u16(), Src: u16(), Op: processing.Close, Element: processing.Square(1)},
		processing.FillHoles{Dst: u8()},
		processing.Gaussian{Dst: u8(), Src: u8(), Sigma: 1},
		processing.StarletBand{Dst: u16(), Src: u8()},
		processing.Histogram{Src: u8(), Exclude: u8(), Out: new([]uint64)},
		processing.NoiseTiles{Src: u8(), Side: 3, Out: new([]float64)},
		processing.Label{Class: u8(), Bits: processing.ClassCore, Out: new(processing.Components)},
		processing.Grow{
			Cores: cores(), Class: u8(), Growth: processing.Growth{Limit: 2, MaxCore: 9},
			Out: new(processing.Components),
		},
		processing.FilterComponents{Components: filtered, Keep: make([]bool, filtered.Len())},
		processing.Rasterize{Dst: u8(), Components: cores()},
		processing.Spans{Components: cores(), Out: new([]processing.Span)},
		processing.Harmonic{Dst: f32(), State: u8(), Tiles: tiles, Sweeps: []int{1, 1}, Omegas: []float32{1, 1}},
		processing.Detail{Dst: f32(), Src: f32(), State: u8(), Tiles: tiles},
		processing.Separate{
			Paint: []processing.Plane{f32()}, Light: f32(), Seen: []processing.Plane{f32()}, Expected: f32(),
			State: u8(),
			Tiles: tiles, Models: []processing.Separation{model, model},
		},
	}
}

// Answered checks that b carries out each operation, and refuses it in the common words if arguments are missing.
func Answered(t *testing.T, b processing.Backend) {
	ctx := context.Background()
	for _, op := range All(t, b) {
		if err := b.Do(ctx, op); err != nil {
			t.Error(err)
		}
		bad := processing.Bind(op, func(processing.Plane) processing.Plane { return nil })
		switch op.(type) {
		case processing.FilterComponents:
			bad = processing.FilterComponents{}
		case processing.Spans:
			bad = processing.Spans{Out: new([]processing.Span)}
		}
		if got, want := b.Do(ctx, bad), processing.Check(b, bad); got == nil || want == nil ||
			got.Error() != want.Error() {
			t.Errorf("without arguments: %v, want %v", got, want)
		}
		switch o := op.(type) {
		case processing.Label:
			(*o.Out).Release()
		case processing.Grow:
			(*o.Out).Release()
		}
	}
}
