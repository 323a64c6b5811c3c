package device

import (
	"context"
	"errors"
	"strings"
	"testing"

	"blik/app/i18n"
	"blik/cuda/driver"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]choice{
		"": {auto: true, gpu: true}, "auto": {auto: true,
			gpu: true}, "cpu": {}, "cuda": {gpu: true}, "cuda:0": {gpu: true}, "cuda:12": {gpu: true, ordinal: 12},
	} {
		if got, err := parse(name); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", name, got, err, want)
		}
	}
	for _, name := range []string{"gpu", "cuda:", "cuda:x", "cuda:-1", "CPU", "cpu:0"} {
		if got, err := parse(name); err == nil {
			t.Errorf("%q: %+v, want an error", name, got)
		}
	}
}

func TestCPU(t *testing.T) {
	r, err := Open(context.Background(), "cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Name() != "cpu" || r.Reason() != nil {
		t.Errorf("the device is %s, %v", r.Name(), r.Reason())
	}
	failed := errors.New("a job's own")
	notice, err := r.Run(context.Background(), 1, func(_ context.Context, b processing.Backend) error {
		if b.Name() != "cpu" || r.Name() != "cpu" || r.Reason() != nil {
			t.Errorf("the job runs on %s, the runner says %s, %v", b.Name(), r.Name(), r.Reason())
		}
		return failed
	})
	if notice != nil || !errors.Is(err, failed) {
		t.Errorf("%v, %v", notice, err)
	}
}

// broken is a GPU whose operations fail with err; everything else runs on the CPU.
type broken struct {
	processing.Backend
	err    error
	closed int
}

func (b *broken) Name() string { return "cuda:0" }
func (b *broken) Close() error { b.closed++; return b.Backend.Close() }

func (b *broken) Do(ctx context.Context, op processing.Op) error {
	switch op.(type) {
	case processing.BoxMean, processing.Glints:
		return b.err
	}
	return b.Backend.Do(ctx, op)
}

func grey(n int) *processing.Picture {
	p := &processing.Picture{Width: n, Height: n, Channels: 1, U8: make([]uint8, n*n)}
	for i := range p.U8 {
		p.U8[i] = uint8(60 + i%7)
	}
	for _, at := range []int{n*n/2 + n/2, n*n/4 + n/3} {
		for _, d := range []int{0, 1, n, n + 1} {
			p.U8[at+d] = 255
		}
	}
	return p
}

// fallback is what becomes of a job whose GPU fails with err: the device that ends it, that of the next job, and what
// the user reads.
type fallback struct {
	err                error
	device, next, says string
}

