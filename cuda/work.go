//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"gorgonia.org/cu"

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

// Queue is an operation during its turn on the device, for kernels that are not operations of the Backend.
type Queue = *queue

// Queue runs f during a turn on the device.
func (b *Backend) Queue(ctx context.Context, f func(q Queue) error) error { return b.run(ctx, f) }

// Context is that of the operation.
func (q *queue) Context() context.Context { return q.ctx }

// Duplicate copies a plane.
func (q *queue) Duplicate(dst, src processing.Plane) error {
	return q.duplicate(dst.(*plane), src.(*plane))
}

// Transpose exchanges the rows and columns of a plane.
func (q *queue) Transpose(dst, src processing.Plane) error {
	return q.transpose(dst.(*plane), src.(*plane))
}

// Synchronize waits for all queued work.
func (q *queue) Synchronize() error { return q.d.synchronize() }

// Zero clears memory.
func (q *queue) Zero(m Buffer, n int64) error { return q.d.zero(m, n) }

// UploadRows copies rows of the given length in bytes to memory where they begin at multiples of pitch.
func (q *queue) UploadRows(to Buffer, pitch int64, src []byte, row int) error {
	return q.d.upload(to.ptr, pitch, src, row)
}

// Upload copies to the device, checking the context in between.
func (q *queue) Upload(to Buffer, content []byte) error {
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

// Constant copies to a constant of a module of kernels.
func (q *queue) Constant(module, name string, content []byte) error {
	m, err := q.d.module(module)
	if err != nil {
		return err
	}
	at, size, err := m.Global(name)
	if err != nil {
		return q.d.fault(err, "find the constant "+name)
	}
	if int64(len(content)) > size {
		return fmt.Errorf("cuda: %d bytes for the constant %s, which has %d", len(content), name, size)
	}
	return q.d.upload(at, int64(len(content)), content, len(content))
}

// pieceBytes is the number of bytes read from the device at a time.
const pieceBytes = 8 << 20

// Download copies from the device into dst and waits for it.
func (q *queue) Download(dst []byte, from Buffer) error {
	return q.inPieces(dst, 1, func(pinned []byte, at int) error {
		return q.d.download(pinned, from.ptr+cu.DevicePtr(at), int64(len(pinned)), len(pinned), 1)
	})
}

// DownloadPlane copies the samples of a plane into dst, as bytes, and waits for it.
func (q *queue) DownloadPlane(dst []byte, from processing.Plane) error {
	p := from.(*plane)
	return q.inPieces(dst, p.row(), func(pinned []byte, at int) error {
		first := p.memory.ptr + cu.DevicePtr(int64(at/p.row())*p.pitch)
		return q.d.download(pinned, first, p.pitch, p.row(), len(pinned)/p.row())
	})
}

// inPieces fills dst through pinned memory in pieces of whole rows; f reads the piece that begins at a byte of dst.
func (q *queue) inPieces(dst []byte, row int, f func(pinned []byte, at int) error) error {
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
	if w.start, err = q.d.event(); err != nil {
		return err
	}
	w.end, err = q.d.event()
	return err
}

// Bytes returns device memory with undefined content.
func (w *Work) Bytes(q Queue, n int64) (Buffer, error) {
	m, err := w.b.pool.get(q.d, n)
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
	if err := fitsGrid(width, height); err != nil {
		return nil, buffer{}, 0, err
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
	host, err := w.b.pool.hostGet(q.d, n)
	if err != nil {
		return nil, buffer{}, err
	}
	w.host = append(w.host, host)
	return host, buffer{cu.DevicePtr(uintptr(unsafe.Pointer(unsafe.SliceData(host)))), int64(n)}, nil
}

// Begin starts the clock after all work queued so far.
func (w *Work) Begin(q Queue) error {
	return q.d.fault(w.start.Record(q.d.stream), "record an event")
}

// End waits for all queued work and returns the device's time since Begin.
func (w *Work) End(q Queue) (time.Duration, error) {
	if err := q.d.fault(w.end.Record(q.d.stream), "record an event"); err != nil {
		return 0, err
	}
	if err := q.d.synchronize(); err != nil {
		return 0, err
	}
	ms, err := w.start.Elapsed(w.end)
	return time.Duration(ms * float64(time.Millisecond)), q.d.fault(err, "read an event")
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
		w.dropClock()
		return nil
	})
}

func (w *Work) dropClock() {
	for _, e := range []*cu.Event{&w.start, &w.end} {
		if *e != (cu.Event{}) {
			_ = cu.DestroyEvent(e)
			*e = cu.Event{}
		}
	}
}

// LimitMemory bounds the device memory in bytes; 0 lifts the bound.
func (b *Backend) LimitMemory(bytes int64) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	b.pool.limit = bytes
}
