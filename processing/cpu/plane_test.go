package cpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blik/processing"
)

func TestAllocRefuses(t *testing.T) {
	b := New()
	for _, c := range []struct {
		kind processing.Kind
		w, h int
	}{{9, 1, 1}, {processing.U8, 0, 1}, {processing.U8, 1, 0}, {processing.U8, -3, 4}, {processing.F32, 1 << 20, 1 << 20},
		{processing.U8, 1 << 62, 1 << 62}} {
		if p, err := b.Alloc(c.kind, c.w, c.h); err == nil {
			t.Errorf("%v: got %v, want an error", c, p)
		}
	}
	if planes, bytes := b.Live(); planes != 0 || bytes != 0 {
		t.Errorf("%d planes of %d bytes are alive after refusals", planes, bytes)
	}
}

func TestPool(t *testing.T) {
	b := New()
	first := empty(t, b, processing.U16, 6, 4)
	memory := &first.(*plane).data.U16[0]
	if planes, bytes := b.Live(); planes != 1 || bytes != 48 {
		t.Errorf("%d planes of %d bytes are alive, want 1 of 48", planes, bytes)
	}
	first.Release()
	first.Release()
	if planes, bytes := b.Live(); planes != 0 || bytes != 0 {
		t.Errorf("%d planes of %d bytes are alive after a double release", planes, bytes)
	}
	other := empty(t, b, processing.U8, 6, 4)
	again := empty(t, b, processing.U16, 4, 6)
	if &again.(*plane).data.U16[0] != memory {
		t.Error("the memory of a released plane of the same number of samples was not used again")
	}
	fresh := empty(t, b, processing.U16, 6, 4)
	if &fresh.(*plane).data.U16[0] == memory {
		t.Error("two living planes share memory")
	}
	again.Release()
	empty(t, b, processing.U16, 5, 5).Release()
	third := empty(t, b, processing.U16, 6, 4)
	if &third.(*plane).data.U16[0] == memory {
		t.Error("memory of another picture's size was kept")
	}
	release(other, fresh, third)
	must(t, b.Close())
	if _, err := b.Alloc(processing.U8, 6, 4); err == nil {
		t.Error("a closed backend gave a plane")
	}
}

func TestUploadHostGather(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := size(t)
		src := noise[uint32](t, w*h, 1<<32-1)
		index := rapid.SliceOf(rapid.Uint32Range(0, uint32(w*h-1))).Draw(t, "index")
		want := make([]uint32, len(index))
		for i, j := range index {
			want[i] = src[j]
		}
		each(t, func(b *Backend) {
			p := up(t, b, w, h, src)
			host, err := b.Host(context.Background(), p)
			must(t, err)
			wantEqual(t, "host", w, host.U32, src)
			got := make([]uint32, len(index))
			must(t, b.Gather(context.Background(), got, p, index))
			if !slices.Equal(got, want) {
				t.Fatalf("gathered %v, want %v", got, want)
			}
			release(p)
		})
	})
	b := New()
	ctx := context.Background()
	p8, p16 := up(t, b, 2, 2, []uint8{1, 2, 3, 4}), up(t, b, 2, 2, []uint16{10, 20, 30, 40})
	got := make([]uint32, 2)
	must(t, b.Gather(ctx, got, p8, []uint32{3, 0}))
	if !slices.Equal(got, []uint32{4, 1}) {
		t.Errorf("gathered %v from U8", got)
	}
	must(t, b.Gather(ctx, got, p16, []uint32{2, 2}))
	if !slices.Equal(got, []uint32{30, 30}) {
		t.Errorf("gathered %v from U16", got)
	}
}