// check searches the picture on gpu, which is or embeds failing.
func (c fallback) check(t *testing.T, pic *processing.Picture, want *detect.Result, gpu processing.Backend, failing *broken) {
	t.Helper()
	failing.err = c.err
	r := &Runner{machine: thisMachine(), gpu: gpu, host: cpu.New()}
	var got *detect.Result
	notice, err := r.Run(t.Context(), pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) (err error) {
		got, err = detect.Detect(ctx, b, pic, classic(), detect.Options{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Mask.Pix) != string(want.Mask.Pix) || got.Device != c.device {
		t.Errorf("%v: another result, from %s", c.err, got.Device)
	}
	if notice == nil || !strings.Contains(notice.String(), c.says) {
		t.Errorf("%v: the user reads %v", c.err, notice)
	}
	if r.Name() != c.next {
		t.Errorf("%v: the next job runs on %s, want %s", c.err, r.Name(), c.next)
	}
	if err := r.Close(); err != nil || failing.closed != 1 {
		t.Errorf("%v: closed %d times: %v", c.err, failing.closed, err)
	}
}

// onHost searches a picture on the CPU.
func onHost(t *testing.T, pic *processing.Picture) *detect.Result {
	t.Helper()
	r, err := detect.Detect(t.Context(), cpu.New(), pic, classic(), detect.Options{})
	if err != nil || r.Mask.Area() == 0 {
		t.Fatalf("%v, nothing is found on the CPU", err)
	}
	return r
}

func TestRunFallsBack(t *testing.T) {
	pic := grey(90)
	want := onHost(t, pic)
	for _, c := range []fallback{
		{&driver.Problem{Reason: driver.Fault, Code: 700, Detail: "wait for the GPU"}, "cpu", "cpu", "error 700"},
		{&driver.Problem{Reason: driver.NoMemory, Code: 2}, "cpu", "cuda:0", "memory"},
		{&driver.Problem{Reason: driver.TooLarge}, "cpu", "cuda:0", "too large"},
	} {
		gpu := &broken{Backend: cpu.New()}
		c.check(t, pic, want, gpu, gpu)
	}
}

// low is a GPU whose planes have at most 80 rows.
type low struct{ broken }

func (g *low) Alloc(kind processing.Kind, w, h int) (processing.Plane, error) {
	if h > 80 {
		return nil, &driver.Problem{Reason: driver.NoMemory, Code: 2}
	}
	return g.Backend.Alloc(kind, w, h)
}

func (g *low) Do(ctx context.Context, op processing.Op) error {
	if _, ok := op.(processing.BoxMean); ok && g.err != nil {
		return g.err
	}
	return g.Backend.Do(ctx, op)
}

// A picture that is too large for the GPU is processed there in bands, or on the CPU if that fails as well.
func TestRunInBands(t *testing.T) {
	ctx := context.Background()
	pic := grey(150)
	want := onHost(t, pic)
	for _, c := range []fallback{
		{nil, "cuda:0", "cuda:0", "in bands"},
		{&driver.Problem{Reason: driver.NoMemory, Code: 2}, "cpu", "cuda:0", "the CPU was used"},
		{&driver.Problem{Reason: driver.Fault, Code: 700, Detail: "wait for the GPU"}, "cpu", "cpu", "error 700"},
	} {
		gpu := &low{broken{Backend: cpu.New()}}
		c.check(t, pic, want, gpu, &gpu.broken)
	}
	// A cancelled job is not repeated.
	ctx, cancel := context.WithCancel(ctx)
	r := &Runner{machine: thisMachine(), gpu: &low{broken{Backend: cpu.New()}}, host: cpu.New()}
	defer r.Close()
	runs := 0
	notice, err := r.Run(ctx, 150*150, func(ctx context.Context, b processing.Backend) error {
		if runs++; runs == 2 {
			cancel()
		}
		_, err := detect.Detect(ctx, b, pic, classic(), detect.Options{})
		return err
	})
	if notice != nil || !errors.Is(err, context.Canceled) || runs != 2 {
		t.Errorf("%v, %v, %d runs", notice, err, runs)
	}
}

// Errors that are not the device's fault are returned.
func TestRunKeepsOtherErrors(t *testing.T) {
	r := &Runner{gpu: &broken{Backend: cpu.New()}, host: cpu.New()}
	defer r.Close()
	runs := 0
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	notice, err := r.Run(ctx, 90*90, func(ctx context.Context, b processing.Backend) error {
		runs++
		return ctx.Err()
	})
	if notice != nil || !errors.Is(err, context.Canceled) || runs != 1 {
		t.Errorf("%v, %v, %d runs", notice, err, runs)
	}
}

func TestExplainIsOneSentence(t *testing.T) {
	errs := []error{errors.New("something else")}
	for r := driver.NotBuilt; r <= driver.Fault; r++ {
		errs = append(errs, &driver.Problem{Reason: r}, &driver.Problem{Reason: r, Code: 7, Detail: "a detail"})
	}
	for _, err := range errs {
		text, done := Explain(err), doneOnCPU(err)
		for _, s := range []string{text.String(), i18n.For("ru").Sprint(text), done.String(),
			i18n.For("ru").Sprint(*done)} {
			if !strings.HasSuffix(s, ".") || strings.Contains(s, ". ") || strings.Contains(s, "\n") {
				t.Errorf("%#v: %q is not a sentence", err, s)
			}
		}
	}
}

func TestListBeginsWithTheCPU(t *testing.T) {
	list, err := List()
	if len(list) == 0 || list[0].Name != "cpu" {
		t.Fatalf("%v", list)
	}
	if (len(list) > 1) != (err == nil) {
		t.Errorf("%d devices, but the reason for none is %v", len(list), err)
	}
}

// classic returns parameters of the classical search, the only detector whose operations the failing devices of these
// tests support.
func classic() processing.Params {
	p := processing.DefaultParams()
	p.Detector = processing.DetectorClassic
	return p
}
