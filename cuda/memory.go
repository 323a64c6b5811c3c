//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"blik/cuda/driver"
)

// buffer is a piece of device memory.
type buffer struct {
	ptr   cu.DevicePtr
	bytes int64
}

// pool keeps released device and pinned host memory for reuse: the stream is ordered, so memory can be reused while the
// device still uses it. A plane of another size means that another picture is being processed; if more than the budget
// is kept, it is then freed. Pinned memory stays, up to a limit: allocating it takes a hundred times as long.
type pool struct {
	mu   sync.Mutex
	w, h int
	free map[int64][]buffer
	// pinned is in the order of release.
	pinned [][]byte
	// planes and bytes are the number and the memory of planes in use; held is all device memory, in use or kept.
	planes      int
	bytes, held int64
	// budget is the amount of device memory that may be kept for pictures of other sizes.
	budget int64
	// limit, if not 0, bounds the device memory in bytes; set by tests.
	limit int64
}

// newPool returns the pool of a device with the given memory. The budget of a quarter leaves three quarters for the
// current picture, and most pairs of pictures fit together: a detection holds about 30 bytes per pixel.
func newPool(memory int64) pool { return pool{free: map[int64][]buffer{}, budget: memory / 4} }

// grain is the granularity of sizes, which are rounded up.
const grain = 512

// roundUp returns the least multiple of to that is not less than n.
func roundUp[N int | int64](n, to N) N { return (n + to - 1) / to * to }

// get returns at least n bytes. If the device has no memory left, the kept memory is freed first.
func (l *pool) get(d *device, n int64) (buffer, error) {
	n = roundUp(max(n, 1), grain)
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.free[n]; len(f) > 0 {
		l.free[n] = f[:len(f)-1]
		l.bytes += n
		return f[len(f)-1], nil
	}
	p, err := l.alloc(n)
	if err != nil {
		l.trim()
		p, err = l.alloc(n)
	}
	if err != nil {
		return buffer{}, d.fault(err, "allocate device memory")
	}
	l.held += n
	l.bytes += n
	return buffer{p, n}, nil
}

func (l *pool) alloc(n int64) (cu.DevicePtr, error) {
	if l.limit > 0 && l.held+n > l.limit {
		return 0, cu.OutOfMemory
	}
	return cu.MemAlloc(n)
}

func (l *pool) put(b buffer) {
	if b.bytes == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes -= b.bytes
	l.free[b.bytes] = append(l.free[b.bytes], b)
}

// keptPinned is the amount of pinned memory that may be kept when more is requested: enough for the masks of most
// pictures.
const keptPinned = 128 << 20

// hostGet returns n bytes of pinned host memory. If the host has no memory left, the kept memory is freed first.
func (l *pool) hostGet(d *device, n int) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	best, kept := -1, 0
	for i, b := range l.pinned {
		kept += cap(b)
		// Up to twice as large, so that planes of similar size share memory, but a small request does not take a
		// plane's memory.
		if n <= cap(b) && cap(b) <= 2*n && (best < 0 || cap(b) < cap(l.pinned[best])) {
			best = i
		}
	}
	if best >= 0 {
		b := l.pinned[best]
		l.pinned = slices.Delete(l.pinned, best, best+1)
		return b[:n], nil
	}
	for len(l.pinned) > 0 && kept+n > keptPinned {
		kept -= cap(l.pinned[0])
		_ = driver.HostFree(l.pinned[0])
		l.pinned = slices.Delete(l.pinned, 0, 1)
	}
	b, err := driver.HostAlloc(n)
	if err != nil {
		l.trim()
		b, err = driver.HostAlloc(n)
	}
	return b, d.fault(err, "allocate pinned host memory")
}

func (l *pool) hostPut(b []byte) {
	if b == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pinned = append(l.pinned, b[:cap(b)])
}

// picture is called with the size of each plane. When it changes and more device memory than the budget is kept, all of
// it is freed, since little of it fits planes of another size.
func (l *pool) picture(w, h int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == w && l.h == h {
		return
	}
	l.w, l.h = w, h
	if l.held-l.bytes > l.budget {
		l.trimDevice()
	}
}

// trim frees the kept memory. The caller holds the lock and the device's turn. Memory that a lost device refuses to
// free is released with its context.
func (l *pool) trim() {
	l.trimDevice()
	for _, b := range l.pinned {
		_ = driver.HostFree(b)
	}
	l.pinned = nil
}

func (l *pool) trimDevice() {
	for _, list := range l.free {
		for _, b := range list {
			_ = cu.MemFree(b.ptr)
			l.held -= b.bytes
		}
	}
	clear(l.free)
}

// staging is the pinned memory for uploads, a ring of parts: while the device reads some, several goroutines fill the
// next ones, because a single goroutine cannot keep up with the bus.
type staging struct {
	// bytes is the size of a part; fillers is the number of parts filled concurrently, less than the number of parts.
	bytes, fillers int
	parts          []part
	next           int
}

// part is a piece of pinned memory; if busy, the event read completes when the device has fetched it.
type part struct {
	memory []byte
	read   cu.Event
	busy   bool
	// filled is signalled when content has been copied to the beginning of memory.
	filled  chan struct{}
	content []byte
}

// On an H200, uploading 56 MB with these sizes takes less than 2 ms on 16 processors and 2.2 ms on 4, where parts half
// as large take 2.9 ms; one goroutine takes 8 ms, and the bus itself 1 ms. Registering the pages of the host's memory
// takes 3 ms or more.
const (
	stagingBytes = 2 << 20
	stagingParts = 14
	maxFillers   = 12
)

