package banded

import (
	"context"
	"fmt"
	"slices"

	"blik/internal/parallel"
	"blik/processing"
)

// window is a band: rows top to base−1 of the planes, of which rows from … to−1 are valid. All count from the first row
// of the picture.
type window struct{ top, base, from, to int }

// group is a list of entries that run together on each band.
type group struct {
	entries []*entry
	w, h    int
	outputs []*value
	// last are the values that are no longer needed after each entry.
	last [][]*value
	// margin is how many rows are invalid at an edge of a band inside the picture; align is as in operation.
	margin, align int
	// bytes is the most memory that all values of a pixel take at a time.
	bytes int
}

// newGroup makes a group that computes outputs. It also stores values that were computed before without being stored.
func newGroup(entries []*entry, outputs []*value) *group {
	p := entries[0].slots[0].plane
	g := &group{entries: entries, w: p.w, h: p.h, align: 1, last: make([][]*value, len(entries))}
	last, margin := map[*value]int{}, map[*value]int{}
	for i, s := range entries {
		m := 0
		for _, c := range s.slots {
			if c.read != nil {
				m = max(m, margin[c.read])
				last[c.read] = i
			}
		}
		m += min(s.reach, g.h)
		if len(s.writes) == 0 {
			g.margin = max(g.margin, m)
		}
		for _, c := range s.slots {
			if v := c.write; v != nil {
				margin[v], last[v] = m, i
				if v.made && v.held && v.stored == nil && !slices.Contains(outputs, v) {
					outputs = append(outputs, v)
				}
			}
		}
		// An alignment of at least the height only allows the first row, as the height itself does.
		g.align = min(leastCommonMultiple(g.align, max(1, s.align)), g.h)
	}
	g.outputs = outputs
	for _, v := range outputs {
		g.margin = max(g.margin, margin[v])
		delete(last, v)
	}
	here := map[*value]bool{}
	bytes := 0
	come := func(v *value) {
		if !here[v] {
			here[v] = true
			bytes += v.kind.Bytes()
		}
	}
	for i, s := range entries {
		for _, c := range s.slots {
			if c.read != nil {
				come(c.read)
			}
			if c.write != nil && c.read != nil {
				// Changed in place.
				here[c.read], here[c.write] = false, true
			} else if c.write != nil {
				come(c.write)
			}
		}
		g.bytes = max(g.bytes, bytes)
		for v := range here {
			if k, ends := last[v]; ends && k == i && here[v] {
				g.last[i] = append(g.last[i], v)
				here[v] = false
				bytes -= v.kind.Bytes()
			}
		}
	}
	return g
}

func leastCommonMultiple(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// leastBytes is the least memory per pixel of a band on the device: the planes of detection, and scratch of operations.
const leastBytes = 32

// pixelBytes returns the memory per pixel of a band on the device.
func (g *group) pixelBytes() int64 { return max(leastBytes, 3*int64(g.bytes)) }

// rows returns how many rows of a band fit into limit bytes.
func (g *group) rows(limit int64) int {
	return int(min(limit/(int64(g.w)*g.pixelBytes()), int64(g.h)))
}

// window returns the band of at most the given rows whose valid rows begin with from, and whether there is one. All
// bands have the same number of rows unless they must be aligned, so that the device can reuse its memory.
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

// output is a plane of the host that bands are collected in.
type output struct {
	plane   processing.Plane
	samples processing.Samples
}

// bands runs the entries of a group band by band and stores the outputs.
func (b *Backend) bands(ctx context.Context, g *group) (err error) {
	defer b.pause()()
	out := make([]output, 0, len(g.outputs))
	defer func() {
		if err != nil {
			for _, o := range out {
				o.plane.Release()
			}
		}
	}()
	for _, v := range g.outputs {
		p, err := b.host.Alloc(v.kind, v.w, v.h)
		if err != nil {
			return err
		}
		out = append(out, output{plane: p})
		if out[len(out)-1].samples, err = b.host.Host(ctx, p); err != nil {
			return err
		}
	}
	limit, cause := b.limit, error(nil)
	for from := 0; from < g.h; {
		rows := g.rows(limit)
		win, ok := g.window(from, rows)
		if !ok && cause == nil {
			cause = fmt.Errorf("%s: %w: %d rows of %d pixels fit, %d are needed", b.Name(), ErrMemory, rows, g.w,
				2*g.margin+g.align)
		}
		if !ok {
			return cause
		}
		err := b.band(ctx, g, win, out)
		switch {
		case err == nil:
			from = win.to
		case ctx.Err() == nil && b.short(err):
			cause = err
			limit = int64(rows/2) * int64(g.w) * g.pixelBytes()
		default:
			return err
		}
	}
	b.limit = limit
	for i, v := range g.outputs {
		v.store(out[i].plane)
	}
	for _, s := range g.entries {
		for _, c := range s.slots {
			if c.write != nil && c.write.stored == nil {
				c.write.made = true
			}
		}
	}
	return nil
}

// band runs the entries on one window and copies the valid rows into out.
func (b *Backend) band(ctx context.Context, g *group, win window, out []output) error {
	here := map[*value]processing.Plane{}
	defer func() {
		for _, q := range here {
			q.Release()
		}
	}()
	for i, s := range g.entries {
		on := &target{Backend: b.inner, window: win, planes: map[*plane]processing.Plane{}}
		for _, c := range s.slots {
			q, err := b.place(ctx, here, c, win)
			if err != nil {
				return err
			}
			on.planes[c.plane] = q
		}
		if err := b.timed(s.stage, func() error { return s.run(ctx, on) }); err != nil {
			return err
		}
		for _, v := range g.last[i] {
			here[v].Release()
			delete(here, v)
		}
	}
	for i, v := range g.outputs {
		if err := b.timed(stageDownload, func() error {
			s, err := b.inner.Host(ctx, here[v])
			if err != nil {
				return err
			}
			dst := out[i].samples.Part(win.from*g.w, win.to*g.w)
			src := s.Part((win.from-win.top)*g.w, (win.to-win.top)*g.w)
			parallel.Copy(dst.U8, src.U8)
			parallel.Copy(dst.U16, src.U16)
			parallel.Copy(dst.F32, src.F32)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// place returns the device plane for a slot of an entry, with the rows of the value that is read.
func (b *Backend) place(ctx context.Context, here map[*value]processing.Plane, c slot,
	win window) (processing.Plane, error) {
	w := c.plane.w
	q := here[c.read]
	if q == nil {
		var err error
		if q, err = b.inner.Alloc(c.plane.kind, w, win.base-win.top); err != nil {
			return nil, err
		}
		if c.read == nil {
			here[c.write] = q
			return q, nil
		}
		here[c.read] = q
		s, err := b.host.Host(ctx, c.read.stored)
		if err != nil {
			return nil, err
		}
		rows := s.Part(win.top*w, win.base*w)
		if err := b.timed(stageUpload, func() error { return b.inner.Upload(ctx, q, rows) }); err != nil {
			return nil, err
		}
	}
	if c.write != nil {
		delete(here, c.read)
		here[c.write] = q
	}
	return q, nil
}
