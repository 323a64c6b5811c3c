package cpu

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blik/internal/test/cancelling"
	"blik/internal/test/optest"
	"blik/processing"
)

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

func TestUploadHost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := size(t)
		src := noise[uint16](t, w*h, math.MaxUint16)
		each(t, func(b *Backend) {
			p := up(t, b, w, h, src)
			host, err := b.Host(context.Background(), p)
			must(t, err)
			wantEqual(t, "host", w, host.U16, src)
			release(p)
		})
	})
}

func TestEveryOperationIsAnswered(t *testing.T) {
	b := New(Workers(2))
	t.Run("all", func(t *testing.T) { optest.Answered(t, b) })
	if planes, bytes := b.Live(); planes != 0 || bytes != 0 {
		t.Errorf("%d planes of %d bytes are not released", planes, bytes)
	}
}

// job is something that a backend does under a context.
type job struct {
	name string
	run  func(ctx context.Context) error
}

// cancellable are the operations and an upload.
func cancellable(b *Backend, s *scene) []job {
	jobs := []job{{"Upload", func(ctx context.Context) error {
		return b.Upload(ctx, s.out8, processing.Samples{U8: s.pic.U8[:s.w*s.h]})
	}}}
	for _, op := range operations(s) {
		jobs = append(jobs, job{op.name, func(ctx context.Context) error { return b.Do(ctx, op.op) }})
	}
	return jobs
}

// An operation that is cancelled reports that wherever it is, checks its context often enough, and stops when asked.
func TestCancel(t *testing.T) {
	const w, h = 1100, 900
	b := New(Workers(2))
	s := newScene(t, b, w, h)
	ops := cancellable(b, s)
	for _, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			looks := 0
			// Once with tiles as large as the picture, so that only the checks inside a task count.
			for _, c := range []tiling{{span: spanPixels, tile: w, rows: h, strip: w, ring: 1 << 30, narrow: 1, wide: 1 << 30}, defaultTiling()} {
				b.tiling = c
				all := cancelling.After(1 << 40)
				must(t, op.run(all))
				looks = 1<<40 - int(all.Left.Load())
				if least := w * h / (4 * spanPixels); looks < least {
					t.Errorf("looked at its context %d times for %d pixels, want at least %d times", looks, w*h, least)
				}
			}
			for n := 0; n < looks-3; n += 1 + looks/4 {
				c := cancelling.After(n)
				if err := op.run(c); !errors.Is(err, context.Canceled) {
					t.Fatalf("cancelled at look %d of %d: error %v", n, looks, err)
				}
				// Each worker notices once, and the end reports it; passes that follow do not begin.
				if after := c.After.Load(); after > 12 {
					t.Errorf("cancelled at look %d of %d, and looked %d times more", n, looks, after)
				}
			}
		})
	}
}

// A thin picture can be cancelled like any other.
func TestCancelThin(t *testing.T) {
	for _, size := range [][2]int{{1, 60000}, {60000, 1}} {
		b := New(Workers(2))
		s := newScene(t, b, size[0], size[1])
		for _, op := range cancellable(b, s) {
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
	start := time.Now()
	outer := b.Stage("outer")
	first := b.Stage("inner")
	time.Sleep(2 * time.Millisecond)
	first()
	first()
	b.Stage("inner")()
	times := b.Timings()
	if len(times) != 1 || times[0].Name != "inner" || times[0].Time < 2*time.Millisecond ||
		times[0].Time > time.Since(start) {
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
