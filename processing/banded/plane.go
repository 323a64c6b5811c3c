package banded

import (
	"context"
	"fmt"

	"blik/processing"
)

// plane is a raster in host memory. Its content is in twin, a plane of the host's backend, where there is one, else in samples,
// which are allocated when they are first needed.
type plane struct {
	owner   *Backend
	kind    processing.Kind
	w, h    int
	samples processing.Samples
	twin    processing.Plane
	// lent says that a caller of Host may still look at samples.
	lent     bool
	released bool
}

func (p *plane) Size() (w, h int)      { return p.w, p.h }
func (p *plane) Kind() processing.Kind { return p.kind }

// Release gives the memory back, as soon as nothing that waits needs it.
func (p *plane) Release() {
	if p == nil || p.released {
		return
	}
	p.released = true
	b := p.owner
	b.memory.live--
	if !b.wanted() {
		dropped := b.pending
		b.pending = nil
		b.freeReleased(dropped)
	}
	if !b.awaited(p) {
		p.free()
	}
}

// wanted says whether somebody may ask for a result of what waits.
func (b *Backend) wanted() bool {
	for _, s := range b.pending {
		for _, p := range s.writes {
			if !p.released {
				return true
			}
		}
	}
	return false
}

// awaited says whether an operation that waits has to do with p.
func (b *Backend) awaited(p *plane) bool {
	for _, s := range b.pending {
		if s.uses(p) {
			return true
		}
	}
	return false
}

// freeReleased frees the planes that were released while the steps waited.
func (b *Backend) freeReleased(steps []step) {
	for _, s := range steps {
		for _, p := range s.planes() {
			if p.released && !b.awaited(p) {
				p.free()
			}
		}
	}
}

// free drops the content.
func (p *plane) free() {
	p.dropTwin()
	p.dropSamples()
}

func (p *plane) dropTwin() {
	if p.twin != nil {
		p.twin.Release()
		p.twin = nil
	}
}

func (p *plane) dropSamples() {
	if !p.lent {
		p.owner.memory.keep(p.kind, p.samples)
	}
	p.samples, p.lent = processing.Samples{}, false
}

// view returns the content, to be read only.
func (p *plane) view(ctx context.Context) (processing.Samples, error) {
	if p.twin != nil {
		return p.owner.host.Host(ctx, p.twin)
	}
	if length(p.samples) == 0 {
		p.samples = p.owner.memory.take(p.kind, p.w*p.h)
	}
	return p.samples, nil
}

// onHost returns the plane of the host's backend that the content is in from now on; with old, that is what it was.
func (p *plane) onHost(ctx context.Context, old bool) (processing.Plane, error) {
	if p.twin != nil {
		return p.twin, nil
	}
	twin, err := p.owner.host.Alloc(p.kind, p.w, p.h)
	if err != nil {
		return nil, err
	}
	if old && length(p.samples) > 0 {
		if err := p.owner.host.Upload(ctx, twin, p.samples); err != nil {
			twin.Release()
			return nil, err
		}
	}
	p.dropSamples()
	p.twin = twin
	return twin, nil
}

// become makes new samples the content.
func (p *plane) become(s processing.Samples) {
	p.free()
	p.samples = s
}

// maxPixels keeps pixel indices within the 32 bits that Gather takes.
const maxPixels uint64 = 1<<32 - 1

// Alloc returns a plane with undefined content.
func (b *Backend) Alloc(kind processing.Kind, w, h int) (processing.Plane, error) {
	switch {
	case kind > processing.F32:
		return nil, fmt.Errorf("%s: plane of unknown kind %d", b.Name(), kind)
	case w < 1 || h < 1:
		return nil, fmt.Errorf("%s: plane of %d × %d pixels: both sides must be at least 1", b.Name(), w, h)
	case uint64(w) > maxPixels/uint64(h):
		return nil, fmt.Errorf("%s: plane of %d × %d pixels: more than %d pixels", b.Name(), w, h, maxPixels)
	}
	b.memory.live++
	return &plane{owner: b, kind: kind, w: w, h: h}, nil
}

// Live returns the number of planes that were allocated and not yet released. It is 0 when a job has cleaned up after
// itself.
func (b *Backend) Live() int { return b.memory.live }

// planes returns living planes of this backend, all of one size.
func (b *Backend) planes(op string, list ...processing.Plane) ([]*plane, error) {
	out := make([]*plane, len(list))
	for i, l := range list {
		p, ok := l.(*plane)
		switch {
		case l == nil || ok && p == nil:
			return nil, fmt.Errorf("%s: %s: a plane is missing", b.Name(), op)
		case !ok || p.owner != b:
			return nil, fmt.Errorf("%s: %s: a plane belongs to another backend", b.Name(), op)
		case p.released:
			return nil, fmt.Errorf("%s: %s: a plane was released", b.Name(), op)
		case i > 0 && (p.w != out[0].w || p.h != out[0].h):
			return nil, fmt.Errorf("%s: %s: planes of %d × %d and of %d × %d pixels", b.Name(), op, out[0].w, out[0].h, p.w, p.h)
		}
		out[i] = p
	}
	return out, nil
}