// Every misuse is answered with an error that names the operation, and no panic.
func TestRefuses(t *testing.T) {
	b, other := New(Workers(2)), New()
	ctx := context.Background()
	u8, u16, f32 := empty(t, b, processing.U8, 5, 4), empty(t, b, processing.U16, 5, 4), empty(t, b, processing.F32, 5, 4)
	u8b, u16b, f32b := empty(t, b, processing.U8, 5, 4), empty(t, b, processing.U16, 5, 4), empty(t, b, processing.F32, 5, 4)
	u32, small := empty(t, b, processing.U32, 5, 4), empty(t, b, processing.U8, 4, 5)
	foreign, gone := empty(t, other, processing.U8, 5, 4), empty(t, b, processing.U8, 5, 4)
	gone.Release()
	var none *plane
	square := processing.Square(1)
	third := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"morph: no plane":           b.Morph(ctx, nil, u8, processing.Erode, square),
		"morph: nil plane":          b.Morph(ctx, u8, none, processing.Erode, square),
		"morph: foreign":            b.Morph(ctx, u8, foreign, processing.Erode, square),
		"morph: released":           b.Morph(ctx, gone, u8, processing.Erode, square),
		"morph: sizes":              b.Morph(ctx, small, u8, processing.Erode, square),
		"morph: kinds":              b.Morph(ctx, u16, u8, processing.Erode, square),
		"morph: kind":               b.Morph(ctx, u32, u32, processing.Erode, square),
		"morph: even":               b.Morph(ctx, u8b, u8, processing.Erode, processing.Element{Size: 2, Size2: 1}),
		"morph: even height":        b.Morph(ctx, u8b, u8, processing.Erode, processing.Element{Size: 1, Size2: 4}),
		"morph: zero":               b.Morph(ctx, u8b, u8, processing.Erode, processing.Element{}),
		"morph: operation":          b.Morph(ctx, u8b, u8, 77, square),
		"morph: direction":          b.Morph(ctx, u8b, u8, processing.Erode, processing.Element{Direction: 9, Size: 3}),
		"box mean: kinds":           b.BoxMean(ctx, u8, u16, 1),
		"box mean: radius":          b.BoxMean(ctx, u8b, u8, -1),
		"box mean: same":            b.BoxMean(ctx, u8, u8, 1),
		"box count: radius":         b.BoxCount(ctx, u16, u8, 1, 128),
		"box count: kind":           b.BoxCount(ctx, u8b, u8, 1, 1),
		"mean and variance: radius": b.MeanVariance(ctx, f32, f32b, u8, 128),
		"mean and variance: kind":   b.MeanVariance(ctx, f32, f32b, u32, 2),
		"mean and variance: same":   b.MeanVariance(ctx, f32, f32, u8, 2),
		"guard ring: order":         b.GuardRing(ctx, f32, u8, 3, 2, 5, 0),
		"guard ring: no ring":       b.GuardRing(ctx, f32, u8, 1, 5, 5, 0),
		"guard ring: outer":         b.GuardRing(ctx, f32, u8, 1, 5, 128, 0),
		"guard ring: negative":      b.GuardRing(ctx, f32, u8, -1, 5, 12, 0),
		"guard ring: noise":         b.GuardRing(ctx, f32, u8, 1, 5, 12, -1),
		"background: no radius":     b.Background(ctx, u16b, u16, u8, nil),
		"background: descending":    b.Background(ctx, u16b, u16, u8, []int{5, 3}),
		"background: radius":        b.Background(ctx, u16b, u16, u8, []int{-1}),
		"background: same":          b.Background(ctx, u16, u16, u8, []int{1}),
		"background: no exclusion":  b.Background(ctx, u16b, u16, nil, []int{1}),
		"deviation: radius":         b.Deviation(ctx, u16b, u16, u8, 128),
		"deviation: same":           b.Deviation(ctx, u16, u16, u8, 1),
		"contrast: kinds":           b.Contrast(ctx, u8, u8b, u16, u16b, u8, processing.ContrastRule{}),
		"cores: kinds":              b.Cores(ctx, u16, u16, u16b, u16, processing.CoreRule{}),
		"threshold: kind":           b.Threshold(ctx, u8, f32, 1),
		"excess: kind":              b.Excess(ctx, u16, u16, u16b, u8, 1, 1),
		"gaussian: negative":        b.Gaussian(ctx, u8b, u8, -1),
		"gaussian: kinds":           b.Gaussian(ctx, u8b, u16, 1),
		"gaussian: same":            b.Gaussian(ctx, u8, u8, 1),
		"wavelet: kind":             b.Wavelet(ctx, u8b, u8, processing.Haar),
		"wavelet: unknown":          b.Wavelet(ctx, f32, u8, 7),
		"wavelet: same":             b.Wavelet(ctx, f32, f32, processing.Haar),
		"inverse wavelet: kind":     b.InverseWavelet(ctx, f32, u8, processing.Haar),
		"inverse wavelet: unknown":  b.InverseWavelet(ctx, f32b, f32, 7),
		"starlet: twice":            b.Starlet(ctx, []processing.Plane{f32}, f32, u8),
		"starlet: source":           b.Starlet(ctx, []processing.Plane{f32}, f32b, f32),
		"starlet: no smooth":        b.Starlet(ctx, []processing.Plane{f32}, nil, u8),
		"starlet: nil band":         b.Starlet(ctx, []processing.Plane{nil}, f32, u8),
		"starlet band: level":       b.StarletBand(ctx, u16, u8, 4),
		"starlet band: kind":        b.StarletBand(ctx, u8b, u8, 1),
		"noise tiles: tile":         third(b.NoiseTiles(ctx, u8, 1)),
		"noise tiles: kind":         third(b.NoiseTiles(ctx, f32, 8)),
		"histogram: kind":           third(b.Histogram(ctx, f32, nil)),
		"histogram: exclusion":      third(b.Histogram(ctx, u8, small)),
		"moments: no plane":         third(b.Moments(ctx, nil)),
		"upload: length":            b.Upload(ctx, u8, processing.Samples{U8: make([]uint8, 19)}),
		"upload: kind":              b.Upload(ctx, u8, processing.Samples{U16: make([]uint16, 20)}),
		"host: foreign":             third(b.Host(ctx, foreign)),
		"gather: room":              b.Gather(ctx, make([]uint32, 1), u8, []uint32{1, 2}),
		"gather: outside":           b.Gather(ctx, make([]uint32, 1), u8, []uint32{20}),
		"gather: kind":              b.Gather(ctx, make([]uint32, 1), f32, []uint32{1}),
		"luma: no picture":          b.Luma(ctx, u16, u8, nil, nil),
	} {
		op, _, _ := strings.Cut(name, ":")
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if !strings.HasPrefix(err.Error(), "cpu: "+op+": ") {
			t.Errorf("%s: the error %q does not begin with the operation", name, err)
		}
	}
}

