package compute

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"blik/processing"
)

// fake is a device that says what becomes of it.
type fake struct {
	name   string
	mu     sync.Mutex
	runs   int
	pixels int
	closed int
	notice *processing.Text
}

func (f *fake) Run(ctx context.Context, pixels int, job func(context.Context, processing.Backend) error) (*processing.Text, error) {
	f.mu.Lock()
	f.runs++
	f.pixels = pixels
	f.mu.Unlock()
	return f.notice, job(ctx, nil)
}
func (f *fake) Name() string { return f.name }
func (f *fake) Why() error   { return nil }
func (f *fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}

func (f *fake) count() (runs, closed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.runs, f.closed
}

func nothing(context.Context, processing.Backend) error { return nil }

// choose chooses a device and waits until it is open.
func choose(s *Slot, name string) {
	opened := make(chan struct{})
	s.Choose(name, func() { close(opened) })
	<-opened
}

func TestRunWaitsForTheDevice(t *testing.T) {
	f, gate := &fake{name: "cuda:0", notice: &processing.Text{EN: "told"}}, make(chan struct{})
	s := NewSlot(func(context.Context, string) (Runner, error) {
		<-gate
		return f, nil
	}, time.Minute)
	s.Choose("auto", nil)
	if got := s.State(); !got.Opening || got.Chosen != "auto" {
		t.Errorf("while it opens: %+v", got)
	}
	time.AfterFunc(20*time.Millisecond, func() { close(gate) })
	notice, err := s.Run(t.Context(), 42, nothing)
	if err != nil || notice != f.notice || f.pixels != 42 {
		t.Errorf("%v, %v, %d pixels", notice, err, f.pixels)
	}
	if got := s.State(); got != (State{Chosen: "auto", Runs: "cuda:0"}) {
		t.Errorf("when it is open: %+v", got)
	}
	if err := s.Close(t.Context()); err != nil || f.closed != 1 {
		t.Errorf("closed %d times: %v", f.closed, err)
	}
}

// A driver that hangs while it is opened costs a job the patience, or less when the user cancels.
func TestRunDoesNotWaitForEver(t *testing.T) {
	gate := make(chan struct{})
	s := NewSlot(func(context.Context, string) (Runner, error) {
		<-gate
		return nil, errors.New("late")
	}, 30*time.Millisecond)
	s.Choose("cuda:0", nil)
	name := ""
	notice, err := s.Run(t.Context(), 1, func(_ context.Context, b processing.Backend) error {
		name = b.Name()
		return nil
	})
	if err != nil || name != "cpu" || notice == nil || !strings.Contains(notice.EN, "does not answer") || notice.RU == "" {
		t.Errorf("on %q: %v, %v", name, notice, err)
	}
	// The next job does not wait again for what one has waited for.
	s.patience = time.Hour
	s.now.chosen = time.Now().Add(-2 * time.Hour)
	if notice, err := s.Run(t.Context(), 1, nothing); err != nil || notice == nil {
		t.Errorf("the next job: %v, %v", notice, err)
	}
	s.now.chosen = time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(ctx, 1, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	hanging, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Close(hanging); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("closing waits for a driver that hangs: %v", err)
	}
	close(gate)
	s.all.Wait()
}

func TestRunGoesOnWithoutTheDevice(t *testing.T) {
	s := NewSlot(func(context.Context, string) (Runner, error) { return nil, errors.New("burnt") }, time.Minute)
	choose(s, "cuda:3")
	failed := errors.New("the job's own")
	for _, want := range []error{nil, failed} {
		notice, err := s.Run(t.Context(), 1, func(_ context.Context, b processing.Backend) error {
			if b.Name() != "cpu" {
				t.Errorf("it runs on %s", b.Name())
			}
			return want
		})
		if !errors.Is(err, want) || notice == nil || !strings.Contains(notice.EN, "burnt") {
			t.Errorf("%v, %v", notice, err)
		}
	}
	if got := s.State(); got.Runs != "cpu" || got.Why == nil {
		t.Errorf("%+v", got)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWithoutAChoice(t *testing.T) {
	s := NewSlot(nil, time.Minute)
	if notice, err := s.Run(t.Context(), 1, func(_ context.Context, b processing.Backend) error {
		if b.Name() != "cpu" {
			t.Errorf("it runs on %s", b.Name())
		}
		return nil
	}); notice != nil || err != nil {
		t.Errorf("%v, %v", notice, err)
	}
	if got := s.State(); got != (State{Runs: "cpu"}) {
		t.Errorf("%+v", got)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A device is given back once, after the last job on it, whatever is chosen meanwhile.
func TestChooseWhileAJobRuns(t *testing.T) {
	devices := map[string]*fake{"a": {name: "a"}, "b": {name: "b"}}
	s := NewSlot(func(_ context.Context, name string) (Runner, error) { return devices[name], nil }, time.Minute)
	choose(s, "a")
	started, gate, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_, err := s.Run(t.Context(), 1, func(context.Context, processing.Backend) error {
			close(started)
			<-gate
			return nil
		})
		ended <- err
	}()
	<-started
	choose(s, "b")
	if _, err := s.Run(t.Context(), 1, nothing); err != nil {
		t.Fatal(err)
	}
	if runs, closed := devices["a"].count(); runs != 1 || closed != 0 {
		t.Errorf("a: %d runs, closed %d times under a job", runs, closed)
	}
	if runs, _ := devices["b"].count(); runs != 1 {
		t.Errorf("b: %d runs", runs)
	}
	close(gate)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, f := range devices {
		if _, closed := f.count(); closed != 1 {
			t.Errorf("%s closed %d times", f.name, closed)
		}
	}
}

// Closing waits for the job that runs, since the device is not given back before.
func TestCloseWhileAJobRuns(t *testing.T) {
	f := &fake{name: "a"}
	s := NewSlot(func(context.Context, string) (Runner, error) { return f, nil }, time.Minute)
	choose(s, "a")
	started, gate := make(chan struct{}), make(chan struct{})
	go s.Run(t.Context(), 1, func(context.Context, processing.Backend) error {
		close(started)
		<-gate
		return nil
	})
	<-started
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Close(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("under a job: %v", err)
	}
	close(gate)
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, closed := f.count(); closed != 1 {
		t.Errorf("closed %d times", closed)
	}
}

// Devices that are chosen and left before they are open are given back all the same.
func TestChooseInQuickSuccession(t *testing.T) {
	var mu sync.Mutex
	var all []*fake
	s := NewSlot(func(_ context.Context, name string) (Runner, error) {
		time.Sleep(time.Millisecond)
		f := &fake{name: name}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, f)
		return f, nil
	}, time.Minute)
	for range 20 {
		s.Choose("x", nil)
	}
	if _, err := s.Run(t.Context(), 1, nothing); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(all) != 20 {
		t.Errorf("%d devices opened, 20 chosen", len(all))
	}
	for _, f := range all {
		if _, closed := f.count(); closed != 1 {
			t.Errorf("closed %d times", closed)
		}
	}
}

func TestDevice(t *testing.T) {
	r, err := Device(t.Context(), "cpu")
	if err != nil {
		t.Fatal(err)
	}
	if r.Name() != "cpu" || r.Close() != nil {
		t.Errorf("opened %s", r.Name())
	}
	if r, err := Device(t.Context(), "nonsense"); r != nil || err == nil {
		t.Errorf("%v, %v", r, err)
	}
}
