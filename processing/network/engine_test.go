package network

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"blik/internal/simd"
)

// all is for Engine.Run: every row is needed.
func all(int) bool { return true }

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
		l.Resolution = fine
		if l.Kind == Pool {
			l.Out, l.Resolution = l.In, 2*fine
			m.Layers = append(m.Layers, l)
			return
		}
		span := []int{3, 40, 127}[r.IntN(3)]
		for range l.Out {
			for range l.In * l.Kind.Side() * l.Kind.Side() {
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
	for range 1 + r.IntN(7) {
		l := Layer{Kind: Kind(r.IntN(3)), Out: 1 + r.IntN(22), Dilation: 1, From: []int{source(8)}}
		switch {
		case l.Kind == Pool && r.IntN(2) == 0:
			l.Kind = Conv3
		case l.Kind == Pool:
			add(l)
			continue
		case r.IntN(2) == 0:
			l.From = append(l.From, source(16))
		}
		if l.Kind == Conv3 {
			l.Dilation = 1 + r.IntN(3)
		}
		add(l)
	}
	var fine []int
	for s := Input; s < len(m.Layers); s++ {
		if m.resolution(s) == 1 {
			fine = append(fine, s)
		}
	}
	// The last layer often reads the one before it only.
	from := []int{fine[len(fine)-1]}
	if n := len(m.Layers) - 1; from[0] != n {
		from = append(from, n)
	}
	add(Layer{From: from, Kind: Kind(r.IntN(2)), Out: Outputs, Dilation: 1})
	return m
}

// contextModel returns a model of the shape that the program's has: convolutions of the given widths at ever halved
// resolutions, and back. Its weights are as trained ones are distributed.
func contextModel(r *rand.Rand, widths ...int) *Model {
	m := &Model{}
	add := func(kind Kind, out, dilation, resolution int, from ...int) int {
		l := Layer{From: from, Kind: kind, Out: out, Dilation: dilation, Resolution: resolution}
		for _, s := range from {
			l.In += m.channels(s)
		}
		if kind == Pool {
			l.Out = l.In
		}
		n := l.In * kind.Side() * kind.Side()
		for range l.Out * n {
			l.Weights = append(l.Weights, int8(min(max(math.Round(r.NormFloat64()*30), -127), 127)))
		}
		for range min(l.Out, len(l.Weights)) {
			l.Bias = append(l.Bias, int32(r.IntN(1<<10)))
			l.Shift = append(l.Shift, uint8(5+bits.Len(uint(n))/2))
		}
		m.Layers = append(m.Layers, l)
		return len(m.Layers) - 1
	}
	var levels []int
	last, deepest := Input, len(widths)-1
	for k, w := range widths {
		if k > 0 {
			last = add(Pool, 0, 1, 1<<k, last)
		}
		dilation := 1
		if k == deepest {
			dilation = 2
		}
		last = add(Conv3, w, dilation, 1<<k, add(Conv3, w, 1, 1<<k, last))
		levels = append(levels, last)
	}
	for k := deepest - 1; k >= 0; k-- {
		last = add(Conv3, widths[k], 1, 1<<k, add(Conv1, widths[k], 1, 1<<k, levels[k], last))
	}
	add(Conv1, Outputs, 1, 1, last)
	return m
}

// wantLogits compares the logits that an engine computes in parts with those of the whole picture.
func wantLogits(t *testing.T, what string, m *Model, level simd.Level, pic Picture, logits Tensor[int32],
	tile, offset int) {
	t.Helper()
	e := NewEngine(m, level)
	w, h := pic.Width, pic.Height
	got, kinds := make([]uint8, w*h), make([]uint8, w*h)
	if offset%5 == 0 {
		kinds = nil
	}
	tile -= tile % m.Grain()
	var scratch Scratch
	for y := 0; y < h; y += tile {
		for x := 0; x < w; x += tile {
			e.Run(got, kinds, pic, Rect{x, y, min(w, x+tile), min(h, y+tile)}, offset, &scratch, func() bool { return false }, all)
		}
	}
	for i := range w * h {
		var v [Outputs]int32
		for c := range v {
			v[c] = logits.row(c, i/w)[i%w]
		}
		if want := uint8(min(max(int(v[0])+offset, 0), 255)); got[i] != want {
			t.Fatalf("%s, %v: pixel (%d, %d) of %d × %d is %d, want %d", what, level, i%w, i/w, w, h, got[i], want)
		}
		if kinds != nil && kinds[i] != KindOf(v) {
			t.Fatalf("%s, %v: pixel (%d, %d) of %d × %d is of kind %d, want %d", what, level, i%w, i/w, w, h, kinds[i],
				KindOf(v))
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
		for _, level := range simd.Levels() {
			tile := []int{16, 48, 128}[r.IntN(3)]
			wantLogits(t, fmt.Sprintf("seed %d", seed), m, level, Picture{red, green, blue, w, h}, logits, tile, r.IntN(256))
		}
	}
}

// The program's model, and one of other widths, on pictures of arbitrary sizes.
func TestDefaultEngine(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	wantPictures(t, r, defaultModel(t))
	if !testing.Short() {
		wantPictures(t, r, contextModel(r, 12, 24, 40, 64, 64))
	}
}

func wantPictures(t *testing.T, r *rand.Rand, m *Model) {
	t.Helper()
	for _, size := range [][2]int{{1, 1}, {2, 3}, {1, 40}, {157, 1}, {101, 93}, {143, 46}} {
		pic := Picture{Width: size[0], Height: size[1]}
		pic.Red, pic.Green, pic.Blue = noisePicture(r, pic.Width, pic.Height)
		_, logits := m.Run(pic.Red, pic.Green, pic.Blue, pic.Width, pic.Height)
		for _, level := range simd.Levels() {
			for _, tile := range []int{64, 1024} {
				wantLogits(t, fmt.Sprint(len(m.Layers[0].Bias)), m, level, pic, logits, tile, 100)
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
		e.Run(dst, nil, Picture{red, green, blue, w, h}, Rect{0, 0, w, h}, 255, &scratch, func() bool {
			calls++
			return calls > most
		}, all)
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

// The channels of pixels are those of the last hidden layer.
func TestChannels(t *testing.T) {
	t.Parallel()
	m := defaultModel(t)
	r := rand.New(rand.NewPCG(5, 6))
	const w, h = 71, 54
	pic := Picture{Width: w, Height: h}
	pic.Red, pic.Green, pic.Blue = noisePicture(r, w, h)
	activations, _ := m.Run(pic.Red, pic.Green, pic.Blue, w, h)
	hidden := activations[len(activations)-1]
	var places []Place
	var want []uint8
	for k, at := range []int{40*w + 20, 0, w - 1, w*h - 1, 33*w + 64, 33*w + 64} {
		places = append(places, Place{at % w, at / w, k})
		for c := range m.Hidden() {
			want = append(want, hidden.V[c*w*h+at])
		}
	}
	for _, level := range simd.Levels() {
		got := make([]uint8, len(want))
		NewEngine(m, level).Channels(got, pic, Rect{0, 0, w, h}, places, &Scratch{}, func() bool { return false })
		if !slices.Equal(got, want) {
			t.Errorf("%v: other channels than the definition gives", level)
		}
	}
}
