package cpu

import (
	"cmp"
	"context"
	"math"
	"slices"

	"blik/internal/span"
	"blik/processing"
	"blik/processing/cpu/kernel"
)

// components are labelled spans in reading order.
type components struct {
	processing.Handle
	n     int
	spans []processing.Span
}

func (b *Backend) newComponents(p *plane, n int, spans []processing.Span) *components {
	return &components{Handle: processing.NewHandle(b, p.w, p.h), n: n, spans: spans}
}

func (c *components) Len() int { return c.n }

func (c *components) Release() {
	c.spans = nil
	c.MarkReleased()
}

// runs returns the runs of pixels of a class plane with any of the given bits.
func (b *Backend) runs(ctx context.Context, cls *plane, bits uint8) ([]processing.Span, error) {
	rows := max(1, b.tiling.span/cls.w)
	parts := make([][]processing.Span, (cls.h+rows-1)/rows)
	if err := b.each(ctx, len(parts), func(t *worker, i int) {
		t.spans = span.Append(t.spans[:0], cls.data.U8, cls.w, i*rows, min(cls.h, (i+1)*rows), bits)
		parts[i] = slices.Clone(t.spans)
	}); err != nil {
		return nil, err
	}
	return slices.Concat(parts...), nil
}

// Label returns the 8-connected components of the pixels of cls that have any of the given bits.
func (b executor) Label(ctx context.Context, op processing.Label) (processing.Components, error) {
	c := op.Class.(*plane)
	spans, err := b.runs(ctx, c, op.Bits)
	if err != nil {
		return nil, err
	}
	return b.newComponents(c, span.Connect(spans, span.Eight), spans), nil
}

// FilterComponents empties the components that are not kept.
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
// All that a core may reach lies in the same connected set of pixels that are core or can grow, an island. Islands are
// independent of each other, and most are small.
func (b executor) Grow(ctx context.Context, op processing.Grow) (processing.Components, error) {
	c, k := op.Class.(*plane), op.Cores.(*components)
	if len(k.spans) == 0 {
		return b.newComponents(c, k.n, nil), ctx.Err()
	}
	growable, err := b.runs(ctx, c, processing.ClassGrow)
	if err != nil {
		return nil, err
	}
	gr := &growth{
		rule: op.Growth, areas: make([]int, k.n), limits: make([]int32, k.n), rings: make([][]int32, k.n),
		keep: make([]int32, k.n),
	}
	for _, s := range k.spans {
		gr.areas[s.Label] += int(s.X1 - s.X0)
	}
	farthest := int32(0)
	for i, area := range gr.areas {
		far := op.Growth.Far(area)
		gr.limits[i] = int32(far * far)
		farthest = max(farthest, gr.limits[i])
	}
	gr.ringOf = ringsOf(farthest)
	islands := gr.islands(unite(growable, k.spans), k.spans)
	parts := make([][]processing.Span, len(islands))
	if err := b.each(ctx, len(islands), func(t *worker, i int) { parts[i] = islands[i].grow(t, gr) }); err != nil {
		return nil, err
	}
	return b.newComponents(c, k.n, span.InReadingOrder(parts, c.h)), ctx.Err()
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
	areas  []int
	limits []int32
	// rings counts for each core the pixels in its rings; keep is the squared distance that it keeps.
	rings [][]int32
	keep  []int32
	// ringOf is the ring of a squared distance.
	ringOf []uint8
}

// island is a connected set of pixels that are core or can grow, with the cores in it; both in reading order.
type island struct {
	spans, cores []processing.Span
}

// islands returns the islands with a core, the largest first, so that no large one is left for the end; spans is
// reordered.
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
	bySpan := span.Group(spans, n, func(i int) int { return int(spans[i].Label) })
	byCore := span.Group(cores, n, func(i int) int { return int(of[i]) })
	var found []island
	for l := range n {
		if hasCore[l] {
			found = append(found, island{bySpan[l], byCore[l]})
		}
	}
	slices.SortStableFunc(found, func(a, b island) int { return cmp.Compare(len(b.spans), len(a.spans)) })
	return found
}

// claim is a pixel that a core reaches: column x in span number in of the island, and the core pixel that it is reached
// from.
type claim struct {
	x, in  int32
	fx, fy int32
	label  uint32
}

// order ranks claims by their core pixels in reading order.
func (c *claim) order() uint64 { return uint64(uint32(c.fy))<<32 | uint64(uint32(c.fx)) }

