// Package device chooses what detection and correction run on: the CPU or an NVIDIA GPU. If there is no GPU,
// it explains why; if one fails during a job, the job is run again on the CPU, with the same result.
package device

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"blik/app/settings"
	"blik/cuda/driver"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/banded"
	"blik/processing/cpu"
)

// Device is something that a job can run on.
type Device struct {
	// Name is the name that Open accepts: "cpu", "cuda:0".
	Name string
	// Title is the product name of a GPU.
	Title string
	// Memory is the memory of a GPU in bytes, Capability its compute capability (90 for 9.0), Driver the newest CUDA
	// version that its driver supports.
	Memory     int64
	Capability int
	Driver     string
}

// List returns the CPU and the GPUs. The error, if not nil, says why there is no GPU; the list is valid all the same.
func List() ([]Device, error) {
	list := []Device{{Name: "cpu"}}
	found, err := gpus()
	return append(list, found...), err
}

// Check reports an error unless name is one that Open takes, whether the device exists or not.
func Check(name string) error {
	_, err := parse(name)
	return err
}

// choice is a parsed name of a device.
type choice struct {
	auto, gpu bool
	ordinal   int
}

func parse(name string) (choice, error) {
	switch name {
	case "", "auto":
		return choice{auto: true, gpu: true}, nil
	case "cpu":
		return choice{}, nil
	case "cuda":
		return choice{gpu: true}, nil
	}
	if rest, ok := strings.CutPrefix(name, "cuda:"); ok {
		if n, err := strconv.Atoi(rest); err == nil && n >= 0 {
			return choice{gpu: true, ordinal: n}, nil
		}
	}
	return choice{}, fmt.Errorf("device %q: must be auto, cpu, cuda or cuda:N", name)
}

// GPU returns the number of the GPU that a name stands for, of the first one for "auto"; ok is false for "cpu".
func GPU(name string) (ordinal int, ok bool, err error) {
	c, err := parse(name)
	return c.ordinal, c.gpu, err
}

// errClosed is the error of a job on a runner that was closed.
var errClosed = errors.New("the device is closed")

// Runner runs jobs on one device, one after the other.
type Runner struct {
	machine machine
	// opening is nil if no GPU was requested; with auto, each job may run on whichever device is faster for it.
	opening *opening
	auto    bool
	// job is held while a job runs, mu while the fields below are read or changed.
	job sync.Mutex
	mu  sync.Mutex
	// gpu is nil if jobs run on the CPU; why then gives the reason if a GPU was requested.
	gpu  processing.Backend
	host processing.Backend
	why  error
	// speed compares the GPU with the CPU; nil until it is measured.
	speed *settings.Speed
	// closing holds GPUs that failed and are released at the end.
	closing []processing.Backend
	closed  bool
}

// Open opens a device by its name: "cpu", "cuda:N", "cuda" for the first GPU, or "auto", which is the first GPU for
// pictures on which it is faster than the CPU, and the CPU otherwise. A GPU requested by name that cannot be used is an
// error, which Explain puts into words.
func Open(ctx context.Context, name string) (*Runner, error) {
	r, err := OpenAsync(ctx, name)
	if err != nil || r.opening == nil {
		return r, err
	}
	return r, r.opened(ctx)
}

// OpenAsync is Open, but for "auto" it returns at once: the GPU is opened in the background, and jobs that the CPU
// finishes before the GPU is ready do not wait for it.
func OpenAsync(ctx context.Context, name string) (*Runner, error) {
	return thisMachine().begin(ctx, name)
}

func (m machine) begin(ctx context.Context, name string) (*Runner, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := m.start(name)
	if err != nil || r.opening == nil || r.auto {
		return r, err
	}
	if err := r.opened(ctx); err != nil {
		return nil, err
	}
	if err := r.Reason(); err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("device %s: %w", name, err)
	}
	return r, nil
}

// start returns the runner of a device whose GPU, if any, is opened in the background.
func (m machine) start(name string) (*Runner, error) {
	c, err := parse(name)
	if err != nil {
		return nil, err
	}
	r := &Runner{machine: m, auto: c.auto, host: cpu.New()}
	if c.gpu {
		r.opening = &opening{start: time.Now(), known: make(chan struct{}), done: make(chan struct{})}
		go r.open(c.ordinal)
	}
	return r, nil
}

// backend returns the backend for the next job on a picture of the given number of pixels.
func (r *Runner) backend(pixels int) processing.Backend {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gpu != nil && (r.speed == nil || pixels >= r.speed.From()) {
		return r.gpu
	}
	return r.host
}

// Name returns the name of the device that the next job on a large picture runs on.
func (r *Runner) Name() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gpu != nil {
		return r.gpu.Name()
	}
	return r.host.Name()
}

