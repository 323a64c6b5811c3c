package cpu

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blik/internal/simd"
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

// plainEngine returns the network on plain kernels, which tests of package network compare with its definition, and the
// rectangle of a whole picture.
func plainEngine(m *network.Model, w, h int) (*network.Engine, network.Rect) {
	return network.NewEngine(m, simd.Plain), network.Rect{X1: w, Y1: h}
}

func never() bool { return false }

// Tiles give the logits and kinds of the whole picture, whatever the number of workers and the offset.
func TestGlints(t *testing.T) {
	t.Parallel()
	m, err := network.Default()
	must(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {2, 1}, {1, 5}, {3, 3}, {40, 33}, {217, 9}, {6, 221}, {130, 124}} {
		w, h := size[0], size[1]
		red, green, blue := glareLike(r, w*h), glareLike(r, w*h), glareLike(r, w*h)
		engine, whole := plainEngine(m, w, h)
		for _, offset := range []int{0, 24, 255} {
			want, wantKinds := make([]uint8, w*h), make([]uint8, w*h)
			engine.Run(want, wantKinds, network.Picture{Red: red, Green: green, Blue: blue, Width: w, Height: h}, whole,
				offset, &network.Scratch{}, never, func(int) bool { return true })
			b := New(Workers(1 + r.IntN(3)))
			b.tiling.narrow, b.tiling.wide = 1+r.IntN(80), 1+r.IntN(120)
			op := processing.Glints{Dst: empty(t, b, processing.U8, w, h), Red: up(t, b, w, h, red),
				Green: up(t, b, w, h, green), Blue: up(t, b, w, h, blue), Model: m, Offset: offset}
			must(t, b.Do(context.Background(), op))
			wantEqual(t, "logit", w, down[uint8](t, op.Dst), want)
			op.Dst, op.Kinds = empty(t, b, processing.U8, w, h), empty(t, b, processing.U8, w, h)
			must(t, b.Do(context.Background(), op))
			wantEqual(t, "logit", w, down[uint8](t, op.Dst), want)
			wantEqual(t, "kind", w, down[uint8](t, op.Kinds), wantKinds)
		}
	}
}

// However fast workers are, each row of each tile is computed, none twice, and divided tiles begin at the grain.
func TestNetworkTiles(t *testing.T) {
	t.Parallel()
	m, err := network.Default()
	must(t, err)
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 3000).Draw(t, "w"), rapid.IntRange(1, 6000).Draw(t, "h")
		b := executor{New(Workers(rapid.IntRange(1, 9).Draw(t, "workers")))}
		b.tiling.narrow, b.tiling.wide = rapid.IntRange(1, 300).Draw(t, "narrow"), rapid.IntRange(1, 3000).Draw(t, "wide")
		tiles := b.networkTiles(w, h, m)
		mine, next := make([]*network.Rect, b.workers), make([]int, b.workers)
		pixels, divided := 0, 0
		for range 1 << 20 {
			i := rapid.IntRange(0, b.workers-1).Draw(t, "worker")
			if mine[i] != nil {
				rows := rapid.IntRange(1, h).Draw(t, "rows")
				width := mine[i].X1 - mine[i].X0
				for ; rows > 0 && tiles.more(mine[i], next[i]); rows-- {
					pixels += width
					next[i]++
				}
				if rows == 0 {
					continue
				}
			}
			waiting := len(tiles.waiting)
			var r network.Rect
			mine[i], r = tiles.exchange(mine[i])
			if mine[i] == nil {
				if len(tiles.running) == 0 {
					break
				}
				continue
			}
			if next[i] = r.Y0; waiting == 0 {
				divided++
			}
			if r.X0%m.Grain() != 0 || r.Y0%m.Grain() != 0 || r.Y1 > h || r.X1 > w {
				t.Fatalf("%d × %d pixels: a tile at %+v", w, h, r)
			}
		}
		if pixels != w*h {
			t.Fatalf("%d × %d pixels, %d tiles divided: %d pixels computed", w, h, divided, pixels)
		}
	})
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
	index := []uint32{300*w + 20, 0, w - 1, w*h - 1, 127*w + 127, 128*w + 128, 128*w + 128}
	var places []network.Place
	for k, i := range index {
		places = append(places, network.Place{X: int(i) % w, Y: int(i) / w, At: k})
	}
	want := make([]uint8, len(index)*m.Hidden())
	engine, whole := plainEngine(m, w, h)
	engine.Channels(want, network.Picture{Red: red, Green: green, Blue: blue, Width: w, Height: h}, whole, places,
		&network.Scratch{}, never)
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

