package cpu

import (
	"cmp"
	"context"
	"math"
	"slices"

	"blik/processing"
	"blik/processing/internal/span"
)

// components are labelled spans in reading order.
type components struct {
	processing.Handle
	n     int
	spans []processing.Span
}

func (b *Backend) newComponents(p *plane, n int) *components {
	return &components{Handle: processing.NewHandle(b, p.w, p.h), n: n}
}

func (c *components) Len() int { return c.n }

func (c *components) Release() {
	c.spans = nil
	c.MarkReleased()
}

// runs returns the runs of pixels of a class plane with one of the given bits.
func (b *Backend) runs(ctx context.Context, cls *plane, bits uint8) ([]processing.Span, error) {
	rows := max(1, b.tiling.span/cls.w)
	parts := make([][]processing.Span, (cls.h+rows-1)/rows)
	if err := b.each(ctx, len(parts), func(_ *worker, i int) {
		parts[i] = span.Append(nil, cls.data.U8, cls.w, i*rows, min(cls.h, (i+1)*rows), bits)
	}); err != nil {
		return nil, err
	}
	return slices.Concat(parts...), nil
}

// Label returns the 8-connected components of the pixels of cls that have one of the given bits.
func (b executor) Label(ctx context.Context, op processing.Label) (processing.Components, error) {
	c := op.Class.(*plane)
	spans, err := b.runs(ctx, c, op.Bits)
	if err != nil {
		return nil, err
	}
	out := b.newComponents(c, span.Connect(spans, span.Eight))
	out.spans = spans
	return out, nil
}

// FilterComponents empties the components whose label is not kept.
func (b executor) FilterComponents(ctx context.Context, op processing.FilterComponents) error {
	q := op.Components.(*components)
	q.spans = slices.DeleteFunc(q.spans, func(s processing.Span) bool { return !op.Keep[s.Label] })
	return ctx.Err()
}

// Rasterize writes 255 into dst where a component is, 0 elsewhere.
func (b executor) Rasterize(ctx context.Context, op processing.Rasterize) error {
	d, q := op.Dst.(*plane), op.Components.(*components)
	if err := b.chunks(ctx, d.w*d.h, func(_ *worker, i, j int) { clear(d.data.U8[i:j]) }); err != nil {
		return err
	}
	span.Fill(d.data.U8, d.w, q.spans, 255)
	return ctx.Err()
}

// FillHoles writes 255 into the pixels of dst that are 0 and do not reach the border.
func (b executor) FillHoles(ctx context.Context, op processing.FillHoles) error {
	d := op.Dst.(*plane)
	spans, err := b.runs(ctx, d, 255)
	if err != nil {
		return err
	}
	span.Fill(d.data.U8, d.w, span.Holes(spans, d.w, d.h), 255)
	return ctx.Err()
}

// Spans returns the runs of pixels of equal label.
func (b executor) Spans(ctx context.Context, op processing.Spans) ([]processing.Span, error) {
	return slices.Clone(op.Components.(*components).spans), ctx.Err()
}

// Grow extends cores over pixels of Class with ClassGrow.
//
// Whatever a core may reach lies with it in one connected set of pixels that are core or can grow, an island. Islands
// are independent of each other, and most are small.
func (b executor) Grow(ctx context.Context, op processing.Grow) (processing.Components, error) {
	c, k := op.Class.(*plane), op.Cores.(*components)
	out := b.newComponents(c, k.n)
	if len(k.spans) == 0 {
		return out, ctx.Err()
	}
	growable, err := b.runs(ctx, c, processing.ClassGrow)
	if err != nil {
		return nil, err
	}
	gr := &growth{rule: op.Growth, w: int32(c.w), areas: make([]int, k.n), limits: make([]int32, k.n)}
	for _, s := range k.spans {
		gr.areas[s.Label] += int(s.X1 - s.X0)
	}
	for i, area := range gr.areas {
		far := op.Growth.Far(area)
		gr.limits[i] = int32(far * far)
	}
	islands := gr.islands(unite(growable, k.spans), k.spans)
	parts := make([][]processing.Span, len(islands))
	if err := b.each(ctx, len(islands), func(t *worker, i int) { parts[i] = islands[i].grow(t, gr) }); err != nil {
		return nil, err
	}
	out.spans = inReadingOrder(parts, c.h)
	return out, ctx.Err()
}