// Reason returns why jobs run on the CPU although a GPU was requested; nil if they do not or none was requested.
func (r *Runner) Reason() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}

// Job is work for a backend.
type Job = func(ctx context.Context, b processing.Backend) error

// Run runs a job on a picture of the given number of pixels. With "auto", small pictures run on whichever device is
// faster for them. If the GPU is short of memory, the job is repeated in bands of the picture; if it fails, cannot be
// opened, or bands do not fit either, on the CPU. The result is the same in every case, and notice is then one sentence
// for the user. After a fault all later jobs run on the CPU; after a lack of memory the next one tries the GPU again.
func (r *Runner) Run(ctx context.Context, pixels int, job Job) (notice *message.Message, err error) {
	r.job.Lock()
	defer r.job.Unlock()
	if r.isClosed() {
		return nil, errClosed
	}
	b, err := r.choose(ctx, pixels)
	if missing := r.missing(); err == nil && missing != nil {
		return doneOnCPU(missing), job(ctx, r.host)
	}
	if err == nil {
		err = job(ctx, b)
	}
	if tooLittle(err) {
		bands := banded.New(b, r.host, r.memory(b)/2, tooLittle)
		second := job(ctx, bands)
		_ = bands.Close()
		if second == nil {
			return new(message.Of(
				"The GPU has too little memory free for the whole picture: it was processed in bands, with the " +
					"same result.")), nil
		}
		if !errors.Is(second, banded.ErrMemory) {
			err = second
		}
	}
	var p *driver.Problem
	if b == r.host || !errors.As(err, &p) {
		return nil, err
	}
	if !tooLittle(p) {
		r.giveUp(p)
	}
	return doneOnCPU(p), job(ctx, r.host)
}

// missing returns why a GPU requested by name is not open; nil if it is open, or if none was requested by name.
func (r *Runner) missing() error {
	if r.opening == nil || r.auto {
		return nil
	}
	select {
	case <-r.opening.done:
		return r.opening.err
	default:
		return r.Reason()
	}
}

func (r *Runner) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// doneOnCPU returns one sentence on why a job meant for a GPU ran on the CPU.
func doneOnCPU(why error) *message.Message {
	return new(message.Of("%s: the CPU was used instead, with the same result.", explain(why)))
}

// tooLittle reports whether a GPU ran out of memory, so that smaller portions may fit.
func tooLittle(err error) bool {
	var p *driver.Problem
	return errors.As(err, &p) && (p.Reason == driver.NoMemory || p.Reason == driver.TooLarge)
}

// memory returns the memory of a GPU in bytes, or what every GPU has if it is unknown.
func (r *Runner) memory(gpu processing.Backend) int64 {
	list, err := r.machine.gpus()
	if err == nil {
		for _, d := range list {
			if d.Name == gpu.Name() {
				return d.Memory
			}
		}
	}
	return 1 << 30
}

// giveUp assigns later jobs to the CPU, until a GPU that is late is open after all.
func (r *Runner) giveUp(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gpu != nil {
		r.closing = append(r.closing, r.gpu)
	}
	r.gpu, r.why = nil, why
}

// Close waits for the running job and releases the devices. A GPU that is still being opened is released as soon as it
// is open.
func (r *Runner) Close() error {
	r.job.Lock()
	defer r.job.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.host.Close()
	if r.gpu != nil {
		err = errors.Join(err, r.gpu.Close())
		r.gpu = nil
	}
	for _, b := range r.closing {
		// The fault of a failed device has already been reported.
		_ = b.Close()
	}
	r.closing = nil
	return err
}

// Explain returns a sentence on why a GPU is not used.
func Explain(err error) message.Message { return message.Of("%s.", explain(err)) }

func explain(err error) message.Message {
	var p *driver.Problem
	if !errors.As(err, &p) {
		return message.Of("The GPU cannot be used: %s", err)
	}
	switch p.Reason {
	case driver.NotBuilt:
		return message.Of("This program was built without GPU support")
	case driver.NoLibrary:
		return message.Of("No NVIDIA driver is installed")
	case driver.NoDevice:
		return message.Of("The NVIDIA driver finds no such GPU")
	case driver.TooOld:
		return message.Of("The NVIDIA driver or the GPU is too old (%s)", p.Detail)
	case driver.NoMemory:
		return message.Of("The GPU has too little memory free")
	case driver.TooLarge:
		return message.Of("The picture is too large for the GPU")
	case driver.NoAnswer:
		return message.Of("The GPU does not respond")
	}
	if p.Code == 0 {
		return message.Of("The GPU reported an error")
	}
	return message.Of("The GPU reported error %d (%s)", p.Code, p.Detail)
}
