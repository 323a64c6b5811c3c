//go:build cuda && (linux || windows) && amd64

package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"blik/cuda"
	"blik/cuda/driver"
	"blik/internal/message"
	"blik/lab/experiment"
	"blik/processing"
)

// provider computes the GPU variants of package experiment. It has its own context, so that its use of device memory
// does not affect a Backend in use elsewhere.
type provider struct {
	b *cuda.Backend
	// names are the names of all GPUs, b's first; others are the other GPUs that have been opened.
	names  []string
	mu     sync.Mutex
	others []*cuda.Backend
	// constants identifies the content of the wavelet kernels' constant memory; it is guarded by the turn of b's
	// device.
	constants *waveletWay
}

var _ experiment.Provider = (*provider)(nil)

// openOrdinal opens the GPU with the driver's number. The error is a *driver.Problem.
func openOrdinal(ordinal int) (*provider, error) {
	list, err := cuda.Devices()
	if err != nil {
		return nil, err
	}
	b, err := cuda.Open(ordinal)
	if err != nil {
		return nil, err
	}
	x := &provider{b: b, names: []string{list[ordinal].Name}}
	for _, gpu := range slices.Delete(list, ordinal, ordinal+1) {
		x.names = append(x.names, gpu.Name)
	}
	return x, nil
}

// Name returns the product name of the GPU.
func (x *provider) Name() string { return x.b.Info().Name }

// Close releases the GPUs. No Runner may be in use.
func (x *provider) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.b.Close()
	for _, b := range x.others {
		err = errors.Join(err, b.Close())
	}
	x.others = nil
	return err
}

// Variants returns the methods of an experiment's variants on the GPU; their descriptions are in package experiment.
func (x *provider) Variants(experimentID string) []experiment.Variant {
	switch experimentID {
	case "sliding":
		return slidingVariants(x.b)
	case "vhgw":
		return vhgwVariants(x.b)
	case "traversal":
		return traversalVariants(x.b)
	case "wavelet":
		return waveletVariants(x)
	case "sum":
		return sumVariants(x)
	}
	return nil
}

// trialMethod is the Method of a variant on one GPU.
type trialMethod struct {
	b *cuda.Backend
	// memory is the host memory in addition to the input; operations are in the experiment's unit.
	memory     func(c experiment.Case) int64
	operations func(c experiment.Case) float64
	// prepare allocates the trial's memory, uploads the input, and sets compute and result.
	prepare func(q cuda.Queue, t *trial, in *experiment.Input, c experiment.Case) error
}

var _ experiment.Method = trialMethod{}

func (m trialMethod) Memory(c experiment.Case) int64       { return m.memory(c) }
func (m trialMethod) Operations(c experiment.Case) float64 { return m.operations(c) }

func (m trialMethod) Prepare(ctx context.Context, in *experiment.Input, c experiment.Case) (experiment.Runner, error) {
	t := &trial{b: m.b, work: cuda.NewWork(m.b), repeat: 1}
	err := m.b.Queue(ctx, func(q cuda.Queue) error {
		if err := t.work.Prepare(q); err != nil {
			return err
		}
		if err := m.prepare(q, t, in, c); err != nil {
			return err
		}
		return q.Synchronize()
	})
	if err != nil {
		_ = t.Close()
		return nil, explained(err)
	}
	return t, nil
}

// explained returns an error of the device with a message for the user. Rows that do not fit into device memory are
// left out.
func explained(err error) error {
	var p *driver.Problem
	if !errors.As(err, &p) {
		return err
	}
	tooLarge := fmt.Errorf("%w: %w", experiment.ErrMemory, err)
	switch p.Reason {
	case driver.NoMemory:
		return message.New(message.Of("the GPU has too little memory free"), tooLarge)
	case driver.TooLarge:
		return message.New(message.Of("the picture is too large for the GPU"), tooLarge)
	default:
		return message.New(message.Of("the GPU reported an error (%s)", p.Error()), err)
	}
}

