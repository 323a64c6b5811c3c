//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"fmt"

	"blik/processing"
)

// Backend implements processing.Backend on a GPU.
type Backend struct {
	device *device
	pool   pool
	stages stages
	closed bool
	// network is the last model used, prepared for the device. It belongs to the operation that holds the device.
	network *networkProgram
	// overlap is the minimum size in bytes of pictures that are processed while they are uploaded.
	overlap int64
}

var _ processing.Backend = (*Backend)(nil)

// Open returns a Backend on the GPU with the driver's number. The error is a *driver.Problem.
func Open(ordinal int) (*Backend, error) {
	d, err := openDevice(ordinal)
	if err != nil {
		return nil, err
	}
	return &Backend{device: d, pool: newPool(d.info.Memory), overlap: leastOverlap}, nil
}

// Name returns "cuda:" and the driver's number of the GPU.
func (b *Backend) Name() string { return fmt.Sprintf("cuda:%d", b.device.info.Ordinal) }

// Info describes the GPU.
func (b *Backend) Info() Info { return b.device.info }

// Close frees all memory. Unreleased planes are an error; their memory is freed too.
func (b *Backend) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	planes, _ := b.Live()
	b.device.close(func() {
		if b.device.synchronize(); b.device.silent {
			return
		}
		b.stages.close()
		b.pool.mu.Lock()
		b.pool.trim()
		b.pool.mu.Unlock()
	})
	if planes != 0 {
		return fmt.Errorf("%s: %d planes were not released", b.Name(), planes)
	}
	return nil
}

// queue is one operation during its turn on the device: its launches, each preceded by a check of the context, and the
// memory that it needs until the device has finished.
type queue struct {
	ctx     context.Context
	b       *Backend
	d       *device
	buffers []buffer
	planes  []*plane
	host    [][]byte
}

// run queues an operation. Memory taken from the queue is released when f returns: the next operation that gets it
// comes later in the stream.
func (b *Backend) run(ctx context.Context, f func(q *queue) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.device.do(func() error {
		q := &queue{ctx: ctx, b: b, d: b.device}
		defer q.done()
		return f(q)
	})
}

func (q *queue) done() {
	for _, m := range q.buffers {
		q.b.pool.put(m)
	}
	for _, p := range q.planes {
		p.Release()
	}
	for _, m := range q.host {
		q.b.pool.hostPut(m)
	}
}

// Launch queues a kernel unless the operation has been cancelled. Arguments are planes of the Backend, each its memory
// and its pitch, buffers, and numbers.
func (q *queue) Launch(name string, grid, block dim, args ...any) error {
	return q.LaunchShared(name, grid, block, 0, args...)
}

// LaunchShared is Launch with dynamic shared memory, in bytes.
func (q *queue) LaunchShared(name string, grid, block dim, shared int, args ...any) error {
	if err := q.ctx.Err(); err != nil {
		return err
	}
	return q.d.launch(name, grid, block, shared, args...)
}

// Pixels queues a kernel with a thread for each pixel, whose last arguments are the size.
func (q *queue) Pixels(name string, w, h int, args ...any) error {
	grid, block := Over(w, h)
	return q.Launch(name, grid, block, append(args, w, h)...)
}

// bytes returns device memory with undefined content.
func (q *queue) bytes(n int64) (buffer, error) {
	m, err := q.b.pool.get(q.d, n)
	if err == nil {
		q.buffers = append(q.buffers, m)
	}
	return m, err
}

// plane returns a plane with undefined content.
func (q *queue) plane(kind processing.Kind, w, h int) (*plane, error) {
	p, err := q.b.newPlane(kind, w, h)
	if err == nil {
		q.planes = append(q.planes, p)
	}
	return p, err
}

// writes marks planes as written by the device, so that the host copies are outdated.
func (q *queue) writes(planes ...*plane) {
	for _, p := range planes {
		p.fresh = false
	}
}

// constants uploads a few values that a kernel reads.
func (q *queue) constants(values []byte) (buffer, error) {
	m, err := q.bytes(int64(len(values)))
	if err != nil {
		return m, err
	}
	return m, q.d.upload(m.ptr, int64(len(values)), values, len(values))
}

// Fetch waits for all queued work and returns the first n bytes of device memory, valid until the operation ends.
func (q *queue) Fetch(m buffer, n int) ([]byte, error) {
	if err := q.ctx.Err(); err != nil {
		return nil, err
	}
	host, err := q.b.pool.hostGet(q.d, roundUp(n, grain))
	if err != nil {
		return nil, err
	}
	q.host = append(q.host, host)
	err = q.copying(stageDownload, func() error { return q.d.download(host[:n], m.ptr, int64(n), n, 1) })
	return host[:n], err
}

// executor is Backend for operations whose arguments were checked.
type executor struct{ *Backend }

var _ processing.Executor = executor{}

func (b *Backend) Do(ctx context.Context, op processing.Op) error {
	return processing.Execute(ctx, b, executor{b}, op)
}