// inReadingOrder joins the spans of islands: by rows, which are counted, and then along each row.
func inReadingOrder(parts [][]processing.Span, h int) []processing.Span {
	ends := make([]int, h+1)
	for _, part := range parts {
		for i := range part {
			ends[part[i].Y+1]++
		}
	}
	for y := range h {
		ends[y+1] += ends[y]
	}
	next := slices.Clone(ends[:h])
	spans := make([]processing.Span, ends[h])
	for _, part := range parts {
		for _, s := range part {
			spans[next[s.Y]] = s
			next[s.Y]++
		}
	}
	for y := range h {
		slices.SortFunc(spans[ends[y]:ends[y+1]], func(a, b processing.Span) int { return cmp.Compare(a.X0, b.X0) })
	}
	return spans
}

// unite returns the union of two sets of spans, each in reading order, as maximal runs.
func unite(a, b []processing.Span) []processing.Span {
	out := make([]processing.Span, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		from := &a
		if len(a) == 0 || len(b) > 0 && (b[0].Y < a[0].Y || b[0].Y == a[0].Y && b[0].X0 < a[0].X0) {
			from = &b
		}
		s := (*from)[0]
		*from = (*from)[1:]
		if n := len(out); n > 0 && out[n-1].Y == s.Y && out[n-1].X1 >= s.X0 {
			out[n-1].X1 = max(out[n-1].X1, s.X1)
			continue
		}
		out = append(out, processing.Span{Y: s.Y, X0: s.X0, X1: s.X1})
	}
	return out
}

// growth is what the islands of one call share.
type growth struct {
	rule   processing.Growth
	w      int32
	areas  []int
	limits []int32
}

// island is a connected set of pixels that are core or can grow, with the cores in it; both in reading order.
type island struct {
	spans, cores []processing.Span
}

// islands returns the islands with a core, the largest first, so that none is left for the end; spans is reordered.
func (g *growth) islands(spans, cores []processing.Span) []island {
	n := span.Connect(spans, span.Eight)
	// The span under a core, found by going along both lists.
	of := make([]uint32, len(cores))
	hasCore := make([]bool, n)
	at := 0
	for i, c := range cores {
		for spans[at].Y < c.Y || spans[at].X1 <= c.X0 {
			at++
		}
		of[i] = spans[at].Label
		hasCore[of[i]] = true
	}
	bySpan := group(spans, n, func(i int) uint32 { return spans[i].Label })
	byCore := group(cores, n, func(i int) uint32 { return of[i] })
	var found []island
	for l := range n {
		if hasCore[l] {
			found = append(found, island{bySpan[l], byCore[l]})
		}
	}
	slices.SortStableFunc(found, func(a, b island) int { return cmp.Compare(len(b.spans), len(a.spans)) })
	return found
}

// group parts spans by a key below n; each part keeps the order.
func group(spans []processing.Span, n int, key func(i int) uint32) [][]processing.Span {
	ends := make([]int, n+1)
	for i := range spans {
		ends[key(i)+1]++
	}
	for i := range n {
		ends[i+1] += ends[i]
	}
	sorted := make([]processing.Span, len(spans))
	next := slices.Clone(ends)
	for i, s := range spans {
		k := key(i)
		sorted[next[k]] = s
		next[k]++
	}
	parts := make([][]processing.Span, n)
	for i := range parts {
		parts[i] = sorted[ends[i]:ends[i+1]:ends[i+1]]
	}
	return parts
}

// claim is a pixel that a core reaches: x of the island's span number in, and the core pixel it is reached from.
type claim struct {
	x, in  int32
	fx, fy int32
	label  uint32
}

func (c claim) before(d claim) int {
	return cmp.Or(cmp.Compare(c.fy, d.fy), cmp.Compare(c.fx, d.fx))
}

// none is the owner of a pixel that belongs to no component.
const none = ^uint32(0)

