//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"blik/cuda/driver"
	"blik/internal/parallel"
	"blik/processing"
)

// Buffer is a piece of device memory.
type Buffer = buffer

// At returns the memory from the byte n of b on, which may be passed to a kernel only.
func (b buffer) At(n int64) Buffer { return buffer{b.ptr + cu.DevicePtr(n), 0} }

// Dim is the size of a grid or of a block.
type Dim = dim

// Blocks returns a size; y may be 0 for one row.
func Blocks(x, y int) Dim { return dim{x, y} }

// Over returns a grid of blocks of 32 × 8 threads over w × h pixels, Along one of blocks of 256 threads over n items.
func Over(w, h int) (grid, block Dim) { return over(w, h) }

// Along returns a grid of blocks of 256 threads over n items.
func Along(n int) (grid, block Dim) { return along(n) }

// Bounds of kernels: the alignment of rows in bytes, the longest side in pixels, and the shared memory in bytes that
// every GPU gives a block.
const (
	PitchGrain = pitchGrain
	MaxSide    = maxSide
	MaxShared  = maxShared
)

// Queue is an operation during its turn on the device, for kernels that are not operations of the Backend.
type Queue struct{ q *queue }

// Queue runs f during a turn on the device.
func (b *Backend) Queue(ctx context.Context, f func(q Queue) error) error {
	return b.run(ctx, func(q *queue) error { return f(Queue{q}) })
}

// Context is that of the operation.
func (q Queue) Context() context.Context { return q.q.ctx }

// Launch queues a kernel unless the operation has been cancelled. Arguments are planes of the Backend, each its memory
// and its pitch, buffers, and numbers.
func (q Queue) Launch(name string, grid, block Dim, args ...any) error {
	return q.q.launch(name, grid, block, args...)
}

// LaunchShared is Launch with dynamic shared memory, in bytes.
func (q Queue) LaunchShared(name string, grid, block Dim, shared int, args ...any) error {
	return q.q.launchShared(name, grid, block, shared, args...)
}

// Pixels queues a kernel with a thread for each pixel, whose last arguments are the size.
func (q Queue) Pixels(name string, w, h int, args ...any) error {
	return q.q.pixels(name, w, h, args...)
}

// Duplicate copies a plane, and Transpose exchanges its rows and columns.
func (q Queue) Duplicate(dst, src processing.Plane) error {
	return q.q.duplicate(dst.(*plane), src.(*plane))
}

// Transpose exchanges the rows and columns of a plane.
func (q Queue) Transpose(dst, src processing.Plane) error {
	return q.q.transpose(dst.(*plane), src.(*plane))
}

// Fetch waits for all queued work and returns the first n bytes of device memory, valid until the operation ends.
func (q Queue) Fetch(m Buffer, n int) ([]byte, error) { return q.q.fetch(m, n) }

// Synchronize waits for all queued work.
func (q Queue) Synchronize() error { return q.q.d.synchronize() }

// Zero clears memory.
func (q Queue) Zero(m Buffer, n int64) error { return q.q.d.zero(m, n) }

// UploadRows copies rows of the given length in bytes to memory where they begin at multiples of pitch.
func (q Queue) UploadRows(to Buffer, pitch int64, src []byte, row int) error {
	return q.q.d.upload(to.ptr, pitch, src, row)
}

// Upload copies to the device, checking the context in between.
func (q Queue) Upload(to Buffer, content []byte) error {
	const piece = 128 << 20
	for at := 0; at < len(content); at += piece {
		if err := q.q.ctx.Err(); err != nil {
			return err
		}
		part := content[at:min(at+piece, len(content))]
		if err := q.q.d.upload(to.ptr+cu.DevicePtr(at), int64(len(part)), part, len(part)); err != nil {
			return err
		}
	}
	return nil
}

// Constant copies to a constant of a module of kernels.
func (q Queue) Constant(module, name string, content []byte) error {
	m, err := q.q.d.module(module)
	if err != nil {
		return err
	}
	at, size, err := m.Global(name)
	if err != nil {
		return q.q.d.fault(err, "find the constant "+name)
	}
	if int64(len(content)) > size {
		return fmt.Errorf("cuda: %d bytes for the constant %s, which has %d", len(content), name, size)
	}
	return q.q.d.upload(at, int64(len(content)), content, len(content))
}

// pieceBytes is the number of bytes read from the device at a time.
const pieceBytes = 8 << 20

// Download copies from the device into dst and waits for it.
func (q Queue) Download(dst []byte, from Buffer) error {
	return q.inPieces(dst, 1, func(pinned []byte, at int) error {
		return q.q.d.download(pinned, from.ptr+cu.DevicePtr(at), int64(len(pinned)), len(pinned), 1)
	})
}

