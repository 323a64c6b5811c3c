package device

import (
	"context"
	"errors"
	"sync"

	"blik/internal/message"
	"blik/internal/parallel"
	"blik/processing/cpu"
)

// Switch runs jobs on the device chosen last, initially the CPU. Devices are opened in the background and can be
// switched at any time. The methods may be called from any goroutine; only Run and Close wait.
type Switch struct {
	machine machine

	mu sync.Mutex
	// runner is nil until Choose is called; err is why there is none for the chosen name.
	runner *Runner
	err    error
	// open counts the runners that have not been released.
	open sync.WaitGroup
}

// NewSwitch returns a Switch between the devices of this machine.
func NewSwitch() *Switch { return &Switch{machine: thisMachine()} }

// State describes the device of a Switch.
type State struct {
	// Opening reports whether the device is still being opened.
	Opening bool
	// Runs is the name of the device that the next job on a large picture runs on.
	Runs string
	// Reason is why that is not the device chosen; nil if it is.
	Reason error
}

// hostName is the name of the CPU.
const hostName = "cpu"

// Choose selects the device of the next job and starts to open it. A running job continues where it is; its device is
// released afterwards. opened, which may be nil, is called when the device is open or has failed to open.
func (s *Switch) Choose(name string, opened func()) {
	r, err := s.machine.start(name)
	s.mu.Lock()
	before := s.runner
	s.runner, s.err = r, err
	if r != nil {
		s.open.Add(1)
	}
	s.mu.Unlock()
	s.release(before)
	if opened != nil {
		go func() {
			r.wait()
			opened()
		}()
	}
}

// wait returns when the runner's GPU, if any, is open or has failed to open.
func (r *Runner) wait() {
	if r != nil && r.opening != nil {
		<-r.opening.done
	}
}

// release closes a runner when its job has ended and its GPU has answered.
func (s *Switch) release(r *Runner) {
	if r == nil {
		return
	}
	go func() {
		defer s.open.Done()
		// An error of a device that is no longer needed is of no use.
		_ = r.Close()
		r.wait()
	}()
}

func (s *Switch) current() (*Runner, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runner, s.err
}

// State returns the current state.
func (s *Switch) State() State {
	r, err := s.current()
	if r == nil {
		return State{Runs: hostName, Reason: err}
	}
	if r.opening != nil {
		select {
		case <-r.opening.done:
		default:
			return State{Opening: true, Runs: hostName}
		}
	}
	return State{Runs: r.Name(), Reason: r.Reason()}
}

// Run runs a job on a picture of the given number of pixels on the chosen device; see Runner.Run.
func (s *Switch) Run(ctx context.Context, pixels int, job Job) (notice *message.Message, err error) {
	for {
		r, missing := s.current()
		if r == nil {
			host := cpu.New()
			defer host.Close()
			if missing != nil {
				notice = doneOnCPU(missing)
			}
			return notice, job(ctx, host)
		}
		// Another device may have been chosen before the job began.
		if notice, err = r.Run(ctx, pixels, job); !errors.Is(err, errClosed) {
			return notice, err
		}
	}
}

// Close releases the device after the jobs on it have ended, and waits for that or for ctx.
func (s *Switch) Close(ctx context.Context) error {
	s.mu.Lock()
	r := s.runner
	s.runner = nil
	s.mu.Unlock()
	s.release(r)
	return parallel.Wait(ctx, &s.open)
}
