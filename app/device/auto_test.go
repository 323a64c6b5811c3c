package device

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blik/app/settings"
	"blik/cuda/driver"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// slow is a GPU on which the first operation on the picture itself takes longer, not those on the reduced pictures,
// which have 16 bits.
type slow struct {
	processing.Backend
	longer settings.Line
}

func (s slow) Name() string { return "cuda:0" }

func (s slow) Do(ctx context.Context, op processing.Op) error {
	if o, ok := op.(processing.Luminance); ok && o.Picture.U8 != nil {
		time.Sleep(s.longer.At(o.Picture.Width * o.Picture.Height))
	}
	return s.Backend.Do(ctx, op)
}

// workshop returns a machine with one GPU, which opens when gate is closed.
func workshop(t *testing.T, gpu processing.Backend) (m machine, gate chan struct{}) {
	gate = make(chan struct{})
	return machine{
		gpus: func() ([]Device, error) { return []Device{{Name: "cuda:0", Title: "A GPU", Driver: "12.8"}}, nil },
		open: func(int) (processing.Backend, error) {
			<-gate
			return gpu, nil
		},
		speeds:   filepath.Join(t.TempDir(), "speeds.json"),
		program:  "this",
		patience: time.Minute,
	}, gate
}

// ranOn runs an empty job on a picture with the given number of pixels, and returns the device.
func ranOn(t *testing.T, r *Runner, pixels int) (name string, notice *message.Message) {
	t.Helper()
	notice, err := r.Run(t.Context(), pixels, func(_ context.Context, b processing.Backend) error {
		name = b.Name()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return name, notice
}

// The first job measures. The measurement is stored, and the next program does not repeat it. With the fake clock time
// passes only during sleeps, so the CPU takes none.
func TestAutoMeasuresOnce(t *testing.T) { synctest.Test(t, autoMeasuresOnce) }

func autoMeasuresOnce(t *testing.T) {
	longer := settings.Line{Fixed: 100 * time.Millisecond, Megapixel: 50 * time.Millisecond}
	m, gate := workshop(t, slow{cpu.New(), longer})
	close(gate)
	for range 2 {
		r, err := m.begin(t.Context(), "auto")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.opened(t.Context()); err != nil {
			t.Fatal(err)
		}
		if name, notice := ranOn(t, r, 1); name != "cpu" || notice != nil {
			t.Errorf("a picture of one pixel ran on %s, %v", name, notice)
		}
		key := settings.SpeedKey{Device: "A GPU", Driver: "12.8", Threads: m.key(Device{}).Threads, Program: "this"}
		s, found := settings.FindSpeed(m.speeds, key)
		if !found || s.CPU != (settings.Line{}) || (s.GPU.Fixed-longer.Fixed).Abs() > time.Microsecond ||
			(s.GPU.Megapixel-longer.Megapixel).Abs() > time.Microsecond {
			t.Fatalf("remembered is %+v, %v", s, found)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		// A GPU that would fail if it were measured again.
		broken := &broken{Backend: cpu.New(), err: &driver.Problem{Reason: driver.Fault, Code: 1}}
		m.open = func(int) (processing.Backend, error) { return broken, nil }
	}
}

func TestAutoChoosesBySize(t *testing.T) {
	m, gate := workshop(t, slow{Backend: cpu.New()})
	close(gate)
	s := settings.Speed{SpeedKey: m.key(Device{Title: "A GPU", Driver: "12.8"}), CPU: settings.Line{Megapixel: 100},
		GPU: settings.Line{Fixed: 50, Megapixel: 50}}
	if err := settings.SaveSpeed(m.speeds, s); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"auto", "cuda:0"} {
		r, err := m.begin(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.opened(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"auto": "cpu", "cuda:0": "cuda:0"}[name]
		if got, _ := ranOn(t, r, 999_999); got != want {
			t.Errorf("%s: a small picture ran on %s", name, got)
		}
		if got, _ := ranOn(t, r, 1_000_000); got != "cuda:0" || r.Name() != "cuda:0" {
			t.Errorf("%s: a large picture ran on %s", name, got)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// While a GPU is being opened, jobs that the CPU can finish sooner run there; the others wait.
func TestAutoWhileTheGPUOpens(t *testing.T) {
	m, gate := workshop(t, slow{Backend: cpu.New()})
	s := settings.Speed{SpeedKey: m.key(Device{Title: "A GPU", Driver: "12.8"}), Open: time.Hour,
		CPU: settings.Line{Megapixel: time.Minute}}
	if err := settings.SaveSpeed(m.speeds, s); err != nil {
		t.Fatal(err)
	}
	r, err := m.begin(t.Context(), "auto")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, notice := ranOn(t, r, 1e6); got != "cpu" || notice != nil {
		t.Errorf("a job of a minute ran on %s, %v", got, notice)
	}
	time.AfterFunc(20*time.Millisecond, func() { close(gate) })
	if got, notice := ranOn(t, r, 1e9); got != "cuda:0" || notice != nil {
		t.Errorf("a job of hours ran on %s, %v", got, notice)
	}
}

// A driver that hangs delays only one job, by patience, and the user is told once.
func TestAutoOfAGPUThatHangs(t *testing.T) {
	m, gate := workshop(t, slow{Backend: cpu.New()})
	m.patience = 30 * time.Millisecond
	r, err := m.begin(t.Context(), "auto")
	if err != nil {
		t.Fatal(err)
	}
	name, notice := ranOn(t, r, math.MaxInt32)
	if name != "cpu" || notice == nil || !strings.HasPrefix(notice.String(), "The GPU does not respond: ") {
		t.Errorf("the job ran on %s, %v", name, notice)
	}
	if name, notice := ranOn(t, r, math.MaxInt32); name != "cpu" || notice != nil || r.Reason() == nil {
		t.Errorf("the next ran on %s, %v", name, notice)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	close(gate)
	<-r.opening.done
	if r.gpu != nil {
		t.Error("a closed runner has a GPU")
	}
}

func TestAutoIsCancelled(t *testing.T) {
	m, gate := workshop(t, slow{Backend: cpu.New()})
	r, err := m.begin(t.Context(), "auto")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	never := func(context.Context, processing.Backend) error {
		t.Error("the job ran")
		return nil
	}
	if notice, err := r.Run(ctx, 1, never); notice != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it opens: %v, %v", notice, err)
	}
	// While it measures.
	close(gate)
	ctx, cancel = context.WithCancel(t.Context())
	<-r.opening.done
	cancel()
	if notice, err := r.Run(ctx, 1, never); notice != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("while it measures: %v, %v", notice, err)
	}
	if _, err := m.begin(ctx, "auto"); !errors.Is(err, context.Canceled) {
		t.Errorf("opened when cancelled: %v", err)
	}
	m, _ = workshop(t, nil)
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := m.begin(ctx, "cuda"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a GPU by name that hangs: %v", err)
	}
}

// A failure during the measurement is reported like a failure of the job.
func TestAutoOfAGPUThatFails(t *testing.T) {
	gpu := &broken{Backend: cpu.New(), err: &driver.Problem{Reason: driver.Fault, Code: 700,
		Detail: "wait for the GPU"}}
	m, gate := workshop(t, gpu)
	close(gate)
	r, err := m.begin(t.Context(), "auto")
	if err != nil {
		t.Fatal(err)
	}
	if name, notice := ranOn(t, r, math.MaxInt32); name != "cpu" || notice == nil ||
		!strings.Contains(notice.String(), "error 700") {
		t.Errorf("the job ran on %s, %v", name, notice)
	}
	if name, notice := ranOn(t, r, math.MaxInt32); name != "cpu" || notice != nil || r.Reason() == nil {
		t.Errorf("the next ran on %s, %v", name, notice)
	}
	if err := r.Close(); err != nil || gpu.closed != 1 {
		t.Errorf("closed %d times: %v", gpu.closed, err)
	}
}

func TestTrialPictureHasGlare(t *testing.T) {
	b := cpu.New()
	defer b.Close()
	pic := trialPicture(smallTrial)
	res, err := detect.Detect(t.Context(), b, pic, classic(), detect.Options{})
	if err != nil || len(res.Findings) == 0 || pic.Validate() != nil {
		t.Errorf("%v, %v", err, res)
	}
}
