//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"fmt"

	"blik/cuda/driver"
	"blik/processing"
)

// plane is a raster in device memory with rows at multiples of pitch bytes.
type plane struct {
	processing.Handle
	backend *Backend
	kind    processing.Kind
	w, h    int
	pitch   int64
	memory  buffer
	// mirror is pinned host memory for the samples, up to date if fresh.
	mirror []byte
	fresh  bool
}

func (p *plane) Kind() processing.Kind { return p.kind }

func (p *plane) Release() {
	if p == nil {
		return
	}
	l := &p.backend.pool
	l.mu.Lock()
	first := p.MarkReleased()
	if first {
		l.planes--
	}
	l.mu.Unlock()
	if !first {
		return
	}
	l.put(p.memory)
	l.hostPut(p.mirror)
	p.mirror = nil
}

// row is the length of a row in bytes, without padding.
func (p *plane) row() int { return p.w * p.kind.Bytes() }

// PitchGrain aligns every row for the widest accesses and to memory sectors.
const PitchGrain = 256

// MaxSide keeps the rows of a picture within a grid, whose blocks hold at least two of them.
const MaxSide = 2 * (1<<16 - 1)

// fitsGrid returns an error for a plane that a grid cannot hold.
func fitsGrid(w, h int) error {
	if max(w, h) <= MaxSide {
		return nil
	}
	detail := fmt.Sprintf("no side may be longer than %d pixels", MaxSide)
	return &driver.Problem{Reason: driver.TooLarge, Detail: detail}
}

// Alloc returns a plane with undefined content.
func (b *Backend) Alloc(kind processing.Kind, w, h int) (processing.Plane, error) {
	if err := processing.CheckAlloc(b, kind, w, h); err != nil {
		return nil, err
	}
	if err := fitsGrid(w, h); err != nil {
		return nil, err
	}
	var p *plane
	err := b.device.do(func() (err error) {
		b.pool.picture(w, h)
		p, err = b.newPlane(kind, w, h)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// newPlane is for operations in their turn on the device.
func (b *Backend) newPlane(kind processing.Kind, w, h int) (*plane, error) {
	p := &plane{Handle: processing.NewHandle(b, w, h), backend: b, kind: kind, w: w, h: h}
	p.pitch = roundUp(int64(p.row()), PitchGrain)
	var err error
	if p.memory, err = b.pool.get(b.device, p.pitch*int64(h)); err != nil {
		return nil, err
	}
	b.pool.mu.Lock()
	b.pool.planes++
	b.pool.mu.Unlock()
	return p, nil
}

// Live returns the number of unreleased planes, and all device memory in use. Both are 0 after a job that has released
// everything.
func (b *Backend) Live() (planes int, bytes int64) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return b.pool.planes, b.pool.bytes
}

// Upload copies host samples into dst.
func (b *Backend) Upload(ctx context.Context, dst processing.Plane, src processing.Samples) error {
	if err := processing.CheckUpload(b, dst, src); err != nil {
		return err
	}
	d := dst.(*plane)
	var bytes []byte
	switch d.kind {
	case processing.U8:
		bytes = src.U8
	case processing.U16:
		bytes = BytesOf(src.U16)
	default:
		bytes = BytesOf(src.F32)
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		return q.copying(stageUpload, func() error { return q.d.upload(d.memory.ptr, d.pitch, bytes, d.row()) })
	})
}

// Host returns the samples of p in pinned host memory.
func (b *Backend) Host(ctx context.Context, p processing.Plane) (processing.Samples, error) {
	if err := processing.CheckHost(b, p); err != nil {
		return processing.Samples{}, err
	}
	s := p.(*plane)
	err := b.run(ctx, func(q *queue) (err error) {
		if s.fresh {
			return nil
		}
		if s.mirror == nil {
			if s.mirror, err = b.pool.hostGet(q.d, s.row()*s.h); err != nil {
				return err
			}
		}
		err = q.copying(stageDownload, func() error {
			return q.d.download(s.mirror, s.memory.ptr, s.pitch, s.row(), s.h)
		})
		s.fresh = err == nil
		return err
	})
	if err != nil {
		return processing.Samples{}, err
	}
	switch s.kind {
	case processing.U8:
		return processing.Samples{U8: s.mirror}, nil
	case processing.U16:
		return processing.Samples{U16: SamplesOf[uint16](s.mirror)}, nil
	default:
		return processing.Samples{F32: SamplesOf[float32](s.mirror)}, nil
	}
}