// grow settles pixels in the order of their values, as Dijkstra's method does: no way to a pixel leads over one of a
// greater value. It returns the spans of the components.
func (is island) grow(t *worker, g *growth) []processing.Span {
	spans := is.spans
	// first[i] is the index of the first pixel of span i in owner and dist; above[i] the first span of the row above
	// that may touch span i, and below likewise.
	first := zeros[int32](t, len(spans)+1)
	above, below := take[int32](t, len(spans)), take[int32](t, len(spans))
	neighbours(above, spans, -1)
	neighbours(below, spans, 1)
	for i, s := range spans {
		first[i+1] = first[i] + s.X1 - s.X0
	}
	n := first[len(spans)]
	// dist is the least distance² at which a pixel is claimed; what claims it at a greater one comes too late.
	owner, dist := take[uint32](t, int(n)), take[int32](t, int(n))
	fill(owner, none)
	fill(dist, math.MaxInt32)
	farthest := int32(0)
	at := int32(0)
	seeds := t.seeds[:0]
	for _, c := range is.cores {
		for spans[at].Y < c.Y || spans[at].X1 <= c.X0 {
			at++
		}
		farthest = max(farthest, g.limits[c.Label])
		for x := c.X0; x < c.X1; x++ {
			p := first[at] + x - spans[at].X0
			owner[p], dist[p] = c.Label, 0
			seeds = append(seeds, claim{x, at, x, c.Y, c.Label})
		}
	}
	t.seeds = seeds
	for len(t.queue) <= int(farthest) {
		t.queue = append(t.queue, nil)
	}
	queue := t.queue[:farthest+1]
	same := t.same[:0] // of the value that is being settled
	// spread queues the neighbours of a pixel settled at distance² d2 that are free and within reach.
	spread := func(c claim, d2 int32) {
		limit := g.limits[c.label]
		reach := func(j, x0, x1 int32) {
			s := spans[j]
			dy := s.Y - c.fy
			for x := max(x0, s.X0); x < min(x1, s.X1); x++ {
				p := first[j] + x - s.X0
				if owner[p] != none {
					continue
				}
				next := max(d2, (x-c.fx)*(x-c.fx)+dy*dy)
				if next > min(limit, dist[p]) {
					continue
				}
				dist[p] = next
				if next == d2 {
					same = append(same, claim{x, j, c.fx, c.fy, c.label})
				} else {
					queue[next] = append(queue[next], claim{x, j, c.fx, c.fy, c.label})
				}
			}
		}
		y := spans[c.in].Y
		for j := above[c.in]; j < int32(len(spans)) && spans[j].Y == y-1 && spans[j].X0 <= c.x+1; j++ {
			reach(j, c.x-1, c.x+2)
		}
		reach(c.in, c.x-1, c.x+2)
		for j := below[c.in]; j < int32(len(spans)) && spans[j].Y == y+1 && spans[j].X0 <= c.x+1; j++ {
			reach(j, c.x-1, c.x+2)
		}
	}
	for _, c := range seeds {
		spread(c, 0)
	}
	for d2 := range queue {
		if len(queue[d2]) == 0 {
			continue
		}
		if t.stopped() {
			t.queue = nil
			return nil
		}
		claims := slices.DeleteFunc(queue[d2], func(c claim) bool {
			return owner[first[c.in]+c.x-spans[c.in].X0] != none
		})
		slices.SortFunc(claims, claim.before)
		for _, c := range claims {
			for same = append(same[:0], c); len(same) > 0; {
				c := same[len(same)-1]
				same = same[:len(same)-1]
				p := first[c.in] + c.x - spans[c.in].X0
				if owner[p] != none {
					continue
				}
				owner[p], dist[p] = c.label, int32(d2)
				spread(c, int32(d2))
			}
		}
	}
	for d2 := range queue {
		queue[d2] = queue[d2][:0]
	}
	t.same = same
	return is.cut(g, first, owner, dist)
}

// neighbours writes, for each span, the first span of the row dy below that ends behind its first column less one: so
// those that touch it begin.
func neighbours(into []int32, spans []processing.Span, dy int32) {
	j := int32(0)
	for i, s := range spans {
		for j < int32(len(spans)) && (spans[j].Y < s.Y+dy || spans[j].Y == s.Y+dy && spans[j].X1 < s.X0) {
			j++
		}
		into[i] = j
	}
}

