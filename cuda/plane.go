//go:build cuda && linux && amd64

package cuda

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"blik/cuda/driver"
	"blik/processing"
)

// plane is a raster in device memory; rows begin at multiples of pitch bytes.
type plane struct {
	owner  *Backend
	kind   processing.Kind
	w, h   int
	pitch  int64
	memory buffer
	// mirror is pinned host memory with the samples, as they are if fresh.
	mirror   []byte
	fresh    bool
	released bool
}

func (p *plane) Size() (w, h int)      { return p.w, p.h }
func (p *plane) Kind() processing.Kind { return p.kind }

func (p *plane) Release() {
	if p == nil {
		return
	}
	l := &p.owner.pool
	l.mu.Lock()
	if p.released {
		l.mu.Unlock()
		return
	}
	p.released = true
	l.planes--
	l.mu.Unlock()
	l.put(p.memory)
	l.hostPut(p.mirror)
	p.mirror = nil
}

// row is the length of a row in bytes, without padding.
func (p *plane) row() int { return p.w * kindBytes(p.kind) }

func kindName(k processing.Kind) string {
	names := [...]string{"U8", "U16", "U32", "F32"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("Kind(%d)", k)
}

func kindBytes(k processing.Kind) int {
	return [...]int{1, 2, 4, 4}[k]
}

// pitchGrain keeps every row on a boundary that the widest accesses and the memory's sectors ask for.
const pitchGrain = 256

// maxPixels keeps pixel indices within the 32 bits that Gather takes; maxSide keeps the rows of a picture within a grid,
// whose blocks hold at least two of them.
const (
	maxPixels uint64 = 1<<32 - 1
	maxSide          = 2 * (1<<16 - 1)
)

// Alloc returns a plane with undefined content.
func (b *Backend) Alloc(kind processing.Kind, w, h int) (processing.Plane, error) {
	switch {
	case kind > processing.F32:
		return nil, fmt.Errorf("%s: plane of unknown kind %d", b.Name(), kind)
	case w < 1 || h < 1:
		return nil, fmt.Errorf("%s: plane of %d × %d pixels: both sides must be at least 1", b.Name(), w, h)
	case uint64(w) > maxPixels/uint64(h):
		return nil, fmt.Errorf("%s: plane of %d × %d pixels: more than %d pixels", b.Name(), w, h, maxPixels)
	case w > maxSide || h > maxSide:
		return nil, &driver.Problem{Reason: driver.TooLarge, Detail: fmt.Sprintf("no side may be longer than %d pixels", maxSide)}
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
	p := &plane{owner: b, kind: kind, w: w, h: h}
	p.pitch = roundUp(int64(p.row()), pitchGrain)
	var err error
	if p.memory, err = b.pool.get(b.device, p.pitch*int64(h)); err != nil {
		return nil, err
	}
	b.pool.mu.Lock()
	b.pool.planes++
	b.pool.mu.Unlock()
	return p, nil
}

// Live returns the number of planes that were allocated and not yet released, and all device memory in use. Both are 0
// when a job has cleaned up after itself.
func (b *Backend) Live() (planes int, bytes int64) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return b.pool.planes, b.pool.bytes
}

// Upload copies host samples into dst.
func (b *Backend) Upload(ctx context.Context, dst processing.Plane, src processing.Samples) error {
	a := b.args("upload")
	d := a.plane("destination", dst, anyKind...)
	if a.err != nil {
		return a.err
	}
	var bytes []byte
	switch d.kind {
	case processing.U8:
		bytes = src.U8
	case processing.U16:
		bytes = bytesOf(src.U16)
	case processing.U32:
		bytes = bytesOf(src.U32)
	default:
		bytes = bytesOf(src.F32)
	}
	if len(bytes) != d.row()*d.h {
		a.fail("%d samples of the plane's kind given, %d needed", len(bytes)/kindBytes(d.kind), d.w*d.h)
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		return q.copying(stageUpload, func() error { return q.d.upload(d.memory.ptr, d.pitch, bytes, d.row()) })
	})
}

