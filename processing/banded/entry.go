package banded

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"blik/processing"
)

// operation is a request to Backend, usually a processing.Op.
type operation struct {
	// reads are the planes whose content matters, writes those that get new content.
	reads, writes []*plane
	// reach is how many rows above and below a pixel its result depends on.
	reach int
	// align, if above 1, must divide the number of the first row of a band.
	align int
	run   func(ctx context.Context, on *target) error
}

// target is where an entry runs: a backend, its counterparts of the planes, and the rows that they hold.
type target struct {
	processing.Backend
	window
	planes map[*plane]processing.Plane
}

// binding replaces planes by their counterparts, and a picture by the rows of the band.
func (t *target) binding() processing.Binding {
	return processing.Binding{
		Plane:   func(p processing.Plane) processing.Plane { return t.planes[p.(*plane)] },
		Picture: func(pic *processing.Picture) *processing.Picture { return rowsOf(pic, t.top, t.base) },
	}
}

// entry is a recorded operation with the values that its planes had before and have after it.
type entry struct {
	operation
	// number is the position in the order of calls. A value that an entry changes in place is read by no later entry.
	number int
	// stage is the name of the stage that it counts towards.
	stage string
	slots []slot
	// wanted counts the values that this entry has yet to produce.
	wanted int
}

// slot is a plane of an entry, with the value that is read and the one that is written, or nil. If both are set, the
// entry changes the plane in place.
type slot struct {
	plane       *plane
	read, write *value
}

// drop decrements the number of values that the entry has to produce.
func (s *entry) drop() {
	if s.wanted--; s.wanted > 0 {
		return
	}
	for _, c := range s.slots {
		if c.read != nil {
			c.read.drop()
		}
	}
}

// record makes an entry of an operation, which the caller must drop. Its values replace the content of the planes.
func (b *Backend) record(o operation) (*entry, error) {
	b.number++
	s := &entry{operation: o, number: b.number, stage: b.stage(), wanted: 1}
	margin := 0
	for _, p := range o.reads {
		if slices.ContainsFunc(s.slots, func(c slot) bool { return c.plane == p }) {
			continue
		}
		v, err := p.current()
		if err != nil {
			s.drop()
			return nil, err
		}
		v.users++
		margin = max(margin, v.margin)
		s.slots = append(s.slots, slot{plane: p, read: v})
	}
	margin += min(o.reach, o.size())
	for _, p := range o.writes {
		i := slices.IndexFunc(s.slots, func(c slot) bool { return c.plane == p })
		if i < 0 {
			i = len(s.slots)
			s.slots = append(s.slots, slot{plane: p})
		}
		if s.slots[i].write == nil {
			s.wanted++
			s.slots[i].write = &value{kind: p.kind, w: p.w, h: p.h, entry: s, margin: margin}
			p.assign(s.slots[i].write)
		}
	}
	return s, nil
}

// size returns the height of the planes.
func (o *operation) size() int {
	if len(o.writes) > 0 {
		return o.writes[0].h
	}
	return o.reads[0].h
}

// stage returns the name of the innermost open stage, empty if there is none.
func (b *Backend) stage() string {
	if n := len(b.open); n > 0 {
		return b.open[n-1].name
	}
	return ""
}

// later records an operation. Its inputs are stored first if the common halo would become so large that computing it
// twice costs more than transferring planes twice.
func (b *Backend) later(ctx context.Context, o operation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := o.writes[0]
	margin := 0
	for _, r := range o.reads {
		if r.content != nil {
			margin = max(margin, r.content.margin)
		}
	}
	if rows := b.limit / (leastBytes * int64(p.w)); margin > 0 && rows < int64(p.h) && rows < 8*int64(margin+o.reach) {
		if err := b.demandAll(ctx, o.reads); err != nil {
			return err
		}
	}
	s, err := b.record(o)
	if err != nil {
		return err
	}
	s.drop()
	return nil
}