func newStaging() staging {
	return staging{bytes: stagingBytes, fillers: min(maxFillers, runtime.GOMAXPROCS(0)),
		parts: make([]part, stagingParts)}
}

// Lists and tables have separate parts, so that a picture being uploaded concurrently need not wait for them.
const (
	littleBytes = 64 << 10
	littleParts = 64
)

func newLittle() staging {
	return staging{bytes: littleBytes, fillers: 1, parts: make([]part, littleParts)}
}

func (s *staging) close() {
	for i := range s.parts {
		p := &s.parts[i]
		if p.memory != nil {
			_ = driver.HostFree(p.memory)
		}
		if p.read != (cu.Event{}) {
			_ = cu.DestroyEvent(&p.read)
		}
		*p = part{}
	}
}

// part returns the next part of a staging, ready to be written.
func (d *device) part(s *staging) (p *part, err error) {
	p = &s.parts[s.next]
	s.next = (s.next + 1) % len(s.parts)
	if p.memory == nil {
		if p.memory, err = driver.HostAlloc(s.bytes); err != nil {
			return nil, d.fault(err, "allocate pinned host memory")
		}
	}
	if p.read == (cu.Event{}) {
		if p.read, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return nil, d.fault(err, "make an event")
		}
		p.filled = make(chan struct{}, 1)
	}
	if p.busy {
		if err := d.wait(p.read.Query, "wait for an upload"); err != nil {
			return nil, err
		}
		p.busy = false
	}
	return p, nil
}

// upload copies rows of `row` bytes from the host to rows `pitch` bytes apart on the device. The host's memory may be
// written again when it returns.
func (d *device) upload(dst cu.DevicePtr, pitch int64, src []byte, row int) error {
	if int64(row) == pitch || len(src) == row {
		return d.uploadIn(d.stream, dst, src)
	}
	if row <= d.stage.bytes {
		return d.send(d.stream, src, row, func(at int, piece []byte) error {
			return driver.RowsUp(dst+cu.DevicePtr(int64(at/row)*pitch), pitch, piece, row, d.stream)
		})
	}
	// Rows longer than a part.
	for y := 0; y*row < len(src); y++ {
		if err := d.upload(dst+cu.DevicePtr(int64(y)*pitch), int64(row), src[y*row:(y+1)*row], row); err != nil {
			return err
		}
	}
	return nil
}

// uploadIn is upload of one piece of memory in a stream.
func (d *device) uploadIn(stream cu.Stream, dst cu.DevicePtr, src []byte) error {
	// It may be cut at any byte.
	return d.send(stream, src, min(4096, d.stage.bytes), func(at int, piece []byte) error {
		return cu.MemcpyHtoDAsync(dst+cu.DevicePtr(at), unsafe.Pointer(unsafe.SliceData(piece)), int64(len(piece)),
			stream)
	})
}

// send passes src through the parts, in pieces of a multiple of unit bytes; queue queues the copy of the piece that
// begins at a byte of src in the stream.
func (d *device) send(stream cu.Stream, src []byte, unit int, queue func(at int, piece []byte) error) error {
	s := &d.stage
	if len(src) <= d.little.bytes {
		s = &d.little
	}
	most := s.bytes / unit * unit
	// filling are the parts being filled, in order; begun and queued count bytes of src.
	var filling []*part
	begun, queued := 0, 0
	// The fillers read src, which belongs to the caller again after the return.
	defer func() {
		for _, p := range filling {
			<-p.filled
		}
	}()
	for pieces := 0; queued < len(src); {
		for ; begun < len(src) && len(filling) < s.fillers; pieces++ {
			p, err := d.part(s)
			if err != nil {
				return err
			}
			n := most
			if pieces < s.fillers && len(src) > most {
				// The first round consists of small pieces, so that the device need not wait for a whole part.
				n = max(unit, most*(pieces+1)/s.fillers/unit*unit)
			}
			from := src[begun:min(begun+n, len(src))]
			p.content = p.memory[:len(from)]
			fill := func() {
				copy(p.content, from)
				p.filled <- struct{}{}
			}
			if len(from) == len(src) {
				fill()
			} else {
				go fill()
			}
			filling = append(filling, p)
			begun += len(from)
		}
		p := filling[0]
		<-p.filled
		filling = filling[1:]
		if err := d.fault(queue(queued, p.content), "upload"); err != nil {
			return err
		}
		if err := d.fault(p.read.Record(stream), "record an event"); err != nil {
			return err
		}
		p.busy = true
		queued += len(p.content)
	}
	return nil
}

// download copies rows into pinned host memory without padding and waits for them.
func (d *device) download(dst []byte, src cu.DevicePtr, pitch int64, row, rows int) error {
	var err error
	if int64(row) == pitch || rows == 1 {
		err = cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(dst)), src, int64(row)*int64(rows), d.stream)
	} else {
		err = driver.RowsDown(dst[:row*rows], row, src, pitch, d.stream)
	}
	if err != nil {
		return d.fault(err, "download")
	}
	return d.synchronize()
}

// BytesOf returns samples as bytes without copying.
func BytesOf[T uint8 | uint16 | uint32 | uint64 | int32 | float32 | float64](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}

// SamplesOf returns bytes as samples without copying; pinned memory is aligned for all types.
func SamplesOf[T uint8 | uint16 | uint32 | uint64 | int32 | float32 | float64](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}
