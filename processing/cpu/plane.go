package cpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"blik/processing"
)

// sample is the type of a plane's samples.
type sample interface {
	uint8 | uint16 | uint32 | float32
}

// plane is a raster in host memory, rows without padding.
type plane struct {
	owner    *Backend
	kind     processing.Kind
	w, h     int
	data     processing.Samples
	released bool
}

func (p *plane) Size() (w, h int)      { return p.w, p.h }
func (p *plane) Kind() processing.Kind { return p.kind }

func (p *plane) Release() {
	if p == nil {
		return
	}
	p.owner.pool.put(p)
}

// pixels returns the samples of p, whose kind must be that of T.
func pixels[T sample](p *plane) []T {
	switch p.kind {
	case processing.U8:
		return any(p.data.U8).([]T)
	case processing.U16:
		return any(p.data.U16).([]T)
	case processing.U32:
		return any(p.data.U32).([]T)
	default:
		return any(p.data.F32).([]T)
	}
}

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

// pool keeps the memory of released planes for the next ones. Slices are interchangeable when kind and number of
// samples agree; when a plane of another number is asked for, another picture is being worked on, and what was kept for
// the last one goes.
type pool struct {
	mu     sync.Mutex
	count  int
	free   [4][]processing.Samples
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
		l.free = [4][]processing.Samples{}
		l.count = n
	}
	if f := l.free[p.kind]; len(f) > 0 {
		p.data = f[len(f)-1]
		l.free[p.kind] = f[:len(f)-1]
	} else {
		switch p.kind {
		case processing.U8:
			p.data.U8 = make([]uint8, n)
		case processing.U16:
			p.data.U16 = make([]uint16, n)
		case processing.U32:
			p.data.U32 = make([]uint32, n)
		case processing.F32:
			p.data.F32 = make([]float32, n)
		}
	}
	l.live++
	l.bytes += int64(n) * int64(kindBytes(p.kind))
	return nil
}

func (l *pool) put(p *plane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.released {
		return
	}
	p.released = true
	n := p.w * p.h
	l.live--
	l.bytes -= int64(n) * int64(kindBytes(p.kind))
	if !l.closed && n == l.count {
		l.free[p.kind] = append(l.free[p.kind], p.data)
	}
	p.data = processing.Samples{}
}

func (l *pool) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.free = [4][]processing.Samples{}
}

// Live returns the number of planes that were allocated and not yet released, and the memory they hold. Both are 0
// when a job has cleaned up after itself.
func (b *Backend) Live() (planes int, bytes int64) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return b.pool.live, b.pool.bytes
}

// maxPixels keeps pixel indices within the 32 bits that Gather takes.
const maxPixels uint64 = 1<<32 - 1

// Alloc returns a plane with undefined content, from the memory of a released one where there is one.
func (b *Backend) Alloc(kind processing.Kind, w, h int) (processing.Plane, error) {
	switch {
	case kind > processing.F32:
		return nil, fmt.Errorf("cpu: plane of unknown kind %d", kind)
	case w < 1 || h < 1:
		return nil, fmt.Errorf("cpu: plane of %d × %d pixels: both sides must be at least 1", w, h)
	case uint64(w) > maxPixels/uint64(h):
		return nil, fmt.Errorf("cpu: plane of %d × %d pixels: more than %d pixels", w, h, maxPixels)
	}
	p := &plane{owner: b, kind: kind, w: w, h: h}
	if err := b.pool.get(p); err != nil {
		return nil, err
	}
	return p, nil
}

// Upload copies host samples into dst.
func (b *Backend) Upload(ctx context.Context, dst processing.Plane, src processing.Samples) error {
	a := b.args("upload")
	d := a.plane("destination", dst, processing.U8, processing.U16, processing.U32, processing.F32)
	if a.err != nil {
		return a.err
	}
	switch d.kind {
	case processing.U8:
		return upload(ctx, b, d.data.U8, src.U8)
	case processing.U16:
		return upload(ctx, b, d.data.U16, src.U16)
	case processing.U32:
		return upload(ctx, b, d.data.U32, src.U32)
	default:
		return upload(ctx, b, d.data.F32, src.F32)
	}
}

func upload[T sample](ctx context.Context, b *Backend, dst, src []T) error {
	if len(src) != len(dst) {
		return fmt.Errorf("cpu: upload: %d samples of the plane's kind given, %d needed", len(src), len(dst))
	}
	return b.spans(ctx, len(dst), func(_ *worker, i, j int) { copy(dst[i:j], src[i:j]) })
}

// Host returns the samples of p themselves.
func (b *Backend) Host(ctx context.Context, p processing.Plane) (processing.Samples, error) {
	a := b.args("host")
	s := a.plane("source", p, processing.U8, processing.U16, processing.U32, processing.F32)
	if a.err != nil {
		return processing.Samples{}, a.err
	}
	return s.data, ctx.Err()
}

// Gather returns src at the given pixel indices; an index outside the plane is an error.
func (b *Backend) Gather(ctx context.Context, dst []uint32, src processing.Plane, index []uint32) error {
	a := b.args("gather")
	s := a.plane("source", src, processing.U8, processing.U16, processing.U32)
	if a.err != nil {
		return a.err
	}
	if len(dst) != len(index) {
		return fmt.Errorf("cpu: gather: room for %d values given, %d asked for", len(dst), len(index))
	}
	if len(index) == 0 {
		return ctx.Err()
	}
	if i := slices.Max(index); int64(i) >= int64(s.w)*int64(s.h) {
		return fmt.Errorf("cpu: gather: index %d lies outside a plane of %d × %d pixels", i, s.w, s.h)
	}
	return b.spans(ctx, len(index), func(_ *worker, i, j int) {
		switch s.kind {
		case processing.U8:
			gather(dst[i:j], s.data.U8, index[i:j])
		case processing.U16:
			gather(dst[i:j], s.data.U16, index[i:j])
		case processing.U32:
			gather(dst[i:j], s.data.U32, index[i:j])
		}
	})
}

func gather[T uint8 | uint16 | uint32](dst []uint32, src []T, index []uint32) {
	for i, j := range index {
		dst[i] = uint32(src[j])
	}
}

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
		a.err = fmt.Errorf("cpu: "+a.op+": "+format, v...)
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