// now carries out an operation at once.
func (b *Backend) now(ctx context.Context, o operation) error {
	s, err := b.record(o)
	if err != nil {
		return err
	}
	defer s.drop()
	return b.demandAll(ctx, o.writes)
}

// onHost carries out an operation on the host at once.
func (b *Backend) onHost(ctx context.Context, o operation) error {
	if err := b.demandAll(ctx, o.reads); err != nil {
		return err
	}
	s, err := b.record(o)
	if err != nil {
		return err
	}
	defer s.drop()
	return b.doOnHost(ctx, s)
}

// whole carries out an operation at once, on the device if its planes fit in one piece, else on the host.
func (b *Backend) whole(ctx context.Context, o operation) error {
	if err := b.demandAll(ctx, o.reads); err != nil {
		return err
	}
	o.reach = o.size()
	s, err := b.record(o)
	if err != nil {
		return err
	}
	defer s.drop()
	if err := b.demandAll(ctx, o.writes); err == nil || ctx.Err() != nil || !b.tooLittle(err) {
		return err
	}
	return b.doOnHost(ctx, s)
}

// doOnHost runs an entry whose inputs are stored. After an error its outputs are undefined.
func (b *Backend) doOnHost(ctx context.Context, s *entry) error {
	on := &target{Backend: b.host, planes: map[*plane]processing.Plane{}}
	defer func() {
		for _, c := range s.slots {
			if q := on.planes[c.plane]; c.write != nil && q != nil {
				c.write.store(q)
			}
		}
	}()
	for _, c := range s.slots {
		if c.write == nil {
			on.planes[c.plane] = c.read.stored
			continue
		}
		q, err := b.host.Alloc(c.plane.kind, c.plane.w, c.plane.h)
		if err != nil {
			return err
		}
		on.planes[c.plane] = q
		if c.read == nil {
			continue
		}
		old, err := b.host.Host(ctx, c.read.stored)
		if err != nil {
			return err
		}
		if err := b.host.Upload(ctx, q, old); err != nil {
			return err
		}
	}
	return s.run(ctx, on)
}

func (b *Backend) demandAll(ctx context.Context, planes []*plane) error {
	list := make([]*value, len(planes))
	for i, p := range planes {
		v, err := p.current()
		if err != nil {
			return err
		}
		list[i] = v
	}
	return b.demand(ctx, list...)
}

// demand stores values of one size: it runs the entries that lead to them.
func (b *Backend) demand(ctx context.Context, values ...*value) error {
	var entries []*entry
	var add func(s *entry)
	need := func(v *value) {
		if v.stored == nil && !slices.Contains(entries, v.entry) {
			add(v.entry)
		}
	}
	add = func(s *entry) {
		entries = append(entries, s)
		for _, c := range s.slots {
			if c.read != nil {
				need(c.read)
			}
		}
	}
	var outputs []*value
	for _, v := range values {
		if need(v); v.stored == nil && !slices.Contains(outputs, v) {
			outputs = append(outputs, v)
		}
	}
	if len(entries) == 0 {
		return ctx.Err()
	}
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.number, b.number) })
	err := b.bands(ctx, newGroup(entries, outputs))
	if err == nil || len(entries) == 1 || ctx.Err() != nil || !b.tooLittle(err) {
		return err
	}
	// A single entry takes less memory.
	for _, s := range entries {
		var outputs []*value
		for _, c := range s.slots {
			if c.write != nil && c.write.users > 0 && c.write.stored == nil {
				outputs = append(outputs, c.write)
			}
		}
		if err := b.bands(ctx, newGroup([]*entry{s}, outputs)); err != nil {
			return err
		}
	}
	return nil
}

// tooLittle reports whether an error of bands is for lack of memory.
func (b *Backend) tooLittle(err error) bool { return errors.Is(err, ErrMemory) || b.short(err) }
