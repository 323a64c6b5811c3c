//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"blik/cuda/driver"
	"blik/internal/message"
	"blik/internal/parallel"
	"blik/lab/experiment"
	"blik/processing"
)

// Experiments computes the GPU variants of package experiment. It has its own context, so that its use of device memory
// does not affect a Backend in use elsewhere.
type Experiments struct {
	b *Backend
	// names are the names of all GPUs, b's first; others are the other GPUs that have been opened.
	names  []string
	mu     sync.Mutex
	others []*Backend
	// constants identifies the content of the wavelet kernels' constant memory; it is guarded by the turn of b's
	// device.
	constants *waveletWay
}

var _ experiment.Provider = (*Experiments)(nil)

// OpenExperiments opens the GPU with the driver's number. The error is a *driver.Problem.
func OpenExperiments(ordinal int) (*Experiments, error) {
	list, err := Devices()
	if err != nil {
		return nil, err
	}
	b, err := Open(ordinal)
	if err != nil {
		return nil, err
	}
	x := &Experiments{b: b, names: []string{list[ordinal].Name}}
	for _, gpu := range slices.Delete(list, ordinal, ordinal+1) {
		x.names = append(x.names, gpu.Name)
	}
	return x, nil
}

// Name returns the product name of the GPU.
func (x *Experiments) Name() string { return x.b.device.info.Name }

// Close releases the GPUs. No Runner may be in use.
func (x *Experiments) Close() error {
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
func (x *Experiments) Variants(experimentID string) []experiment.Variant {
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
	b *Backend
	// memory is the host memory in addition to the input; operations are in the experiment's unit.
	memory     func(c experiment.Case) int64
	operations func(c experiment.Case) float64
	// prepare allocates the trial's memory, uploads the input, and sets compute and result.
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
	b       *Backend
	buffers []buffer
	planes  []*plane
	host    [][]byte

	// compute queues one computation; result reads its result. Both run during a turn on the device. If operation is
	// set, it is used instead; it is an operation of the Backend, which does its own locking.
	compute   func(q *queue) error
	operation func(ctx context.Context) error
	result    func(q *queue) (experiment.Output, error)

	start, end cu.Event
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
		err = t.b.run(ctx, func(q *queue) error {
			return errors.Join(t.begin(q), t.repeated(func() error { return t.compute(q) }), t.finish(q))
		})
	} else {
		err = errors.Join(t.b.run(ctx, t.begin), t.repeated(func() error { return t.operation(ctx) }),
			t.b.run(ctx, t.finish))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return explained(err)
}

func (t *trial) begin(q *queue) error {
	return q.d.fault(t.start.Record(q.d.stream), "record an event")
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
func (t *trial) finish(q *queue) error {
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
}

// Elapsed returns the time of one computation, the mean of those of the last Run.
func (t *trial) Elapsed() time.Duration { return t.elapsed }

// Output reads the result.
func (t *trial) Output(ctx context.Context) (out experiment.Output, err error) {
	err = t.b.run(ctx, func(q *queue) (err error) {
		out, err = t.result(q)
		return err
	})
	return out, explained(err)
}

// Close frees the memory immediately, because the next case needs other sizes.
func (t *trial) Close() error {
	l := &t.b.pool
	for _, m := range t.buffers {
		l.put(m)
	}
	for _, p := range t.planes {
		p.Release()
	}
	for _, m := range t.host {
		l.hostPut(m)
	}
	t.buffers, t.planes, t.host = nil, nil, nil
	return explained(t.b.device.do(func() error {
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

// plane returns a plane that the trial keeps, with undefined content.
func (t *trial) plane(kind processing.Kind, w, h int) (*plane, error) {
	if w > maxSide || h > maxSide {
		return nil, &driver.Problem{Reason: driver.TooLarge, Detail: fmt.Sprintf("no side may be longer than %d pixels",
			maxSide)}
	}
	p, err := t.b.newPlane(kind, w, h)
	if err == nil {
		t.planes = append(t.planes, p)
	}
	return p, err
}

// picture returns a plane with the input's pixels.
func (t *trial) picture(q *queue, in *experiment.Input) (*plane, error) {
	p, err := t.plane(processing.U8, in.Size.W, in.Size.H)
	if err != nil {
		return nil, err
	}
	return p, q.d.upload(p.memory.ptr, p.pitch, in.U8, p.row())
}

// mapped returns host memory that the trial keeps, and its device address: under unified addressing, which every 64-bit
// system has, pinned memory is mapped into all contexts at its own address.
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

// upload copies to the device, checking the context in between.
func upload(q *queue, to buffer, content []byte) error {
	const piece = 128 << 20
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

// pieceBytes is the number of bytes read from the device at a time.
const pieceBytes = 8 << 20

// downloaded copies from the device into dst and waits for it.
func downloaded(q *queue, dst []byte, from buffer) error {
	return inPieces(q, dst, 1, func(pinned []byte, at int) error {
		return q.d.download(pinned, from.ptr+cu.DevicePtr(at), int64(len(pinned)), len(pinned), 1)
	})
}

// inPieces fills dst through pinned memory in pieces of whole rows; f reads the piece that begins at a byte of dst.
func inPieces(q *queue, dst []byte, row int, f func(pinned []byte, at int) error) error {
	pinned, err := q.b.pool.hostGet(q.d, max(pieceBytes, row))
	if err != nil {
		return err
	}
	defer q.b.pool.hostPut(pinned)
	for at := 0; at < len(dst); {
		if err := q.ctx.Err(); err != nil {
			return err
		}
		piece := pinned[:min(len(pinned)/row*row, len(dst)-at)]
		if err := f(piece, at); err != nil {
			return err
		}
		at += parallel.Copy(dst[at:], piece)
	}
	return nil
}

// samples returns the result of a trial that leaves 8-bit samples in a plane.
func (t *trial) samples(p *plane) func(q *queue) (experiment.Output, error) {
	var host []uint8
	return func(q *queue) (experiment.Output, error) {
		if host == nil {
			host = make([]uint8, p.w*p.h)
		}
		return experiment.Output{U8: host}, inPieces(q, host, p.w, func(pinned []byte, at int) error {
			from := p.memory.ptr + cu.DevicePtr(int64(at/p.w)*p.pitch)
			return q.d.download(pinned, from, p.pitch, p.w, len(pinned)/p.w)
		})
	}
}

// floats returns the result of a trial that leaves n float32 in device memory.
func (t *trial) floats(from buffer, n int) func(q *queue) (experiment.Output, error) {
	var host []float32
	return func(q *queue) (experiment.Output, error) {
		if host == nil {
			host = make([]float32, n)
		}
		return experiment.Output{F32: host}, downloaded(q, bytesOf(host), from)
	}
}