// Host returns the samples of p in pinned host memory.
func (b *Backend) Host(ctx context.Context, p processing.Plane) (processing.Samples, error) {
	a := b.args("host")
	s := a.plane("source", p, anyKind...)
	if a.err != nil {
		return processing.Samples{}, a.err
	}
	err := b.run(ctx, func(q *queue) (err error) {
		if s.fresh {
			return nil
		}
		if s.mirror == nil {
			if s.mirror, err = b.pool.hostGet(q.d, s.row()*s.h); err != nil {
				return err
			}
		}
		err = q.copying(stageDownload, func() error { return q.d.download(s.mirror, s.memory.ptr, s.pitch, s.row(), s.h) })
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
		return processing.Samples{U16: samplesOf[uint16](s.mirror)}, nil
	case processing.U32:
		return processing.Samples{U32: samplesOf[uint32](s.mirror)}, nil
	default:
		return processing.Samples{F32: samplesOf[float32](s.mirror)}, nil
	}
}

// Gather returns src at the given pixel indices; an index outside the plane is an error.
func (b *Backend) Gather(ctx context.Context, dst []uint32, src processing.Plane, index []uint32) error {
	a := b.args("gather")
	s := a.plane("source", src, processing.U8, processing.U16, processing.U32)
	if a.err != nil {
		return a.err
	}
	n := len(index)
	if len(dst) != n {
		a.fail("room for %d values given, %d asked for", len(dst), n)
		return a.err
	}
	if n == 0 {
		return ctx.Err()
	}
	if i := slices.Max(index); int64(i) >= int64(s.w)*int64(s.h) {
		a.fail("index %d lies outside a plane of %d × %d pixels", i, s.w, s.h)
		return a.err
	}
	return b.run(ctx, func(q *queue) error {
		at, err := q.bytes(4 * int64(n))
		if err != nil {
			return err
		}
		out, err := q.bytes(4 * int64(n))
		if err != nil {
			return err
		}
		err = q.copying(stageUpload, func() error { return q.d.upload(at.ptr, 4*int64(n), bytesOf(index), 4*n) })
		if err != nil {
			return err
		}
		grid, block := along(n)
		if err := q.launch("gather"+kindName(s.kind), grid, block, out, s, at, n, s.w); err != nil {
			return err
		}
		host, err := q.fetch(out, 4*n)
		if err != nil {
			return err
		}
		copy(dst, samplesOf[uint32](host))
		return nil
	})
}

var anyKind = []processing.Kind{processing.U8, processing.U16, processing.U32, processing.F32}

// args checks the planes given to an operation; the first mistake stays in err.
type args struct {
	b    *Backend
	op   string
	w, h int
	err  error
}

func (b *Backend) args(op string) *args { return &args{b: b, op: op} }

func (a *args) fail(format string, v ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(a.b.Name()+": "+a.op+": "+format, v...)
	}
}

// plane returns p when it is a living plane of this backend, of one of the kinds, and of the size of those before it.
func (a *args) plane(role string, p processing.Plane, kinds ...processing.Kind) *plane {
	q, ok := p.(*plane)
	switch {
	case p == nil || ok && q == nil:
		a.fail("no %s plane given", role)
		return nil
	case !ok || q.owner != a.b:
		a.fail("the %s plane belongs to another backend", role)
		return nil
	case q.released:
		a.fail("the %s plane was released", role)
	case !slices.Contains(kinds, q.kind):
		names := make([]string, len(kinds))
		for i, k := range kinds {
			names[i] = kindName(k)
		}
		a.fail("the %s plane is %s, must be %s", role, kindName(q.kind), strings.Join(names, " or "))
	case a.w == 0:
		a.w, a.h = q.w, q.h
	case a.w != q.w || a.h != q.h:
		a.fail("the %s plane is %d × %d pixels, the others are %d × %d", role, q.w, q.h, a.w, a.h)
	}
	return q
}

// apart says that dst is written while the sources are still read.
func (a *args) apart(dst *plane, src ...*plane) {
	if dst != nil && slices.Contains(src, dst) {
		a.fail("destination and source are the same plane")
	}
}

// same says that the planes must have one kind.
func (a *args) same(dst, src *plane) {
	if a.err == nil && dst.kind != src.kind {
		a.fail("the destination plane is %s, the source %s; both must be of one kind", kindName(dst.kind), kindName(src.kind))
	}
}

// radius checks a window's radius.
func (a *args) radius(r, most int) {
	if r < 0 || r > most {
		a.fail("radius %d: must be between 0 and %d", r, most)
	}
}
