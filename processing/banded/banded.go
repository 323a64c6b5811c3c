// Package banded lets a device process pictures that are larger than its memory. Its Backend keeps the planes in host
// memory and runs an operation on the device's backend band by band: a band of rows is uploaded with as many rows above
// and below as the operation needs, and the rows that are valid are downloaded. Results equal those of the whole
// picture, bit for bit.
//
// Operations on components, and those that read each pixel once, such as a histogram or a threshold, run on the host's
// backend, because uploading the planes would cost as much; those on whole planes do if these do not fit the device.
package banded

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"blik/internal/parallel"
	"blik/processing"
)

// ErrMemory reports that not even one row of a picture, with the rows around it that an operation needs, fits into the
// memory for bands.
var ErrMemory = errors.New("too little memory for bands of the picture")

// Backend implements processing.Backend by bands on another one. Its planes and components are those of the host's.
type Backend struct {
	// The host has the planes.
	processing.Backend
	inner processing.Backend
	// limit is the memory of inner in bytes that a band may take; it is lowered when inner has less.
	limit int64
	// short reports whether an error of inner is for lack of memory, so that a smaller band may work.
	short func(error) bool
}

var _ processing.Backend = (*Backend)(nil)

// New returns a Backend that works on inner by bands of at most limit bytes, and on host where bands are of no use. The
// planes lie on host, whose method Host must return their samples themselves, as that of package cpu does, because
// results of inner are written there. short reports whether an error of inner means lack of memory; the bands are then
// halved as often as needed. The caller still owns both backends, and must not use them directly while the Backend is
// in use.
func New(inner, host processing.Backend, limit int64, short func(error) bool) *Backend {
	return &Backend{Backend: host, inner: inner, limit: limit, short: short}
}

// Name returns the name of the device that works on the bands.
func (b *Backend) Name() string { return b.inner.Name() }

// Close does nothing: the caller keeps the two backends.
func (b *Backend) Close() error { return nil }

// Stage starts a named stage of inner.
func (b *Backend) Stage(name string) (end func()) { return b.inner.Stage(name) }

// Timings returns the stages as inner has timed them.
func (b *Backend) Timings() []processing.StageTime { return b.inner.Timings() }

// Do carries out an operation by bands, or on the host.
func (b *Backend) Do(ctx context.Context, op processing.Op) error {
	if err := processing.Check(b.Backend, op); err != nil {
		return err
	}
	uses, f := processing.UsesOf(op), op.Footprint()
	writes := func(u processing.PlaneUse) bool { return u.Write }
	if uses.Components != nil || f == (processing.Footprint{}) || !slices.ContainsFunc(uses.Planes, writes) {
		return b.Backend.Do(ctx, op)
	}
	planes, err := b.planesOf(ctx, uses)
	if err == nil {
		err = b.bands(ctx, op, planes)
	}
	if err != nil && ctx.Err() == nil && f.Whole && b.tooLittle(err) {
		return b.Backend.Do(ctx, op)
	}
	return err
}

// tooLittle reports whether an error of bands is for lack of memory.
func (b *Backend) tooLittle(err error) bool { return errors.Is(err, ErrMemory) || b.short(err) }

// plane is a plane that an operation works on.
type plane struct {
	processing.Plane
	read, write bool
	// source holds its samples, result those that it gets: other ones if it is changed in place, because the next band
	// needs rows as they were.
	source, result processing.Samples
}

// planesOf returns the planes that an operation works on, each once.
func (b *Backend) planesOf(ctx context.Context, uses processing.Uses) (list []plane, err error) {
	for _, u := range uses.Planes {
		i := slices.IndexFunc(list, func(p plane) bool { return p.Plane == u.Plane })
		if i < 0 {
			i = len(list)
			list = append(list, plane{Plane: u.Plane})
		}
		p := &list[i]
		// Pixels outside the tiles keep their values.
		p.read, p.write = p.read || u.Read || uses.Tiled, p.write || u.Write
	}
	for i := range list {
		p := &list[i]
		if p.source, err = b.Host(ctx, p.Plane); err != nil {
			return nil, err
		}
		p.result = p.source
		if w, h := p.Size(); p.read && p.write {
			p.result = processing.NewSamples(8*p.Kind().Bytes(), w*h)
		}
	}
	return list, nil
}