// DownloadPlane copies the samples of a plane into dst, as bytes, and waits for it.
func (q Queue) DownloadPlane(dst []byte, from processing.Plane) error {
	p := from.(*plane)
	return q.inPieces(dst, p.row(), func(pinned []byte, at int) error {
		first := p.memory.ptr + cu.DevicePtr(int64(at/p.row())*p.pitch)
		return q.q.d.download(pinned, first, p.pitch, p.row(), len(pinned)/p.row())
	})
}

// inPieces fills dst through pinned memory in pieces of whole rows; f reads the piece that begins at a byte of dst.
func (q Queue) inPieces(dst []byte, row int, f func(pinned []byte, at int) error) error {
	pinned, err := q.q.b.pool.hostGet(q.q.d, max(pieceBytes, row))
	if err != nil {
		return err
	}
	defer q.q.b.pool.hostPut(pinned)
	for at := 0; at < len(dst); {
		if err := q.q.ctx.Err(); err != nil {
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

// Work is memory that outlives the operation that takes it, and a clock of the device.
type Work struct {
	b          *Backend
	buffers    []buffer
	planes     []*plane
	host       [][]byte
	start, end cu.Event
}

// NewWork returns a Work without memory. Its first operation must be Prepare.
func NewWork(b *Backend) *Work { return &Work{b: b} }

// Prepare makes the clock.
func (w *Work) Prepare(q Queue) (err error) {
	if w.start, err = q.q.d.event(); err != nil {
		return err
	}
	w.end, err = q.q.d.event()
	return err
}

// Bytes returns device memory with undefined content.
func (w *Work) Bytes(q Queue, n int64) (Buffer, error) {
	m, err := w.b.pool.get(q.q.d, n)
	if err == nil {
		w.buffers = append(w.buffers, m)
	}
	return m, err
}

// Uploaded returns device memory with the given content.
func (w *Work) Uploaded(q Queue, content []byte) (Buffer, error) {
	m, err := w.Bytes(q, int64(len(content)))
	if err != nil {
		return m, err
	}
	return m, q.Upload(m, content)
}

// Plane returns a plane with undefined content, its memory, and the distance of its rows in bytes.
func (w *Work) Plane(kind processing.Kind, width, height int) (processing.Plane, Buffer, int64, error) {
	if width > maxSide || height > maxSide {
		return nil, buffer{}, 0, &driver.Problem{Reason: driver.TooLarge,
			Detail: fmt.Sprintf("no side may be longer than %d pixels", maxSide)}
	}
	p, err := w.b.newPlane(kind, width, height)
	if err != nil {
		return nil, buffer{}, 0, err
	}
	w.planes = append(w.planes, p)
	return p, p.memory, p.pitch, nil
}

// Mapped returns host memory, and its device address: under unified addressing, which every 64-bit system has, pinned
// memory is mapped into all contexts at its own address.
func (w *Work) Mapped(q Queue, n int) ([]byte, Buffer, error) {
	host, err := w.b.pool.hostGet(q.q.d, n)
	if err != nil {
		return nil, buffer{}, err
	}
	w.host = append(w.host, host)
	return host, buffer{cu.DevicePtr(uintptr(unsafe.Pointer(unsafe.SliceData(host)))), int64(n)}, nil
}

// Begin starts the clock after all work queued so far.
func (w *Work) Begin(q Queue) error {
	return q.q.d.fault(w.start.Record(q.q.d.stream), "record an event")
}

// End waits for all queued work and returns the device's time since Begin.
func (w *Work) End(q Queue) (time.Duration, error) {
	if err := q.q.d.fault(w.end.Record(q.q.d.stream), "record an event"); err != nil {
		return 0, err
	}
	if err := q.q.d.synchronize(); err != nil {
		return 0, err
	}
	ms, err := w.start.Elapsed(w.end)
	return time.Duration(ms * float64(time.Millisecond)), q.q.d.fault(err, "read an event")
}

// Close frees the memory immediately instead of keeping it for other work.
func (w *Work) Close() error {
	l := &w.b.pool
	for _, m := range w.buffers {
		l.put(m)
	}
	for _, p := range w.planes {
		p.Release()
	}
	for _, m := range w.host {
		l.hostPut(m)
	}
	w.buffers, w.planes, w.host = nil, nil, nil
	return w.b.device.do(func() error {
		l.mu.Lock()
		l.trim()
		l.mu.Unlock()
		for _, e := range []*cu.Event{&w.start, &w.end} {
			if *e != (cu.Event{}) {
				_ = cu.DestroyEvent(e)
				*e = cu.Event{}
			}
		}
		return nil
	})
}

// LimitMemory bounds the device memory in bytes; 0 lifts the bound.
func (b *Backend) LimitMemory(bytes int64) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	b.pool.limit = bytes
}

// BytesOf returns the memory of samples.
func BytesOf[T uint8 | uint32 | float32](s []T) []byte { return bytesOf(s) }

// FloatsOf returns the samples in memory.
func FloatsOf(b []byte) []float32 { return samplesOf[float32](b) }
