package banded

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"blik/processing"
)

// step is an operation, to be done on the backend of the device or of the host.
type step struct {
	// stage is the name of the stage that it belongs to.
	stage string
	// reads are the planes whose old content matters, writes those that change.
	reads, writes []*plane
	// reach is how many rows above and below a pixel its result depends on.
	reach int
	// align, where above 1, is what the first row of a band must be a multiple of.
	align int
	run   func(ctx context.Context, on *site) error
}

// planes lists what the step reads and writes.
func (s *step) planes() []*plane {
	list := slices.Clone(s.reads)
	for _, p := range s.writes {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

func (s *step) uses(p *plane) bool {
	return slices.Contains(s.reads, p) || slices.Contains(s.writes, p)
}

// site is where a step is done: a backend, its counterparts of the planes, and the rows that they hold.
type site struct {
	processing.Backend
	window
	planes map[*plane]processing.Plane
}

func (s *site) of(p *plane) processing.Plane { return s.planes[p] }

func (s *site) all(list []*plane) []processing.Plane {
	out := make([]processing.Plane, len(list))
	for i, p := range list {
		out[i] = s.planes[p]
	}
	return out
}

// window is rows top to base−1 of the planes, of which those from … to−1 come out as in the whole picture.
type window struct{ top, base, from, to int }

// group is a list of steps to be done together on each band.
type group struct {
	steps []step
	w, h  int
	// planes are all that the steps use. inputs are sent over, outputs taken back.
	planes, inputs, outputs []*plane
	// margin is how many rows at an edge of a band that is none of the picture come out wrong; align is as in step.
	margin, align int
	// bytes is what a pixel takes in all planes.
	bytes int
}

// newGroup takes back all planes that are written, or with wanted only those that were not released.
func newGroup(steps []step, wanted bool) *group {
	first := steps[0].writes[0]
	g := &group{steps: steps, w: first.w, h: first.h, align: 1}
	margin := map[*plane]int{}
	for i := range steps {
		s := &steps[i]
		m := 0
		for _, p := range s.reads {
			if _, known := margin[p]; !known {
				g.inputs = append(g.inputs, p)
				margin[p] = 0
			}
			m = max(m, margin[p])
		}
		m += min(max(s.reach, 0), g.h)
		for _, p := range s.writes {
			margin[p] = m
			if !slices.Contains(g.outputs, p) && !(wanted && p.released) {
				g.outputs = append(g.outputs, p)
			}
		}
		g.align = max(g.align, s.align)
		for _, p := range s.planes() {
			if !slices.Contains(g.planes, p) {
				g.planes = append(g.planes, p)
				g.bytes += kindBytes(p.kind)
			}
		}
	}
	for _, p := range g.outputs {
		g.margin = max(g.margin, margin[p])
	}
	return g
}

// pixelBytes is what a pixel of a band takes on the device: the planes, and what operations need beside them.
func (g *group) pixelBytes() int64 { return max(32, 3*int64(g.bytes)) }

// rows is how many rows of a band fit into so many bytes.
func (g *group) rows(limit int64) int {
	return int(min(limit/(int64(g.w)*g.pixelBytes()), int64(g.h)))
}

// window returns the band of at most the given rows that gives the rows from from on. All bands have equally many rows
// where no alignment is asked for, so that the device uses the same memory for each. It says whether there is one.
func (g *group) window(from, rows int) (window, bool) {
	top := max(0, from-g.margin)
	top -= top % g.align
	base := top + rows
	if base < g.h {
		to := base - g.margin
		return window{top, base, from, to}, to > from
	}
	if g.align == 1 {
		top = max(0, g.h-rows)
	}
	return window{top, g.h, from, g.h}, rows > 0
}

// now does a step at once, after those that wait.
func (b *Backend) now(ctx context.Context, s step) error {
	if err := b.flush(ctx); err != nil {
		return err
	}
	s.stage = b.stage()
	return b.bands(ctx, newGroup([]step{s}, false))
}

// stage returns the name of the innermost open stage, empty where there is none.
func (b *Backend) stage() string {
	if n := len(b.open); n > 0 {
		return b.open[n-1].name
	}
	return ""
}

// later lets a step wait. Those before it go first where together they would take too much memory, or so much halo that computing
// that twice costs more than sending planes twice.
func (b *Backend) later(ctx context.Context, s step) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.stage = b.stage()
	if len(b.pending) > 0 {
		g := newGroup(append(slices.Clone(b.pending), s), true)
		p := s.writes[0]
		rows := g.rows(b.limit)
		if p.w != g.w || p.h != g.h || g.align > 1 || rows < g.h && rows < max(1, 8*g.margin) {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
	b.pending = append(b.pending, s)
	return nil
}

// flush does what waits. After an error it is forgotten, and its destinations are undefined.
func (b *Backend) flush(ctx context.Context) error {
	steps := b.pending
	b.pending = nil
	defer b.freeReleased(steps)
	if len(steps) == 0 {
		return ctx.Err()
	}
	err := b.bands(ctx, newGroup(steps, true))
	if err == nil || len(steps) == 1 || ctx.Err() != nil || !b.tooLittle(err) {
		return err
	}
	// One step alone takes less memory.
	for i := range steps {
		if err := b.bands(ctx, newGroup(steps[i:i+1], false)); err != nil {
			return err
		}
	}
	return nil
}

// onHost does a step on the host at once, after those that wait.
func (b *Backend) onHost(ctx context.Context, s step) error {
	if err := b.flush(ctx); err != nil {
		return err
	}
	on := &site{Backend: b.host, planes: map[*plane]processing.Plane{}}
	for _, p := range s.planes() {
		twin, err := p.onHost(ctx, slices.Contains(s.reads, p))
		if err != nil {
			return err
		}
		on.planes[p] = twin
	}
	return s.run(ctx, on)
}

// whole does a step at once, on the device where its planes fit there in one piece, else on the host.
func (b *Backend) whole(ctx context.Context, s step) error {
	if err := b.flush(ctx); err != nil {
		return err
	}
	s.reach = s.writes[0].h
	s.stage = b.stage()
	err := b.bands(ctx, newGroup([]step{s}, false))
	if err == nil || ctx.Err() != nil || !b.tooLittle(err) {
		return err
	}
	return b.onHost(ctx, s)
}

// bands does the steps of a group band by band. Until all bands are done the inputs stay as they are.
func (b *Backend) bands(ctx context.Context, g *group) error {
	defer b.pause()()
	fresh := map[*plane]processing.Samples{}
	for _, p := range g.outputs {
		if !slices.Contains(g.inputs, p) {
			p.free()
		}
	}
	for _, p := range g.outputs {
		fresh[p] = b.memory.take(p.kind, p.w*p.h)
	}
	planes := map[*plane]processing.Plane{}
	defer func() { release(planes) }()
	limit, cause := b.limit, error(nil)
	for from := 0; from < g.h; {
		rows := g.rows(limit)
		win, ok := g.window(from, rows)
		if !ok && cause == nil {
			cause = fmt.Errorf("%s: %w: %d rows of %d pixels fit, %d are needed", b.Name(), ErrMemory, rows, g.w, 2*g.margin+1)
		}
		if !ok {
			return cause
		}
		err := b.band(ctx, g, &site{Backend: b.inner, window: win, planes: planes}, fresh)
		switch {
		case err == nil:
			from = win.to
		case ctx.Err() == nil && b.short(err):
			cause = err
			release(planes)
			limit = int64(rows/2) * int64(g.w) * g.pixelBytes()
		default:
			return err
		}
	}
	b.limit = limit
	for p, s := range fresh {
		p.become(s)
	}
	return nil
}

// tooLittle says whether an error of bands is for want of memory.
func (b *Backend) tooLittle(err error) bool { return errors.Is(err, ErrMemory) || b.short(err) }

func release(planes map[*plane]processing.Plane) {
	for _, q := range planes {
		q.Release()
	}
	clear(planes)
}

// band does the steps on one window and copies what came out right into fresh.
func (b *Backend) band(ctx context.Context, g *group, on *site, fresh map[*plane]processing.Samples) error {
	rows := on.base - on.top
	for _, p := range g.planes {
		if q := on.planes[p]; q != nil {
			if _, h := q.Size(); h == rows {
				continue
			}
			q.Release()
			delete(on.planes, p)
		}
		q, err := b.inner.Alloc(p.kind, g.w, rows)
		if err != nil {
			return err
		}
		on.planes[p] = q
	}
	for _, p := range g.inputs {
		s, err := p.view(ctx)
		if err != nil {
			return err
		}
		if err := b.timed(stageUpload, func() error {
			return b.inner.Upload(ctx, on.of(p), part(s, on.top*g.w, on.base*g.w))
		}); err != nil {
			return err
		}
	}
	for i := range g.steps {
		s := &g.steps[i]
		if err := b.timed(s.stage, func() error { return s.run(ctx, on) }); err != nil {
			return err
		}
	}
	for _, p := range g.outputs {
		if err := b.timed(stageDownload, func() error {
			s, err := b.inner.Host(ctx, on.of(p))
			if err != nil {
				return err
			}
			copySamples(part(fresh[p], on.from*g.w, on.to*g.w), part(s, (on.from-on.top)*g.w, (on.to-on.top)*g.w))
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