// window is a band: rows top to base−1 of the planes, of which rows from … to−1 are valid.
type window struct{ top, base, from, to int }

// leastBytes is the least memory per pixel of a band on the device: its planes, and scratch of operations.
const leastBytes = 32

// bands runs an operation band by band on the device.
func (b *Backend) bands(ctx context.Context, op processing.Op, planes []plane) error {
	w, h := planes[0].Size()
	f := op.Footprint()
	margin, align := f.Rows, min(max(1, f.Align), h)
	if f.Whole {
		margin = h
	}
	bytes := 0
	for _, p := range planes {
		bytes += p.Kind().Bytes()
	}
	rowBytes := int64(w) * int64(max(leastBytes, 3*bytes))
	for from, cause := 0, error(nil); from < h; {
		rows := int(min(b.limit/rowBytes, int64(h)))
		win, ok := windowOf(from, rows, h, margin, align)
		if !ok && cause == nil {
			cause = fmt.Errorf("%s: %w: %d rows of %d pixels fit, %d are needed", b.Name(), ErrMemory, rows, w,
				2*margin+align)
		}
		if !ok {
			return cause
		}
		err := b.band(ctx, op, planes, win)
		switch {
		case err == nil:
			from = win.to
		case ctx.Err() == nil && b.short(err):
			cause = err
			b.limit = int64(rows/2) * rowBytes
		default:
			return err
		}
	}
	for _, p := range planes {
		if p.read && p.write {
			copySamples(p.source, p.result)
		}
	}
	return nil
}

// windowOf returns the band of at most the given rows of h whose valid rows begin with from, and whether there is one.
// At an edge inside the picture, margin rows are invalid; the first row is a multiple of align. All bands have the same
// number of rows unless they must be aligned, so that the device can reuse its memory.
func windowOf(from, rows, h, margin, align int) (window, bool) {
	top := max(0, from-margin)
	top -= top % align
	base := top + rows
	if base < h {
		to := base - margin
		return window{top, base, from, to}, to > from
	}
	if align == 1 {
		top = max(0, h-rows)
	}
	return window{top, h, from, h}, rows > 0
}

// band runs an operation on one window, and stores the valid rows.
func (b *Backend) band(ctx context.Context, op processing.Op, planes []plane, win window) error {
	here := map[processing.Plane]processing.Plane{}
	defer func() {
		for _, q := range here {
			q.Release()
		}
	}()
	for _, p := range planes {
		w, _ := p.Size()
		q, err := b.inner.Alloc(p.Kind(), w, win.base-win.top)
		if err != nil {
			return err
		}
		here[p.Plane] = q
		if p.read {
			if err := b.inner.Upload(ctx, q, p.source.Part(win.top*w, win.base*w)); err != nil {
				return err
			}
		}
	}
	onDevice := processing.Bind(op, func(p processing.Plane) processing.Plane { return here[p] })
	if err := b.inner.Do(ctx, onDevice); err != nil {
		return err
	}
	for _, p := range planes {
		if !p.write {
			continue
		}
		s, err := b.inner.Host(ctx, here[p.Plane])
		if err != nil {
			return err
		}
		w, _ := p.Size()
		copySamples(p.result.Part(win.from*w, win.to*w), s.Part((win.from-win.top)*w, (win.to-win.top)*w))
	}
	return nil
}

func copySamples(dst, src processing.Samples) {
	parallel.Copy(dst.U8, src.U8)
	parallel.Copy(dst.U16, src.U16)
	parallel.Copy(dst.F32, src.F32)
}
