//go:build cuda && linux && amd64

package cuda

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"blik/cuda/driver"
	"blik/processing/experiment"
)

// Experiments computes the GPU's variants of package experiment. It has a context of its own, so that what they do to
// the device's memory leaves a Backend in use elsewhere alone.
type Experiments struct{ b *Backend }

var _ experiment.Provider = (*Experiments)(nil)

// OpenExperiments opens the GPU with the driver's number. The error is a *driver.Problem.
func OpenExperiments(ordinal int) (*Experiments, error) {
	b, err := Open(ordinal)
	if err != nil {
		return nil, err
	}
	return &Experiments{b}, nil
}

// Name returns the maker's name of the GPU.
func (x *Experiments) Name() string { return x.b.device.info.Name }

// Close gives the device back. No Runner may be in use.
func (x *Experiments) Close() error { return x.b.Close() }

// Variants returns the methods of an experiment's variants on the GPU; their descriptions are in package experiment.
func (x *Experiments) Variants(experimentID string) []experiment.Variant {
	switch experimentID {
	case "sliding":
		return slidingVariants(x.b)
	case "vhgw":
		return vhgwVariants(x.b)
	case "traversal":
		return traversalVariants(x.b)
	case "wavelet":
		return waveletVariants(x.b)
	case "sum":
		return sumVariants(x.b)
	}
	return nil
}

// trialMethod is the Method of a variant on one GPU.
type trialMethod struct {
	b *Backend
	// memory is that of the host beside the input; operations are in the experiment's unit.
	memory     func(c experiment.Case) int64
	operations func(c experiment.Case) float64
	// prepare takes the trial's memory, uploads the input, and sets compute and result.
	prepare func(q *queue, t *trial, in *experiment.Input, c experiment.Case) error
}

var _ experiment.Method = trialMethod{}

func (m trialMethod) Memory(c experiment.Case) int64       { return m.memory(c) }
func (m trialMethod) Operations(c experiment.Case) float64 { return m.operations(c) }

func (m trialMethod) Prepare(ctx context.Context, in *experiment.Input, c experiment.Case) (experiment.Runner, error) {
	t := &trial{b: m.b, repeat: 1}
	err := m.b.run(ctx, func(q *queue) (err error) {
		if t.start, err = q.d.event(); err != nil {
			return err
		}
		if t.end, err = q.d.event(); err != nil {
			return err
		}
		if err := m.prepare(q, t, in, c); err != nil {
			return err
		}
		return q.d.synchronize()
	})
	if err != nil {
		_ = t.Close()
		return nil, told(err)
	}
	return t, nil
}

func (d *device) event() (cu.Event, error) {
	e, err := cu.MakeEvent(cu.DefaultEvent)
	return e, d.fault(err, "make an event")
}

// told words what the user reads of an error of the device; a lack of its memory leaves the row out.
func told(err error) error {
	var p *driver.Problem
	if !errors.As(err, &p) {
		return err
	}
	e := &experiment.Error{Cause: err}
	switch p.Reason {
	case driver.NoMemory:
		e.Cause = fmt.Errorf("%w: %w", experiment.ErrMemory, err)
		e.Text.EN, e.Text.RU = "the GPU has too little memory free", "на видеокарте недостаточно свободной памяти"
	default:
		e.Text.EN, e.Text.RU = p.Error(), fmt.Sprintf("видеокарта сообщила об ошибке %d (%s)", p.Code, p.Detail)
	}
	return e
}

// trial is a variant prepared for one input. Its time is that of its kernels, between two events of the stream, with the
// input on the device.
type trial struct {
	b       *Backend
	buffers []buffer
	host    [][]byte

	// compute queues one computation; result reads what it has computed. Both run in a turn on the device.
	compute func(q *queue) error
	result  func(q *queue) (experiment.Output, error)

	start, end cu.Event
	// repeat is how many computations a Run queues between the events.
	repeat  int
	elapsed time.Duration
}

var _ experiment.Timed = (*trial)(nil)

// What is between the events should take this long, else the wait for the first launch counts; but no more computations
// than this are queued for it.
const (
	trialSpan    = 500 * time.Microsecond
	trialRepeats = 50
)