// cut drops what Growth.Keep does not let a core keep, and returns the spans of the rest.
func (is island) cut(g *growth, first []int32, owner []uint32, dist []int32) []processing.Span {
	// Few labels meet in an island.
	rings, keep := map[uint32][]int32{}, map[uint32]int32{}
	for _, c := range is.cores {
		if rings[c.Label] == nil {
			rings[c.Label] = make([]int32, int(g.rule.Far(g.areas[c.Label]))+2)
		}
	}
	last, ring := none, []int32(nil)
	for p, l := range owner {
		if l == none || dist[p] == 0 {
			continue
		}
		if l != last {
			last, ring = l, rings[l]
		}
		if k := ringOf(dist[p]); int(k) < len(ring) {
			ring[k]++
		}
	}
	for l, ring := range rings {
		keep[l] = g.rule.Keep(g.areas[l], ring)
	}
	var out []processing.Span
	for i, s := range is.spans {
		last, most := none, int32(0)
		for x := s.X0; x < s.X1; x++ {
			p := first[i] + x - s.X0
			l := owner[p]
			if l != none {
				if l != last {
					most = keep[l]
				}
				if dist[p] > most {
					l = none
				}
			}
			switch {
			case l == none:
			case l == last:
				out[len(out)-1].X1++
			default:
				out = append(out, processing.Span{Y: s.Y, X0: x, X1: x + 1, Label: l})
				most = keep[l]
			}
			last = l
		}
	}
	return out
}

// ringOf returns ⌈√d2⌉ for d2 ≥ 1.
func ringOf(d2 int32) int32 {
	k := int32(1)
	for k*k < d2 {
		k++
	}
	return k
}

// MeasureRegions sums up each component.
func (b executor) MeasureRegions(ctx context.Context, op processing.MeasureRegions) ([]processing.RegionProps, error) {
	q := op.Components.(*components)
	s := &regionPlanes{
		cls: op.Class.(*plane), member: op.Member.(*plane), y: op.Y.(*plane), bg: op.Background.(*plane),
		v:         op.V.(*plane),
		deviation: op.Deviation.(*plane), starlet: op.Starlet.(*plane), encode: op.Tables.Encode8,
	}
	out := make([]processing.RegionProps, q.n)
	parts := group(q.spans, q.n, func(i int) uint32 { return q.spans[i].Label })
	const share = 64
	err := b.each(ctx, (q.n+share-1)/share, func(t *worker, i int) {
		for l := i * share; l < min(q.n, (i+1)*share) && !t.stopped(); l++ {
			out[l].Core, out[l].All = processing.NewSums(), processing.NewSums()
			for _, r := range parts[l] {
				s.add(&out[l], r)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// regionPlanes are what regions are measured on.
type regionPlanes struct {
	cls, member, y, bg, v, deviation, starlet *plane
	encode                                    []uint8
}

// add takes in a span of a component.
func (s *regionPlanes) add(c *processing.RegionProps, r processing.Span) {
	c.All.Add(r)
	row := int(r.Y) * s.cls.w
	for x := r.X0; x < r.X1; x++ {
		at := row + int(x)
		y, bg, v := s.y.data.U16[at], s.bg.data.U16[at], s.v.data.U8[at]
		var d uint16
		if y > bg {
			d = y - bg
		}
		if s.cls.data.U8[at]&processing.ClassCore != 0 {
			c.Core.Add(processing.Span{Y: r.Y, X0: x, X1: x + 1})
			c.CoreContrast += uint64(d)
			c.CoreLevel += uint64(v)
		}
		c.Background += uint64(bg)
		c.Deviation += uint64(s.deviation.data.U16[at])
		c.PeakContrast = max(c.PeakContrast, d)
		c.PeakY = max(c.PeakY, y)
		c.Starlet = max(c.Starlet, s.starlet.data.U16[at])
		c.Darkest = max(c.Darkest, uint8(max(2*int(v)-int(s.encode[y]), 0)))
		if x+1 < r.X1 {
			next := s.v.data.U8[at+1]
			c.Slope = max(c.Slope, max(v, next)-min(v, next))
		}
		s.edge(c, int(x), int(r.Y))
	}
}

// edge counts (x, y) if it lies on the edge of the components, and as a leak if it touches a bright pixel outside them.
func (s *regionPlanes) edge(c *processing.RegionProps, x, y int) {
	w, h := s.cls.w, s.cls.h
	inner, leak := true, false
	for py := max(y-1, 0); py <= min(y+1, h-1); py++ {
		for px := max(x-1, 0); px <= min(x+1, w-1); px++ {
			if at := py*w + px; s.member.data.U8[at] == 0 {
				inner = false
				leak = leak || s.cls.data.U8[at]&processing.ClassWide != 0
			}
		}
	}
	if !inner {
		c.Edge++
	}
	if leak {
		c.Leaks++
	}
}
