package network

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"blik/internal/simd"
)

// levels returns the levels that this processor supports.
func levels() []simd.Level {
	var list []simd.Level
	for l := range simd.Chosen() + 1 {
		list = append(list, l)
	}
	return list
}

// randomModel returns a model of some layers of any kind. Its weights are small, large, or of the largest possible
// magnitude.
func randomModel(r *rand.Rand) *Model {
	m := &Model{}
	add := func(l Layer) {
		fine := 1 << 20
		for _, s := range l.From {
			l.In += m.channels(s)
			fine = min(fine, m.resolution(s))
		}
		if l.Kind == Depth3 {
			l.Out = l.In
		}
		l.Resolution = fine * l.Stride
		n := l.inputs() * l.Kind.Side() * l.Kind.Side()
		span := []int{3, 40, 127}[r.IntN(3)]
		for range l.Out {
			for range n {
				w := r.IntN(2*span+1) - span
				switch r.IntN(9) {
				case 0:
					w = 0
				case 1:
					w = []int{-127, 127}[r.IntN(2)]
				}
				l.Weights = append(l.Weights, int8(w))
			}
			l.Bias = append(l.Bias, int32(r.IntN(1<<12)-1<<11))
			l.Shift = append(l.Shift, uint8(r.IntN(10)))
		}
		m.Layers = append(m.Layers, l)
	}
	source := func(most int) int {
		var list []int
		for s := Input; s < len(m.Layers); s++ {
			if m.resolution(s) <= most {
				list = append(list, s)
			}
		}
		return list[max(0, len(list)-1-r.IntN(3))]
	}
	for range 1 + r.IntN(5) {
		l := Layer{From: []int{source(8)}, Kind: Kind(r.IntN(3)), Out: 1 + r.IntN(13), Dilation: 1 + r.IntN(4), Stride: 1}
		if r.IntN(3) == 0 {
			l.From = append(l.From, source(8))
		}
		if r.IntN(4) == 0 && m.resolution(l.From[0]) <= 4 {
			l.Stride = 2
		}
		add(l)
	}
	if len(m.Layers) > 0 && m.Layers[len(m.Layers)-1].Resolution > inputResolution {
		add(Layer{From: []int{Input, len(m.Layers) - 1}, Kind: Conv1, Out: 5, Dilation: 1, Stride: 1})
	}
	add(Layer{From: []int{source(inputResolution)}, Kind: Kind(r.IntN(2)), Out: 4, Dilation: 1, Stride: 1})
	return m
}

// wantLogits compares the logits that an engine computes in parts with those of the whole picture.
func wantLogits(t *testing.T, what string, m *Model, level simd.Level, pic Picture, logits []int16, tile, offset int) {
	t.Helper()
	e := NewEngine(m, level)
	w, h := pic.Width, pic.Height
	got := make([]uint8, w*h)
	tile -= tile % m.Grain()
	var scratch Scratch
	for y := 0; y < h; y += tile {
		for x := 0; x < w; x += tile {
			e.Run(got, pic, Rect{x, y, min(w, x+tile), min(h, y+tile)}, offset, &scratch, func() bool { return false })
		}
	}
	for i, v := range logits {
		if want := uint8(min(max(int(v)+offset, 0), 255)); got[i] != want {
			t.Fatalf("%s, %v: pixel (%d, %d) of %d × %d is %d, want %d", what, level, i%w, i/w, w, h, got[i], want)
		}
	}
}

// Networks of any shape give the same logits with all kernels, for whole pictures and in parts.
func TestEngine(t *testing.T) {
	t.Parallel()
	seeds := uint64(60)
	if testing.Short() {
		seeds = 12
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		m := randomModel(r)
		w, h := 1+r.IntN(90), 1+r.IntN(70)
		red, green, blue := noisePicture(r, w, h)
		_, logits := m.Run(red, green, blue, w, h)
		for _, level := range levels() {
			tile := []int{16, 48, 128}[r.IntN(3)]
			wantLogits(t, fmt.Sprintf("seed %d", seed), m, level, Picture{red, green, blue, w, h}, logits, tile, r.IntN(256))
		}
	}
}

// The program's model on pictures of arbitrary sizes.
func TestDefaultEngine(t *testing.T) {
	t.Parallel()
	m := defaultModel(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range [][2]int{{1, 1}, {2, 3}, {1, 40}, {157, 1}, {101, 93}, {143, 46}} {
		pic := Picture{Width: size[0], Height: size[1]}
		pic.Red, pic.Green, pic.Blue = noisePicture(r, pic.Width, pic.Height)
		_, logits := m.Run(pic.Red, pic.Green, pic.Blue, pic.Width, pic.Height)
		for _, level := range levels() {
			for _, tile := range []int{64, 1024} {
				wantLogits(t, "default", m, level, pic, logits, tile, 100)
			}
		}
	}
}

// When stopped, the engine returns before it computes another row, and leaves the rest of the result unchanged.
func TestStop(t *testing.T) {
	t.Parallel()
	m := defaultModel(t)
	const w, h = 40, 40
	red, green, blue := noisePicture(rand.New(rand.NewPCG(5, 6)), w, h)
	e := NewEngine(m, simd.Chosen())
	var scratch Scratch
	run := func(most int) (calls int, dst []uint8) {
		dst = make([]uint8, w*h)
		e.Run(dst, Picture{red, green, blue, w, h}, Rect{0, 0, w, h}, 255, &scratch, func() bool {
			calls++
			return calls > most
		})
		return calls, dst
	}
	all, whole := run(1 << 30)
	for _, most := range []int{0, 1, all / 2, all - 1} {
		calls, dst := run(most)
		if calls != most+1 {
			t.Errorf("stopped after %d calls: %d more", most, calls-most)
		}
		for i, v := range dst {
			if v != 0 && v != whole[i] || most == 0 && v != 0 {
				t.Fatalf("stopped after %d calls: pixel %d is %d, else %d", most, i, v, whole[i])
			}
		}
	}
}
