package cpu

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"blik/processing"
	"blik/processing/network"
)

// glareLike returns random channels with few levels and some bright points.
func glareLike(r *rand.Rand, n int) []uint8 {
	s := make([]uint8, n)
	for i := range s {
		s[i] = uint8(60 + r.IntN(40))
		if r.IntN(50) == 0 {
			s[i] = uint8(150 + r.IntN(106))
		}
	}
	return s
}

// Tiles give the logits of the whole picture, whatever the number of workers and the offset.
func TestGlints(t *testing.T) {
	t.Parallel()
	m, err := network.Default()
	must(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {2, 1}, {1, 5}, {3, 3}, {40, 33}, {217, 9}, {6, 221}, {130, 124}} {
		w, h := size[0], size[1]
		red, green, blue := glareLike(r, w*h), glareLike(r, w*h), glareLike(r, w*h)
		_, logits := m.Run(red, green, blue, w, h)
		for _, offset := range []int{0, 24, 255} {
			want := make([]uint8, w*h)
			for i, v := range logits {
				want[i] = uint8(min(max(int(v)+offset, 0), 255))
			}
			b := New(Workers(1 + r.IntN(3)))
			b.tiling.narrow, b.tiling.wide = 1+r.IntN(80), 1+r.IntN(120)
			op := processing.Glints{Dst: empty(t, b, processing.U8, w, h), Red: up(t, b, w, h, red),
				Green: up(t, b, w, h, green), Blue: up(t, b, w, h, blue), Model: m, Offset: offset}
			must(t, b.Do(context.Background(), op))
			wantEqual(t, "logit", w, down[uint8](t, op.Dst), want)
		}
	}
}

func TestGlintsStops(t *testing.T) {
	t.Parallel()
	m, err := network.Default()
	must(t, err)
	b := New()
	const w, h = 64, 64
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	plane := func() processing.Plane { return up(t, b, w, h, make([]uint8, w*h)) }
	op := processing.Glints{Dst: empty(t, b, processing.U8, w, h), Red: plane(), Green: plane(), Blue: plane(), Model: m}
	if err := b.Do(ctx, op); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The channels of pixels are those of the last hidden layer of the whole picture, in whichever tiles they lie.
func TestGlintChannels(t *testing.T) {
	t.Parallel()
	m, err := network.Default()
	must(t, err)
	r := rand.New(rand.NewPCG(3, 4))
	const w, h = 151, 339
	red, green, blue := glareLike(r, w*h), glareLike(r, w*h), glareLike(r, w*h)
	activations, _ := m.Run(red, green, blue, w, h)
	hidden := activations[len(activations)-1]
	index := []uint32{300*w + 20, 0, w - 1, w*h - 1, 127*w + 127, 128*w + 128, 128*w + 128}
	var want []uint8
	for _, i := range index {
		for c := range m.Hidden() {
			want = append(want, hidden.V[(c*hidden.H+int(i)/w/2)*hidden.W+int(i)%w/2])
		}
	}
	b := New(Workers(2))
	op := processing.GlintChannels{Red: up(t, b, w, h, red), Green: up(t, b, w, h, green), Blue: up(t, b, w, h, blue),
		Model: m}
	for _, list := range [][]uint32{index, nil} {
		op.Index = list
		got, err := processing.Evaluate(context.Background(), b, op)
		must(t, err)
		wantEqual(t, "channel", 1, got, want[:len(list)*m.Hidden()])
	}
}

// BenchmarkGlints runs only the network, on 5300 × 3533 pixels; it prints the least time, too.
func BenchmarkGlints(b *testing.B) {
	m, err := network.Default()
	must(b, err)
	const w, h = 5300, 3533
	be := New()
	r := rand.New(rand.NewPCG(1, 2))
	plane := func() processing.Plane { return up(b, be, w, h, glareLike(r, w*h)) }
	op := processing.Glints{Dst: empty(b, be, processing.U8, w, h), Red: plane(), Green: plane(), Blue: plane(), Model: m}
	must(b, be.Do(context.Background(), op))
	b.ReportAllocs()
	least := time.Duration(math.MaxInt64)
	for b.Loop() {
		start := time.Now()
		must(b, be.Do(context.Background(), op))
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(least.Milliseconds()), "ms-least")
	b.ReportMetric(m.MultiplyAdds()*w*h/least.Seconds()/1e9, "GMAC/s")
}