// sortClaims sorts claims by order, using spare, which has room for as many, and returns them and the slice that is
// then spare. Most lists are short and nearly sorted. Long ones are first distributed over rows, with few claims each.
func sortClaims(claims, spare []claim) (sorted, rest []claim) {
	const short = 24
	if len(claims) <= short {
		insertClaims(claims)
		return claims, spare
	}
	first, last := claims[0].fy, claims[0].fy
	for i := range claims {
		first, last = min(first, claims[i].fy), max(last, claims[i].fy)
	}
	next := make([]int32, last-first+2)
	for i := range claims {
		next[claims[i].fy-first+1]++
	}
	for i := range next[1:] {
		next[i+1] += next[i]
	}
	spare = slices.Grow(spare[:0], len(claims))[:len(claims)]
	for i := range claims {
		row := &next[claims[i].fy-first]
		spare[*row] = claims[i]
		*row++
	}
	begin := int32(0)
	for _, end := range next[:len(next)-1] {
		if row := spare[begin:end]; len(row) > 2*short {
			slices.SortFunc(row, func(a, b claim) int { return cmp.Compare(a.fx, b.fx) })
		} else {
			insertClaims(row)
		}
		begin = end
	}
	return spare, claims
}

// insertClaims is sortClaims for few claims.
func insertClaims(claims []claim) {
	for i := 1; i < len(claims); i++ {
		c := claims[i]
		j := i
		for ; j > 0 && claims[j-1].order() > c.order(); j-- {
			claims[j] = claims[j-1]
		}
		claims[j] = c
	}
}

// none is the owner of a pixel that belongs to no component.
const none = ^uint32(0)

// front is the growth of one island.
type front struct {
	spans []processing.Span
	// first[i] is the index of the first pixel of span i in owner and dist; above[i] is the first span of the row above
	// that may touch span i, and below[i] that of the row below.
	first, above, below []int32
	owner               []uint32
	// dist is the least squared distance at which a pixel is claimed; claims at a larger one are dropped.
	dist   []int32
	limits []int32
	// queue holds the claims by squared distance, waiting is their number, same are those of the distance being
	// settled.
	queue       [][]claim
	waiting     int
	same, spare []claim
}

// grow settles pixels in the order of their values, as Dijkstra's algorithm does: no path to a pixel leads over one
// with a larger value. It returns the spans of the components.
func (is island) grow(t *worker, g *growth) []processing.Span {
	farthest := int32(0)
	for _, c := range is.cores {
		farthest = max(farthest, g.limits[c.Label])
	}
	if farthest == 0 {
		return is.cores
	}
	for len(t.queue) <= int(farthest) {
		t.queue = append(t.queue, nil)
	}
	spans := is.spans
	f := front{
		spans: spans, first: zeroScratch[int32](t, len(spans)+1), above: scratch[int32](t, len(spans)),
		below: scratch[int32](t, len(spans)), limits: g.limits, queue: t.queue[:farthest+1], same: t.same[:0],
	}
	neighbours(f.above, spans, -1)
	neighbours(f.below, spans, 1)
	for i, s := range spans {
		f.first[i+1] = f.first[i] + s.X1 - s.X0
	}
	n := int(f.first[len(spans)])
	f.owner, f.dist = scratch[uint32](t, n), scratch[int32](t, n)
	kernel.Fill(f.owner, none)
	kernel.Fill(f.dist, math.MaxInt32)
	f.begin(is.cores)
	for d2 := int32(1); d2 <= farthest && f.waiting > 0; d2++ {
		if len(f.queue[d2]) == 0 {
			continue
		}
		if t.stopped() {
			t.queue = nil
			return nil
		}
		f.settle(d2)
	}
	t.same = f.same
	if n > maxClaims {
		t.same, t.queue = nil, nil
	}
	return f.cut(t, g, is.cores)
}

// begin assigns the cores their pixels and claims the neighbours of these, each pixel of a run only from the nearest
// pixel of the core.
func (f *front) begin(cores []processing.Span) {
	at := int32(0)
	for _, c := range cores {
		for f.spans[at].Y < c.Y || f.spans[at].X1 <= c.X0 {
			at++
		}
		p := f.first[at] + c.X0 - f.spans[at].X0
		for i := range c.X1 - c.X0 {
			f.owner[p+i], f.dist[p+i] = c.Label, 0
		}
	}
	at = 0
	for _, c := range cores {
		for f.spans[at].Y < c.Y || f.spans[at].X1 <= c.X0 {
			at++
		}
		if f.limits[c.Label] == 0 {
			continue
		}
		beside := func(j int32) {
			s := f.spans[j]
			for x := max(c.X0-1, s.X0); x < min(c.X1+1, s.X1); x++ {
				f.claim(claim{x, j, min(max(x, c.X0), c.X1-1), c.Y, c.Label}, 0)
			}
		}
		for j := f.above[at]; j < int32(len(f.spans)) && f.spans[j].Y == c.Y-1 && f.spans[j].X0 <= c.X1; j++ {
			beside(j)
		}
		if s := f.spans[at]; c.X0 > s.X0 {
			f.claim(claim{c.X0 - 1, at, c.X0, c.Y, c.Label}, 0)
		}
		if s := f.spans[at]; c.X1 < s.X1 {
			f.claim(claim{c.X1, at, c.X1 - 1, c.Y, c.Label}, 0)
		}
		for j := f.below[at]; j < int32(len(f.spans)) && f.spans[j].Y == c.Y+1 && f.spans[j].X0 <= c.X1; j++ {
			beside(j)
		}
	}
}

