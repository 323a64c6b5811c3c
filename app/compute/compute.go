// Package compute holds the device that the jobs of a window run on. It is opened in the background, so that nothing waits
// for a driver that takes its time, and it may be changed at any moment.
package compute

import (
	"context"
	"sync"
	"time"

	"blik/app/device"
	"blik/cuda/driver"
	"blik/processing"
	"blik/processing/cpu"
)

// Runner runs jobs on a device; *device.Runner is one.
type Runner interface {
	Run(ctx context.Context, pixels int, job func(ctx context.Context, b processing.Backend) error) (notice *processing.Text, err error)
	// Name is that of the device that the next job runs on, Why the reason for the CPU where a GPU was wished for.
	Name() string
	Why() error
	Close() error
}

// Open opens the device of a name.
type Open func(ctx context.Context, name string) (Runner, error)

// Device opens a device of this machine; see device.Open.
func Device(ctx context.Context, name string) (Runner, error) {
	r, err := device.Open(ctx, name)
	if err != nil {
		// Not a nil *device.Runner in an interface.
		return nil, err
	}
	return r, nil
}

// Patience is how long jobs wait for a device, from when it was chosen, before they take the CPU.
const Patience = 10 * time.Second

// Slot holds one device at a time. Its methods may be called from any goroutine and, but for Run and Close, return at once.
type Slot struct {
	open     Open
	patience time.Duration

	// mu guards what follows and the users of the leases.
	mu  sync.Mutex
	now *lease
	// all counts the leases that have not ended.
	all sync.WaitGroup
}

// lease is one device from the choice of it until its last user has gone.
type lease struct {
	name   string
	chosen time.Time
	// ready is closed when runner or err is set.
	ready  chan struct{}
	runner Runner
	err    error
	// users are the slot while it holds the device, the goroutine that opens it, and the jobs.
	users int
}

// NewSlot returns a slot whose jobs run on the CPU until Choose is called.
func NewSlot(open Open, patience time.Duration) *Slot { return &Slot{open: open, patience: patience} }

// Choose makes the device of a name the one of the next job and begins to open it. A job that runs goes on where it is; the
// device before is given back after it. opened, which may be nil, is called when the device is open or has failed to.
func (s *Slot) Choose(name string, opened func()) {
	d := &lease{name: name, chosen: time.Now(), ready: make(chan struct{}), users: 2}
	s.mu.Lock()
	before := s.now
	s.now = d
	s.all.Add(1)
	s.mu.Unlock()
	if before != nil {
		s.leave(before)
	}
	go func() {
		defer s.leave(d)
		d.runner, d.err = s.open(context.Background(), name)
		close(d.ready)
		if opened != nil {
			opened()
		}
	}()
}

// State is what is known of a slot's device.
type State struct {
	// Chosen is the name that Choose was given last.
	Chosen string
	// Opening says that the device is not open yet.
	Opening bool
	// Runs is the name of the device that the next job on a large picture runs on.
	Runs string
	// Why says why that is not the one chosen; nil where it is.
	Why error
}

// State returns the state of the moment.
func (s *Slot) State() State {
	s.mu.Lock()
	d := s.now
	s.mu.Unlock()
	if d == nil {
		return State{Runs: hostName}
	}
	select {
	case <-d.ready:
	default:
		return State{Chosen: d.name, Opening: true, Runs: hostName}
	}
	if d.err != nil {
		return State{Chosen: d.name, Runs: hostName, Why: d.err}
	}
	return State{Chosen: d.name, Runs: d.runner.Name(), Why: d.runner.Why()}
}

// hostName is the name of the CPU.
const hostName = "cpu"

// Run runs a job on a picture of so many pixels on the slot's device. Where that cannot be opened, or not soon, the job runs
// on the CPU. notice is one sentence for the user where the device was not the one to be expected.
func (s *Slot) Run(ctx context.Context, pixels int, job func(ctx context.Context, b processing.Backend) error) (notice *processing.Text, err error) {
	d := s.enter()
	if d == nil {
		return nil, onHost(ctx, job)
	}
	defer s.leave(d)
	answers, err := d.await(ctx, s.patience)
	if err != nil {
		return nil, err
	}
	if !answers {
		return device.DoneOnCPU(&driver.Problem{Reason: driver.NoAnswer}), onHost(ctx, job)
	}
	if d.err != nil {
		return device.DoneOnCPU(d.err), onHost(ctx, job)
	}
	return d.runner.Run(ctx, pixels, job)
}

// await waits until the device is open or has failed to, and returns false where that takes longer than the patience. Who
// comes after that does not wait once more.
func (d *lease) await(ctx context.Context, patience time.Duration) (answers bool, err error) {
	select {
	case <-d.ready:
		return true, nil
	default:
	}
	late := time.NewTimer(patience - time.Since(d.chosen))
	defer late.Stop()
	select {
	case <-d.ready:
		return true, nil
	case <-late.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// onHost runs a job on the CPU.
func onHost(ctx context.Context, job func(ctx context.Context, b processing.Backend) error) error {
	b := cpu.New()
	defer b.Close()
	return job(ctx, b)
}

// enter makes the caller a user of the device of the moment; nil where there is none.
func (s *Slot) enter() *lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		s.now.users++
	}
	return s.now
}

// leave ends a use. The last one closes the device, which may wait for its driver.
func (s *Slot) leave(d *lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.users--
	if d.users > 0 {
		return
	}
	go func() {
		defer s.all.Done()
		if d.runner != nil {
			// Nobody is left who could use what a device says at its end.
			_ = d.runner.Close()
		}
	}()
}

// Close gives the device back when the jobs on it have ended, and waits until that is done or ctx is.
func (s *Slot) Close(ctx context.Context) error {
	s.mu.Lock()
	d := s.now
	s.now = nil
	s.mu.Unlock()
	if d != nil {
		s.leave(d)
	}
	ended := make(chan struct{})
	go func() {
		s.all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
