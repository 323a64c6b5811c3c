package banded

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"blik/internal/test/optest"
	"blik/internal/test/testpic"
	"blik/lab/synth"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// paintings are generated paintings with much glare, of 8 and of 16 bits.
var paintings = sync.OnceValues(func() (list [2]*processing.Picture, err error) {
	glare, err := synth.Preset("default")
	if err != nil {
		return list, err
	}
	glare.Density *= 4
	glare.Seed = 5
	for i, depth := range []int{8, 16} {
		clean, err := synth.Paint(background, 121, 400, depth, synth.PaintOptions{Seed: 5, Scene: "coast"})
		if err != nil {
			return list, err
		}
		if list[i], _, _, err = synth.RenderGlare(background, clean, glare); err != nil {
			return list, err
		}
	}
	return list, nil
})

// glaring is a corner of a painting with glare.
func glaring(t testing.TB, w, h, depth int) *processing.Picture {
	t.Helper()
	list, err := paintings()
	must(t, err)
	whole := list[depth/16]
	pic := &processing.Picture{Width: w, Height: h, Channels: whole.Channels, Transfer: whole.Transfer}
	for y := range h {
		i, j := y*whole.Width*whole.Channels, (y*whole.Width+w)*whole.Channels
		if depth == 8 {
			pic.U8 = append(pic.U8, whole.U8[i:j]...)
		} else {
			pic.U16 = append(pic.U16, whole.U16[i:j]...)
		}
	}
	return pic
}

// detects compares detection by bands of the given number of rows with that of the CPU.
func detects(t *testing.T, pic *processing.Picture, p processing.Params, rows int,
	device func(*device)) *detect.Result {
	t.Helper()
	b := newBench(t, pic.Width, pic.Height, rows)
	if device != nil {
		device(b.inner)
	}
	want, err := detect.Detect(background, b.plain, pic, p, detect.Options{Network: testpic.Network()})
	must(t, err)
	got, err := detect.Detect(background, b.Backend, pic, p, detect.Options{Network: testpic.Network()})
	must(t, err)
	b.done()
	sameResult(t, got, want)
	if rows < pic.Height && b.inner.bands == 0 {
		t.Error("there was only one band")
	}
	return want
}

