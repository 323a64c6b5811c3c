package cpu

import (
	"context"
	"errors"
	"sync"

	"blik/internal/span"
	"blik/processing"
	"blik/processing/cpu/kernel"
)

// plane is a raster in host memory, rows without padding.
type plane struct {
	processing.Handle
	backend *Backend
	kind    processing.Kind
	w, h    int
	data    processing.Samples
	// marks, if not nil, replaces data: samples 0 and 255 (U8).
	marks *span.Set
}

func (p *plane) Kind() processing.Kind { return p.kind }

func (p *plane) Release() {
	switch {
	case p == nil:
	case p.marks != nil:
		p.MarkReleased()
		p.marks = &span.Set{}
	default:
		p.backend.pool.put(p)
	}
}

// pool keeps the memory of released planes for later ones. Slices are interchangeable if kind and number of samples
// agree. When a plane with another number of samples is allocated, another picture is being processed, and the memory
// kept for the last one is dropped.
type pool struct {
	mu     sync.Mutex
	count  int
	free   [3][]processing.Samples
	live   int
	bytes  int64
	closed bool
}

func (l *pool) get(p *plane) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errors.New("cpu: the backend is closed")
	}
	n := p.w * p.h
	if n != l.count {
		l.free = [3][]processing.Samples{}
		l.count = n
	}
	if f := l.free[p.kind]; len(f) > 0 {
		p.data = f[len(f)-1]
		l.free[p.kind] = f[:len(f)-1]
	} else {
		p.data = processing.NewSamples(8*p.kind.Bytes(), n)
		kernel.UseHugePages(p.data.U8)
		kernel.UseHugePages(p.data.U16)
		kernel.UseHugePages(p.data.F32)
	}
	l.live++
	l.bytes += int64(n) * int64(p.kind.Bytes())
	return nil
}

func (l *pool) put(p *plane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !p.MarkReleased() {
		return
	}
	n := p.w * p.h
	l.live--
	l.bytes -= int64(n) * int64(p.kind.Bytes())
	if !l.closed && n == l.count {
		l.free[p.kind] = append(l.free[p.kind], p.data)
	}
	p.data = processing.Samples{}
}

func (l *pool) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.free = [3][]processing.Samples{}
}

// Live returns the number and the memory of planes that were allocated and not yet released. Both are 0 when a job has
// cleaned up.
func (b *Backend) Live() (planes int, bytes int64) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return b.pool.live, b.pool.bytes
}

// Alloc returns a plane with undefined content, from the memory of a released one if possible.
func (b *Backend) Alloc(kind processing.Kind, w, h int) (processing.Plane, error) {
	if err := processing.CheckAlloc(b, kind, w, h); err != nil {
		return nil, err
	}
	p := &plane{Handle: processing.NewHandle(b, w, h), backend: b, kind: kind, w: w, h: h}
	if err := b.pool.get(p); err != nil {
		return nil, err
	}
	return p, nil
}

// Upload copies host samples into dst.
func (b *Backend) Upload(ctx context.Context, dst processing.Plane, src processing.Samples) error {
	if err := processing.CheckUpload(b, dst, src); err != nil {
		return err
	}
	switch d := dst.(*plane); d.kind {
	case processing.U8:
		return copyPlane(ctx, b, d.data.U8, src.U8)
	case processing.U16:
		return copyPlane(ctx, b, d.data.U16, src.U16)
	default:
		return copyPlane(ctx, b, d.data.F32, src.F32)
	}
}

// Host returns the samples of p themselves.
func (b *Backend) Host(ctx context.Context, p processing.Plane) (processing.Samples, error) {
	if err := processing.CheckHost(b, p); err != nil {
		return processing.Samples{}, err
	}
	return p.(*plane).data, ctx.Err()
}