// Components are measured as GlintProps defines it.
func TestMeasureGlintsEqualsDefinition(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		w, h := size(t)
		n := w * h
		logits, kinds := noise[uint8](t, n, 255), noise[uint8](t, n, 3)
		if rapid.Bool().Draw(t, "few") {
			for i, v := range noise[uint8](t, n, 255) {
				if v < 200 {
					logits[i] = 0
				}
			}
		}
		channels := [3][]uint8{noise[uint8](t, n, 255), noise[uint8](t, n, 255), noise[uint8](t, n, 255)}
		b := New(Workers(rapid.SampledFrom(workerCounts).Draw(t, "workers")))
		defer b.Close()
		plane := up(t, b, w, h, logits)
		c, err := processing.Evaluate(ctx, b, processing.Label{Class: plane, Bits: 255})
		must(t, err)
		keep := make([]bool, c.Len())
		for i := range keep {
			keep[i] = i%5 != 4
		}
		must(t, b.Do(ctx, processing.FilterComponents{Components: c, Keep: keep}))
		got, err := processing.Evaluate(ctx, b, processing.MeasureGlints{
			Components: c, Logits: plane, Kinds: up(t, b, w, h, kinds), Red: up(t, b, w, h, channels[0]),
			Green: up(t, b, w, h, channels[1]), Blue: up(t, b, w, h, channels[2]),
		})
		must(t, err)
		spans, err := processing.Evaluate(ctx, b, processing.Spans{Components: c})
		must(t, err)
		if want := measured(painted(t, w, h, spans), c.Len(), w, h, logits, kinds, channels); !slices.Equal(got, want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}

// measured returns the measures of n components, given the label of each pixel, or −1.
func measured(label []int, n, w, h int, logits, kinds []uint8, channels [3][]uint8) []processing.GlintProps {
	value := func(i int) int {
		return (int(channels[0][i]) + 2*int(channels[1][i]) + int(channels[2][i]) + 2) >> 2
	}
	dark := func(i int) int { return int(min(channels[0][i], channels[1][i], channels[2][i])) }
	list := make([]processing.GlintProps, n)
	for i, l := range label {
		if l < 0 {
			continue
		}
		p := &list[l]
		p.Area++
		p.Sums[kinds[i]] += uint64(logits[i])
		if p.Area == 1 || value(i) > int(p.Peak) {
			p.Peak, p.DarkPeak, p.X, p.Y = uint8(value(i)), uint8(dark(i)), int32(i%w), int32(i/w)
		}
	}
	for l := range list {
		var all, free []int // pixels
		for i := range w * h {
			far := max(i%w-int(list[l].X), int(list[l].X)-i%w, i/w-int(list[l].Y), int(list[l].Y)-i/w)
			if far > 12 || list[l].Area == 0 {
				continue
			}
			all = append(all, i)
			if logits[i] == 0 {
				free = append(free, i)
			}
		}
		if len(free) >= 50 {
			all = free
		}
		median := func(of func(int) int) uint8 {
			slices.SortFunc(all, func(a, b int) int { return of(a) - of(b) })
			return uint8(of(all[(len(all)-1)/2]))
		}
		if len(all) > 0 {
			list[l].Ground, list[l].DarkGround = median(value), median(dark)
		}
	}
	return list
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
	each := 0.0
	for _, l := range m.Layers {
		each += float64(len(l.Weights)) / float64(l.Resolution*l.Resolution)
	}
	b.ReportMetric(each*w*h/least.Seconds()/1e9, "GMAC/s")
}