// countdown is a context that is cancelled when it has been looked at so many times.
type countdown struct {
	context.Context
	left  atomic.Int64
	after atomic.Int64
}

func newCountdown(n int) *countdown {
	c := &countdown{Context: context.Background()}
	c.left.Store(int64(n))
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	c.after.Add(1)
	return context.Canceled
}

// An operation that is cancelled says so wherever it is, looks at its context often enough, and stops when told to.
func TestCancel(t *testing.T) {
	const w, h = 1100, 900
	b := New(Workers(2))
	s := newScene(t, b, w, h)
	ops := operations(b, s)
	for _, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			looks := 0
			// Once with tiles as large as the picture, so that the looks are those inside a task.
			for _, c := range []cut{{span: spanPixels, tile: w, rows: h, strip: w, ring: 1 << 30}, usualCut()} {
				b.cut = c
				all := newCountdown(1 << 40)
				must(t, op.run(all))
				looks = 1<<40 - int(all.left.Load())
				if least := w * h / (4 * spanPixels); looks < least {
					t.Errorf("looked at its context %d times for %d pixels, want at least %d times", looks, w*h, least)
				}
			}
			for n := 0; n < looks-3; n += 1 + looks/4 {
				c := newCountdown(n)
				if err := op.run(c); !errors.Is(err, context.Canceled) {
					t.Fatalf("cancelled at look %d of %d: error %v", n, looks, err)
				}
				// Each worker notices once, and the end reports it; passes that follow are not begun.
				if after := c.after.Load(); after > 12 {
					t.Errorf("cancelled at look %d of %d, and looked %d times more", n, looks, after)
				}
			}
		})
	}
}

// A thin picture is as long as any other.
func TestCancelThin(t *testing.T) {
	for _, size := range [][2]int{{1, 60000}, {60000, 1}} {
		b := New(Workers(2))
		s := newScene(t, b, size[0], size[1])
		for _, op := range operations(b, s) {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			if err := op.run(ctx); err != nil {
				t.Errorf("%s on %d × %d pixels: %v", op.name, size[0], size[1], err)
			}
			cancel()
		}
	}
}

func TestStages(t *testing.T) {
	b := New()
	outer := b.Stage("outer")
	first := b.Stage("inner")
	time.Sleep(2 * time.Millisecond)
	first()
	first()
	b.Stage("inner")()
	times := b.Timings()
	if len(times) != 1 || times[0].Name != "inner" || times[0].Time < 2*time.Millisecond || times[0].Time > time.Second {
		t.Errorf("stages %v, want the inner one with 2 ms", times)
	}
	outer()
	b.Stage("last")()
	times = b.Timings()
	if len(times) != 2 || times[0].Name != "outer" || times[0].Time < 2*time.Millisecond || times[1].Name != "last" {
		t.Errorf("stages %v, want outer and last", times)
	}
	if times = b.Timings(); len(times) != 0 {
		t.Errorf("stages %v after they were read, want none", times)
	}
}
