package banded

import (
	"context"
	"slices"

	"blik/internal/parallel"
	"blik/internal/span"
	"blik/processing"
)

// Components are made and kept on the device if the class plane fits there in one piece, at a byte per pixel. If the
// host needs them too, or the device runs out of memory, they are made again on the host, from values that are kept for
// that.

// origin is one of the operations that made components: a Label, Grow or FilterComponents.
type origin struct {
	op processing.Op
	// class is the content of the class plane that was labelled or grown over, else nil.
	class *value
}

// components are on the device, on the host, or on both.
type components struct {
	processing.Handle
	origins []origin
	inner   processing.Components
	host    processing.Components
}

func (c *components) Len() int {
	if c.inner != nil {
		return c.inner.Len()
	}
	return c.host.Len()
}

func (c *components) Release() {
	if !c.MarkReleased() {
		return
	}
	for _, l := range []processing.Components{c.inner, c.host} {
		if l != nil {
			l.Release()
		}
	}
	for _, o := range c.origins {
		if o.class != nil {
			o.class.drop()
		}
	}
}

// from returns components with the given origins that are not made yet.
func (b *Backend) from(p *plane, origins ...origin) *components {
	for _, o := range origins {
		if o.class != nil {
			o.class.users++
		}
	}
	return &components{Handle: processing.NewHandle(b, p.w, p.h), origins: origins}
}

// componentBytes is the memory per pixel of a class plane on the device, scratch for components included.
const componentBytes = 4

// onDevice runs f with a whole plane of the device that holds v, and reports whether it did. Lack of memory on the
// device is no error.
func (b *Backend) onDevice(ctx context.Context, v *value, f func(q processing.Plane) error) (done bool, err error) {
	if b.crowded || b.limit/componentBytes < int64(v.w)*int64(v.h) {
		return false, nil
	}
	defer func() {
		if err != nil && ctx.Err() == nil && b.short(err) {
			b.crowded, done, err = true, false, nil
		}
	}()
	q, err := b.inner.Alloc(v.kind, v.w, v.h)
	if err != nil {
		return false, err
	}
	defer q.Release()
	s, err := b.host.Host(ctx, v.stored)
	if err != nil {
		return false, err
	}
	if err := b.inner.Upload(ctx, q, s); err != nil {
		return false, err
	}
	err = f(q)
	return err == nil, err
}

// atHost returns the components on the host's backend, and makes them there if needed.
func (b *Backend) atHost(ctx context.Context, c *components) (processing.Components, error) {
	if c.host != nil {
		return c.host, nil
	}
	var made processing.Components
	for _, o := range c.origins {
		var next processing.Components
		var err error
		switch op := o.op.(type) {
		case processing.FilterComponents:
			op.Components, next = made, made
			err = b.host.Do(ctx, op)
		case processing.Grow:
			op.Cores, op.Class = made, o.class.stored
			if next, err = processing.Evaluate(ctx, b.host, op); err == nil {
				made.Release()
			}
		case processing.Label:
			op.Class = o.class.stored
			next, err = processing.Evaluate(ctx, b.host, op)
		}
		if err != nil {
			if made != nil {
				made.Release()
			}
			return nil, err
		}
		made = next
	}
	c.host = made
	return made, nil
}

// label finds the components of a class plane.
func (b *Backend) label(ctx context.Context, op processing.Label) (processing.Components, error) {
	p := op.Class.(*plane)
	if err := b.demandAll(ctx, []*plane{p}); err != nil {
		return nil, err
	}
	c := b.from(p, origin{op, p.content})
	done, err := b.onDevice(ctx, p.content, func(q processing.Plane) (err error) {
		op.Class = q
		c.inner, err = processing.Evaluate(ctx, b.inner, op)
		return err
	})
	return b.finished(ctx, c, done, err)
}

// finished makes the components on the host if the device did not.
func (b *Backend) finished(ctx context.Context, c *components, done bool, err error) (processing.Components, error) {
	if err == nil && !done {
		_, err = b.atHost(ctx, c)
	}
	if err != nil {
		c.Release()
		return nil, err
	}
	return c, nil
}

// grow extends cores over pixels of a class plane.
func (b *Backend) grow(ctx context.Context, op processing.Grow) (processing.Components, error) {
	p, cores := op.Class.(*plane), op.Cores.(*components)
	if err := b.demandAll(ctx, []*plane{p}); err != nil {
		return nil, err
	}
	c := b.from(p, append(slices.Clone(cores.origins), origin{op, p.content})...)
	if cores.inner == nil {
		var err error
		op.Cores, op.Class = cores.host, p.content.stored
		c.host, err = processing.Evaluate(ctx, b.host, op)
		return b.finished(ctx, c, err == nil, err)
	}
	done, err := b.onDevice(ctx, p.content, func(q processing.Plane) (err error) {
		op.Cores, op.Class = cores.inner, q
		c.inner, err = processing.Evaluate(ctx, b.inner, op)
		return err
	})
	return b.finished(ctx, c, done, err)
}

// filterComponents empties the components that are not kept.
func (b *Backend) filterComponents(ctx context.Context, op processing.FilterComponents) error {
	c := op.Components.(*components)
	for _, at := range []struct {
		backend processing.Backend
		list    processing.Components
	}{{b.inner, c.inner}, {b.host, c.host}} {
		if at.list == nil {
			continue
		}
		if err := at.backend.Do(ctx, processing.FilterComponents{Components: at.list, Keep: op.Keep}); err != nil {
			return err
		}
	}
	if len(op.Keep) > 0 {
		c.origins = append(c.origins, origin{op: processing.FilterComponents{Keep: slices.Clone(op.Keep)}})
	}
	return nil
}

// rasterize writes 255 into a plane where a component is, 0 elsewhere.
func (b *Backend) rasterize(ctx context.Context, op processing.Rasterize) error {
	p, c := op.Dst.(*plane), op.Components.(*components)
	return b.onHost(ctx, operation{writes: []*plane{p}, run: func(ctx context.Context, on *target) error {
		dst := on.planes[p]
		if c.inner == nil {
			list, err := b.atHost(ctx, c)
			if err != nil {
				return err
			}
			return on.Do(ctx, processing.Rasterize{Dst: dst, Components: list})
		}
		// Spans are small compared with the plane that the device would write and send.
		spans, err := processing.Evaluate(ctx, b.inner, processing.Spans{Components: c.inner})
		if err != nil {
			return err
		}
		s, err := b.host.Host(ctx, dst)
		if err != nil {
			return err
		}
		parallel.Split(len(s.U8), 1<<18, func(from, to int) { clear(s.U8[from:to]) })
		span.Fill(s.U8, p.w, spans, 255)
		return ctx.Err()
	}})
}

// spans returns the runs of pixels of equal label.
func (b *Backend) spans(ctx context.Context, op processing.Spans) ([]processing.Span, error) {
	c := op.Components.(*components)
	if c.inner != nil {
		op.Components = c.inner
		return processing.Evaluate(ctx, b.inner, op)
	}
	op.Components = c.host
	return processing.Evaluate(ctx, b.host, op)
}

// measureGlints runs on the host: it reads five bytes per pixel of a component and its surroundings.
func (b *Backend) measureGlints(ctx context.Context, op processing.MeasureGlints) error {
	list, err := b.atHost(ctx, op.Components.(*components))
	if err != nil {
		return err
	}
	op.Components = list
	return b.onHost(ctx, newOperation(op))
}