// trial is a variant prepared for one input. Its time is that of its kernels, between two events of the stream, with
// the input on the device.
type trial struct {
	b    *cuda.Backend
	work *cuda.Work

	// compute queues one computation; result reads its result. Both run during a turn on the device. If operation is
	// set, it is used instead; it is an operation of the Backend, which does its own locking.
	compute   func(q cuda.Queue) error
	operation func(ctx context.Context) error
	result    func(q cuda.Queue) (experiment.Output, error)

	// repeat is the number of computations that a Run queues between the events.
	repeat  int
	elapsed time.Duration
}

var _ experiment.Timed = (*trial)(nil)

// The work between the events should take at least this long, so that the latency of the first launch is negligible;
// the second constant bounds the number of computations queued for that.
const (
	trialSpan    = 500 * time.Microsecond
	trialRepeats = 50
)

// Run computes once, or several times if one computation is short.
func (t *trial) Run(ctx context.Context) error {
	var err error
	if t.operation == nil {
		err = t.b.Queue(ctx, func(q cuda.Queue) error {
			return errors.Join(t.work.Begin(q), t.repeated(func() error { return t.compute(q) }), t.finish(q))
		})
	} else {
		err = errors.Join(t.b.Queue(ctx, t.work.Begin), t.repeated(func() error { return t.operation(ctx) }),
			t.b.Queue(ctx, t.finish))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return explained(err)
}

func (t *trial) repeated(f func() error) error {
	for range t.repeat {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// finish waits for the device, including the work queued by a cancelled Run.
func (t *trial) finish(q cuda.Queue) error {
	all, err := t.work.End(q)
	if err != nil {
		return err
	}
	t.elapsed = time.Duration(float64(all) / float64(t.repeat))
	t.repeat = int(min(max(trialSpan/max(t.elapsed, 1), 1), trialRepeats))
	return nil
}

// Elapsed returns the time of one computation, the mean of those of the last Run.
func (t *trial) Elapsed() time.Duration { return t.elapsed }

// Output reads the result.
func (t *trial) Output(ctx context.Context) (out experiment.Output, err error) {
	err = t.b.Queue(ctx, func(q cuda.Queue) (err error) {
		out, err = t.result(q)
		return err
	})
	return out, explained(err)
}

// Close frees the memory immediately, because the next case needs other sizes.
func (t *trial) Close() error { return explained(t.work.Close()) }

// plane is a plane that a trial keeps; rows are pitch bytes apart in memory.
type plane struct {
	processing.Plane
	w, h   int
	memory cuda.Buffer
	pitch  int64
}

// plane returns a plane of bytes with undefined content.
func (t *trial) plane(w, h int) (*plane, error) {
	p, memory, pitch, err := t.work.Plane(processing.U8, w, h)
	if err != nil {
		return nil, err
	}
	return &plane{p, w, h, memory, pitch}, nil
}

// picture returns a plane with the input's pixels.
func (t *trial) picture(q cuda.Queue, in *experiment.Input) (*plane, error) {
	p, err := t.plane(in.Size.W, in.Size.H)
	if err != nil {
		return nil, err
	}
	return p, q.UploadRows(p.memory, p.pitch, in.U8, p.w)
}

// samples returns the result of a trial that leaves 8-bit samples in a plane.
func (t *trial) samples(p *plane) func(q cuda.Queue) (experiment.Output, error) {
	var host []uint8
	return func(q cuda.Queue) (experiment.Output, error) {
		if host == nil {
			host = make([]uint8, p.w*p.h)
		}
		return experiment.Output{U8: host}, q.DownloadPlane(host, p.Plane)
	}
}

// floats returns the result of a trial that leaves n float32 in device memory.
func (t *trial) floats(from cuda.Buffer, n int) func(q cuda.Queue) (experiment.Output, error) {
	var host []float32
	return func(q cuda.Queue) (experiment.Output, error) {
		if host == nil {
			host = make([]float32, n)
		}
		return experiment.Output{F32: host}, q.Download(cuda.BytesOf(host), from)
	}
}

// roundUp returns the least multiple of to that is not below n.
func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }
