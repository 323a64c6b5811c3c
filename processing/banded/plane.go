package banded

import (
	"context"

	"blik/processing"
)

// plane is a raster whose content changes with every operation that writes it.
type plane struct {
	processing.Handle
	backend *Backend
	kind    processing.Kind
	w, h    int
	// content is nil until the plane is first used.
	content *value
}

func (p *plane) Kind() processing.Kind { return p.kind }

// Release frees the memory as soon as no recorded entry needs it.
func (p *plane) Release() {
	if p != nil && p.MarkReleased() {
		p.backend.live--
		p.assign(nil)
	}
}

// assign makes v the content.
func (p *plane) assign(v *value) {
	old := p.content
	p.content = v
	if v != nil {
		v.users++
		v.held = true
	}
	if old != nil {
		old.held = false
		old.drop()
	}
}

// current returns the content; that of a plane never written is undefined.
func (p *plane) current() (*value, error) {
	if p.content == nil {
		stored, err := p.backend.host.Alloc(p.kind, p.w, p.h)
		if err != nil {
			return nil, err
		}
		p.assign(&value{kind: p.kind, w: p.w, h: p.h, stored: stored})
	}
	return p.content, nil
}

// value is the content of a plane between two operations that write it. An entry produces it; it never changes.
type value struct {
	kind processing.Kind
	w, h int
	// stored is a plane of the host with the content, nil until entry has produced it.
	stored processing.Plane
	entry  *entry
	// users counts the plane whose content it is, if held, and the recorded entries that read it.
	users int
	held  bool
	// margin is how many rows beyond its own the entries since the last stored values need.
	margin int
	// made: the device computed it before, as an intermediate value, and it was not stored.
	made bool
}

// drop decrements the reference count.
func (v *value) drop() {
	if v.users--; v.users > 0 {
		return
	}
	if v.entry != nil {
		v.entry.drop()
		v.entry = nil
	}
	if v.stored != nil {
		v.stored.Release()
		v.stored = nil
	}
}

// store keeps the content, so that no entry needs to produce it any more.
func (v *value) store(p processing.Plane) {
	s := v.entry
	v.stored, v.entry, v.margin = p, nil, 0
	if s != nil {
		s.drop()
	}
}

// Alloc returns a plane with undefined content.
func (b *Backend) Alloc(kind processing.Kind, w, h int) (processing.Plane, error) {
	if err := processing.CheckAlloc(b, kind, w, h); err != nil {
		return nil, err
	}
	b.live++
	return &plane{Handle: processing.NewHandle(b, w, h), backend: b, kind: kind, w: w, h: h}, nil
}

// Live returns the number of planes that were allocated and not yet released; 0 after a job has cleaned up.
func (b *Backend) Live() int { return b.live }

// samples returns the content of p in host memory, to be read only.
func (b *Backend) samples(ctx context.Context, p *plane) (processing.Samples, error) {
	v, err := p.current()
	if err != nil {
		return processing.Samples{}, err
	}
	if err := b.demand(ctx, v); err != nil {
		return processing.Samples{}, err
	}
	return b.host.Host(ctx, v.stored)
}