func sameResult(t *testing.T, got, want *detect.Result) {
	t.Helper()
	if !slices.Equal(got.Mask.Pix, want.Mask.Pix) || !reflect.DeepEqual(got.Findings, want.Findings) ||
		!reflect.DeepEqual(got.Chosen, want.Chosen) {
		t.Fatalf("another result: %d pixels of glare, want %d", got.Mask.Area(), want.Mask.Area())
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct{ w, h, depth, rows int }{
		{1, 1, 8, 1}, {1, 1, 16, 5}, {131, 1, 8, 1}, {1, 300, 16, 130}, {63, 65, 8, 65}, {121, 250, 8, 121},
		{121, 250, 16, 150},
	} {
		res := detects(t, glaring(t, c.w, c.h, c.depth), processing.DefaultParams(), c.rows, nil)
		if c.w > 100 && c.h > 100 && len(res.Findings) == 0 {
			t.Error("no glare on a painting with glare: the comparison says nothing")
		}
	}
}

// Every parameter at its minimum and maximum.
func TestDetectParameters(t *testing.T) {
	pic := glaring(t, 21, 400, 8)
	testpic.Extremes(t, func(t *testing.T, p processing.Params) { detects(t, pic, p, 270, nil) })
}

// A device with less memory than expected gets smaller bands, and continues where it was.
func TestSmallerBandsIfMemoryIsShort(t *testing.T) {
	pic := glaring(t, 101, 333, 8)
	detects(t, pic, processing.DefaultParams(), 333, func(d *device) { d.limit = 101 * 333 * 5 })
	detects(t, pic, processing.DefaultParams(), 333, func(d *device) { d.low = true })
	b := newBench(t, 101, 333, 333)
	b.inner.limit = 101 * 20
	_, err := detect.Detect(background, b.Backend, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
	if !b.tooLittle(err) {
		t.Errorf("a device without memory: %v", err)
	}
	b.done()
	b = newBench(t, 101, 333, 20)
	_, err = detect.Detect(background, b.Backend, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
	if !errors.Is(err, ErrMemory) {
		t.Errorf("bands smaller than their halo: %v", err)
	}
	b.done()
}

// If a device fails at any of its calls, the job ends with its error; if it lacks memory once, the job goes on.
func TestFailureOfAnyCall(t *testing.T) {
	pic := glaring(t, 61, 390, 8)
	want, err := detect.Detect(background, cpu.New(), pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
	must(t, err)
	fault := errors.New("the device has gone")
	for n := 1; ; n += 1 + n/8 {
		b := newBench(t, 61, 390, 120)
		b.inner.failAt, b.inner.err = n, fault
		res, err := detect.Detect(background, b.Backend, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
		b.done()
		if b.inner.calls < n {
			sameResult(t, res, want)
			if n < 50 {
				t.Errorf("only %d calls", n)
			}
			return
		}
		if !errors.Is(err, fault) {
			t.Fatalf("call %d: %v", n, err)
		}
		if n%2 == 0 {
			b := newBench(t, 61, 390, 390)
			b.inner.failAt, b.inner.err = n, errFull
			res, err := detect.Detect(background, b.Backend, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
			must(t, err)
			sameResult(t, res, want)
			b.done()
		}
	}
}

func TestCancel(t *testing.T) {
	pic := glaring(t, 121, 133, 8)
	// The classical detector uploads most often.
	p := processing.DefaultParams()
	p.Detector = processing.DetectorClassic
	for n := 1; ; n += 3 {
		ctx, cancel := context.WithCancel(background)
		b := newBench(t, 121, 133, 130)
		d := &cancelling{device: b.inner, after: n, cancel: cancel}
		b.Backend.inner = d
		_, err := detect.Detect(ctx, b.Backend, pic, p, detect.Options{})
		b.done()
		if d.after > 0 {
			cancel()
			if err != nil || n < 30 {
				t.Errorf("fewer than %d uploads, %v", n, err)
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at upload %d: %v", n, err)
		}
	}
}

// cancelling cancels a job at an upload.
type cancelling struct {
	*device
	after  int
	cancel func()
}

func (c *cancelling) Upload(ctx context.Context, dst processing.Plane, src processing.Samples) error {
	if c.after--; c.after == 0 {
		c.cancel()
	}
	return c.device.Upload(ctx, dst, src)
}

// Correction in planes that fit the device, and in planes that do not.
func TestCorrect(t *testing.T) {
	for _, depth := range []int{8, 16} {
		pic := glaring(t, 121, 150, depth)
		p := processing.DefaultParams()
		found, err := detect.Detect(background, cpu.New(), pic, p, detect.Options{Network: testpic.Network()})
		must(t, err)
		want, err := correct.Correct(background, cpu.New(), pic, found.Mask, p, correct.Options{})
		must(t, err)
		if len(want.Patches) == 0 {
			t.Fatal("nothing was corrected: the comparison says nothing")
		}
		for _, rows := range []int{3, 5000} {
			b := newBench(t, 1024, 5000, rows)
			got, err := correct.Correct(background, b.Backend, pic, found.Mask, p, correct.Options{})
			must(t, err)
			if !reflect.DeepEqual(got.Patches, want.Patches) {
				t.Errorf("%d bits, %d rows: another correction", depth, rows)
			}
			if used := b.inner.calls > 0; used != (rows > 3) {
				t.Errorf("%d bits, %d rows: the device was used: %v", depth, rows, used)
			}
			b.done()
		}
	}
}

// Stages are those of a plain run.
func TestTimings(t *testing.T) {
	testpic.Clock(t)
	pic := glaring(t, 101, 333, 8)
	b := newBench(t, 101, 333, 150)
	start := time.Now()
	got, err := detect.Detect(background, b.Backend, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
	took := time.Since(start)
	must(t, err)
	// The CPU fuses some stages unless it is wrapped.
	stepwise := struct{ processing.Backend }{b.plain}
	want, err := detect.Detect(background, stepwise, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
	must(t, err)
	sum := time.Duration(0)
	for i, s := range got.Timings {
		sum += s.Time
		if i >= len(want.Timings) || want.Timings[i].Name != s.Name {
			t.Errorf("stages %v, want %v", got.Timings, want.Timings)
			break
		}
	}
	if sum > took {
		t.Errorf("stages of %v in %v", sum, took)
	}
	if got := b.Timings(); len(got) != 0 {
		t.Errorf("told twice: %v", got)
	}
}

func TestEveryOperationIsAnswered(t *testing.T) {
	b := newBench(t, optest.W, optest.H, 6)
	t.Run("all", func(t *testing.T) { optest.Answered(t, b.Backend) })
	b.done()
}

func TestCancelled(t *testing.T) {
	const w, h = 5, 40
	b := newBench(t, w, h, 9)
	p := b.load(w, h, processing.Samples{U8: ramp(w, h)})
	ctx, cancel := context.WithCancel(background)
	cancel()
	if err := b.Do(ctx, processing.Morph{
		Dst: p, Src: p, Op: processing.Dilate, Element: processing.Square(1),
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	p.Release()
	b.done()
}