// claim queues a claim from a pixel settled at squared distance d2, if its pixel is free and within reach.
func (f *front) claim(c claim, d2 int32) {
	s := &f.spans[c.in]
	p := f.first[c.in] + c.x - s.X0
	if f.owner[p] != none {
		return
	}
	dx, dy := c.x-c.fx, s.Y-c.fy
	next := max(d2, dx*dx+dy*dy)
	if next > f.dist[p] || next > f.limits[c.label] {
		return
	}
	f.dist[p] = next
	if next == d2 {
		f.same = append(f.same, c)
		return
	}
	f.queue[next] = append(f.queue[next], c)
	f.waiting++
}

// settle gives each pixel claimed at squared distance d2 to the first in order that claims it.
func (f *front) settle(d2 int32) {
	claims := f.queue[d2]
	f.waiting -= len(claims)
	open := claims[:0]
	for _, c := range claims {
		if f.owner[f.first[c.in]+c.x-f.spans[c.in].X0] == none {
			open = append(open, c)
		}
	}
	open, spare := sortClaims(open, f.spare)
	for _, c := range open {
		for f.same = append(f.same[:0], c); len(f.same) > 0; {
			c := f.same[len(f.same)-1]
			f.same = f.same[:len(f.same)-1]
			p := f.first[c.in] + c.x - f.spans[c.in].X0
			if f.owner[p] != none {
				continue
			}
			f.owner[p], f.dist[p] = c.label, d2
			f.spread(c, d2)
		}
	}
	f.queue[d2], f.spare = open[:0], spare[:0]
}

// spread claims the neighbours of a pixel settled at squared distance d2.
func (f *front) spread(c claim, d2 int32) {
	x, in := c.x, c.in
	y := f.spans[in].Y
	row := func(j int32) {
		s := &f.spans[j]
		c.in = j
		for c.x = max(x-1, s.X0); c.x < min(x+2, s.X1); c.x++ {
			f.claim(c, d2)
		}
	}
	for j := f.above[in]; j < int32(len(f.spans)) && f.spans[j].Y == y-1 && f.spans[j].X0 <= x+1; j++ {
		row(j)
	}
	row(in)
	for j := f.below[in]; j < int32(len(f.spans)) && f.spans[j].Y == y+1 && f.spans[j].X0 <= x+1; j++ {
		row(j)
	}
}

// neighbours writes, for each span, the index of the first span of the row dy below that may touch it.
func neighbours(into []int32, spans []processing.Span, dy int32) {
	j := int32(0)
	for i, s := range spans {
		for j < int32(len(spans)) && (spans[j].Y < s.Y+dy || spans[j].Y == s.Y+dy && spans[j].X1 < s.X0) {
			j++
		}
		into[i] = j
	}
}

// cut drops the pixels beyond what Growth.Keep allows, and returns the spans of the rest.
func (f *front) cut(t *worker, g *growth, cores []processing.Span) []processing.Span {
	// A core lies in one island, so that its entries of rings and keep belong to this one.
	for _, c := range cores {
		if g.rings[c.Label] == nil {
			g.rings[c.Label] = zeroScratch[int32](t, int(g.rule.Far(g.areas[c.Label]))+2)
		}
	}
	for p, l := range f.owner {
		if d2 := f.dist[p]; l != none && d2 != 0 {
			if ring, k := g.rings[l], int(g.ringOf[d2]); k < len(ring) {
				ring[k]++
			}
		}
	}
	n := len(cores)
	for _, c := range cores {
		if ring := g.rings[c.Label]; len(ring) > 0 {
			g.keep[c.Label] = g.rule.Keep(g.areas[c.Label], ring)
			g.rings[c.Label] = ring[:0]
		}
	}
	out := make([]processing.Span, 0, n+n/2)
	for i, s := range f.spans {
		last := none
		for x := s.X0; x < s.X1; x++ {
			p := f.first[i] + x - s.X0
			l := f.owner[p]
			if l != none && f.dist[p] > g.keep[l] {
				l = none
			}
			switch {
			case l == none:
			case l == last:
				out[len(out)-1].X1++
			default:
				out = append(out, processing.Span{Y: s.Y, X0: x, X1: x + 1, Label: l})
			}
			last = l
		}
	}
	return out
}

// ringsOf returns ⌈√d²⌉ for d² up to a limit.
func ringsOf(limit int32) []uint8 {
	of := make([]uint8, limit+1)
	k := int32(0)
	for d2 := range of {
		if k*k < int32(d2) {
			k++
		}
		of[d2] = uint8(k)
	}
	return of
}