// Run computes once or, what is short, several times.
func (t *trial) Run(ctx context.Context) error {
	return told(t.b.run(ctx, func(q *queue) error {
		if err := q.d.fault(t.start.Record(q.d.stream), "record an event"); err != nil {
			return err
		}
		for range t.repeat {
			if err := t.compute(q); err != nil {
				return errors.Join(err, q.d.synchronize())
			}
		}
		if err := q.d.fault(t.end.Record(q.d.stream), "record an event"); err != nil {
			return err
		}
		if err := q.d.synchronize(); err != nil {
			return err
		}
		ms, err := t.start.Elapsed(t.end)
		if err != nil {
			return q.d.fault(err, "read an event")
		}
		t.elapsed = time.Duration(ms * float64(time.Millisecond) / float64(t.repeat))
		t.repeat = int(min(max(trialSpan/max(t.elapsed, 1), 1), trialRepeats))
		return nil
	}))
}

// Elapsed returns the time of one computation, the mean of those of the last Run.
func (t *trial) Elapsed() time.Duration { return t.elapsed }

// Output reads the result.
func (t *trial) Output(ctx context.Context) (out experiment.Output, err error) {
	err = t.b.run(ctx, func(q *queue) (err error) {
		out, err = t.result(q)
		return err
	})
	return out, told(err)
}

// Close gives the memory back, at once: the next case needs other sizes.
func (t *trial) Close() error {
	return told(t.b.device.do(func() error {
		l := &t.b.pool
		for _, m := range t.buffers {
			l.put(m)
		}
		for _, m := range t.host {
			l.hostPut(m)
		}
		t.buffers, t.host = nil, nil
		l.mu.Lock()
		l.trim()
		l.mu.Unlock()
		for _, e := range []*cu.Event{&t.start, &t.end} {
			if *e != (cu.Event{}) {
				_ = cu.DestroyEvent(e)
				*e = cu.Event{}
			}
		}
		return nil
	}))
}

// bytes returns device memory that the trial keeps, with undefined content.
func (t *trial) bytes(q *queue, n int64) (buffer, error) {
	m, err := t.b.pool.get(q.d, n)
	if err == nil {
		t.buffers = append(t.buffers, m)
	}
	return m, err
}

// mapped returns host memory that the trial keeps and the same memory as kernels see it: under unified addressing, which
// every 64-bit system has, pinned memory is mapped into all contexts at its own address.
func (t *trial) mapped(q *queue, n int) ([]byte, buffer, error) {
	host, err := t.b.pool.hostGet(q.d, n)
	if err != nil {
		return nil, buffer{}, err
	}
	t.host = append(t.host, host)
	return host, buffer{cu.DevicePtr(uintptr(unsafe.Pointer(unsafe.SliceData(host)))), int64(n)}, nil
}

// uploaded returns device memory with the given content.
func (t *trial) uploaded(q *queue, content []byte) (buffer, error) {
	m, err := t.bytes(q, int64(len(content)))
	if err != nil {
		return m, err
	}
	return m, upload(q, m, content)
}

// upload copies to the device, with looks at the context in between.
func upload(q *queue, to buffer, content []byte) error {
	const piece = 16 * stagingBytes
	for at := 0; at < len(content); at += piece {
		if err := q.ctx.Err(); err != nil {
			return err
		}
		part := content[at:min(at+piece, len(content))]
		if err := q.d.upload(to.ptr+cu.DevicePtr(at), int64(len(part)), part, len(part)); err != nil {
			return err
		}
	}
	return nil
}

// downloaded copies from the device into dst and returns when it is there.
func downloaded(q *queue, dst []byte, from buffer) error {
	pinned, err := q.b.pool.hostGet(q.d, stagingBytes)
	if err != nil {
		return err
	}
	defer q.b.pool.hostPut(pinned)
	for at := 0; at < len(dst); at += stagingBytes {
		if err := q.ctx.Err(); err != nil {
			return err
		}
		n := min(stagingBytes, len(dst)-at)
		if err := q.d.download(pinned, from.ptr+cu.DevicePtr(at), int64(n), n, 1); err != nil {
			return err
		}
		copyWide(dst[at:at+n], pinned)
	}
	return nil
}

// pixels makes the result of a trial whose computation leaves n bytes in device memory.
func (t *trial) pixels(from buffer, n int) func(q *queue) (experiment.Output, error) {
	var host []uint8
	return func(q *queue) (experiment.Output, error) {
		if host == nil {
			host = make([]uint8, n)
		}
		return experiment.Output{U8: host}, downloaded(q, host, from)
	}
}

// floats is pixels for n float32.
func (t *trial) floats(from buffer, n int) func(q *queue) (experiment.Output, error) {
	var host []float32
	return func(q *queue) (experiment.Output, error) {
		if host == nil {
			host = make([]float32, n)
		}
		return experiment.Output{F32: host}, downloaded(q, bytesOf(host), from)
	}
}
