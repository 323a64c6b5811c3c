package device

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"blik/cuda/driver"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/cpu"
)

// counted is a GPU that counts how often it is closed.
type counted struct {
	processing.Backend
	closed *atomic.Int32
}

func (c counted) Name() string { return "cuda:0" }
func (c counted) Close() error { c.closed.Add(1); return c.Backend.Close() }

// gpuSwitch is a Switch on a machine with GPUs that open opens.
func gpuSwitch(open func(ordinal int) (processing.Backend, error)) *Switch {
	return &Switch{machine: machine{
		gpus:     func() ([]Device, error) { return []Device{{Name: "cuda:0"}}, nil },
		open:     open,
		patience: time.Minute,
	}}
}

// choose chooses a device and waits until it is open.
func choose(s *Switch, name string) {
	opened := make(chan struct{})
	s.Choose(name, func() { close(opened) })
	<-opened
}

func nothing(context.Context, processing.Backend) error { return nil }

// switchedTo returns what a job runs on.
func switchedTo(t *testing.T, s *Switch) (name string, notice *message.Message) {
	t.Helper()
	notice, err := s.Run(t.Context(), 1, func(_ context.Context, b processing.Backend) error {
		name = b.Name()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return name, notice
}

func TestSwitchWaitsForTheDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := new(atomic.Int32)
		s := gpuSwitch(func(int) (processing.Backend, error) {
			time.Sleep(time.Second)
			return counted{cpu.New(), closed}, nil
		})
		s.Choose("cuda:0", nil)
		if got := s.State(); got != (State{Opening: true, Runs: "cpu"}) {
			t.Errorf("while it opens: %+v", got)
		}
		if name, notice := switchedTo(t, s); name != "cuda:0" || notice != nil {
			t.Errorf("the job ran on %s: %v", name, notice)
		}
		if got := s.State(); got != (State{Runs: "cuda:0"}) {
			t.Errorf("when it is open: %+v", got)
		}
		if err := s.Close(t.Context()); err != nil || closed.Load() != 1 {
			t.Errorf("closed %d times: %v", closed.Load(), err)
		}
	})
}

// A driver that hangs while a device is opened delays only one job, by patience, or less if the user cancels.
func TestSwitchToADriverThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		s := gpuSwitch(func(int) (processing.Backend, error) {
			<-gate
			return nil, errors.New("late")
		})
		s.Choose("cuda:0", nil)
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Run(cancelled, 1, nothing); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		for i, want := range []time.Duration{time.Minute, 0} {
			start := time.Now()
			name, notice := switchedTo(t, s)
			if name != "cpu" || notice == nil || !strings.Contains(notice.String(), "does not respond") {
				t.Errorf("job %d ran on %s: %v", i+1, name, notice)
			}
			if took := time.Since(start); took != want {
				t.Errorf("job %d waited %v, want %v", i+1, took, want)
			}
		}
		hanging, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Close(hanging); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closing does not wait for a driver that hangs: %v", err)
		}
		close(gate)
		s.open.Wait()
	})
}

// If a device cannot be opened, every job runs on the CPU, and the notice says so.
func TestSwitchToAMissingDevice(t *testing.T) {
	s := gpuSwitch(func(int) (processing.Backend, error) { return nil, &driver.Problem{Reason: driver.NoMemory} })
	for name, want := range map[string]string{"cuda:3": "memory", "nonsense": "must be"} {
		choose(s, name)
		failed := errors.New("the job's own")
		for _, result := range []error{nil, failed} {
			notice, err := s.Run(t.Context(), 1, func(_ context.Context, b processing.Backend) error {
				if b.Name() != "cpu" {
					t.Errorf("it runs on %s", b.Name())
				}
				return result
			})
			if !errors.Is(err, result) || notice == nil || !strings.Contains(notice.String(), want) {
				t.Errorf("%s: %v, %v", name, notice, err)
			}
		}
		if got := s.State(); got.Runs != "cpu" || got.Reason == nil {
			t.Errorf("%+v", got)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSwitchWithoutAChoice(t *testing.T) {
	s := NewSwitch()
	if name, notice := switchedTo(t, s); name != "cpu" || notice != nil {
		t.Errorf("%s, %v", name, notice)
	}
	if got := s.State(); got != (State{Runs: "cpu"}) {
		t.Errorf("%+v", got)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A device is released once, after its last job, whatever is chosen meanwhile; Close waits for the job.
func TestSwitchWhileAJobRuns(t *testing.T) {
	closed := [2]*atomic.Int32{new(atomic.Int32), new(atomic.Int32)}
	s := gpuSwitch(func(ordinal int) (processing.Backend, error) { return counted{cpu.New(), closed[ordinal]}, nil })
	choose(s, "cuda:0")
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
	choose(s, "cuda:1")
	switchedTo(t, s)
	if n := closed[0].Load(); n != 0 {
		t.Errorf("closed %d times under a job", n)
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(impatient); !errors.Is(err, context.Canceled) {
		t.Errorf("closed under a job: %v", err)
	}
	close(gate)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for i, n := range closed {
		if n.Load() != 1 {
			t.Errorf("GPU %d was closed %d times", i, n.Load())
		}
	}
}

// Devices that are replaced before they are open are still released.
func TestSwitchInQuickSuccession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened, closed := new(atomic.Int32), new(atomic.Int32)
		s := gpuSwitch(func(int) (processing.Backend, error) {
			time.Sleep(time.Millisecond)
			opened.Add(1)
			return counted{cpu.New(), closed}, nil
		})
		for range 20 {
			s.Choose("cuda:0", nil)
		}
		if name, _ := switchedTo(t, s); name != "cuda:0" {
			t.Errorf("the job ran on %s", name)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if opened.Load() != 20 || closed.Load() != 20 {
			t.Errorf("%d devices opened, %d closed, 20 chosen", opened.Load(), closed.Load())
		}
	})
}
