package processing

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"

	"blik/internal/parallel"
	"blik/processing/internal/span"
)

// glint sums up the network's logits over a candidate.
type glint struct {
	// strong sums up the logits above 0, wide logit + glintFloor over those above −glintFloor; peak is its maximum.
	strong, wide, peak float64
	// pixels and sure count the pixels above −glintFloor and above 0.
	pixels, sure int
}

// tally is glint in integers: the values of the network's plane are sixteenths, from −glintFloor on.
type tally struct{ strong, wide, peak, pixels, sure uint64 }

func (t *tally) add(values []uint8) {
	for _, v := range values {
		t.wide += uint64(v)
		t.peak = max(t.peak, uint64(v))
		if v > glintOffset {
			t.sure++
			t.strong += uint64(v) - glintOffset
		}
	}
	t.pixels += uint64(len(values))
}

func (t *tally) join(o tally) {
	t.strong += o.strong
	t.wide += o.wide
	t.peak = max(t.peak, o.peak)
	t.pixels += o.pixels
	t.sure += o.sure
}

func (t *tally) glint() glint {
	const unit = 16
	return glint{strong: float64(t.strong) / unit, wide: float64(t.wide) / unit, peak: float64(t.peak) / unit,
		pixels: int(t.pixels), sure: int(t.sure)}
}

// glintOffset is what is added to the network's logits, in sixteenths, before negative values are cut off; glintFloor
// is the same in units of 1. Specks with logits between −glintFloor and 0 are candidates that only a high sensitivity
// accepts. In other candidates, only the pixels above glintInner count: a logit of −0.625.
const (
	glintOffset = 16
	glintFloor  = glintOffset / 16.0
	glintInner  = 6
)

// glintsFound are the components of the pixels with logits above −glintFloor: their spans in reading order, and a glint
// for each.
type glintsFound struct {
	spans  []Span
	glints []glint
	// cands holds the candidate of each glint; it is the end of spare, which has room for others before and after them.
	cands []candidate
	spare []candidate
}

// computeLuminance computes the luminance of the picture, and on a remote backend also the network's logits.
func (d *detector) computeLuminance(pic *Picture) (err error) {
	if d.ruleID != RuleClassic && !d.borrows() {
		for i := range d.colours {
			if d.colours[i], err = d.be.Alloc(U8, d.w, d.h); err != nil {
				return err
			}
		}
	}
	op := d.luminance(pic)
	if d.ruleID == RuleClassic || d.remote == nil {
		return d.do(op)
	}
	if d.logits, err = d.be.Alloc(U8, d.w, d.h); err != nil {
		return err
	}
	return d.remote.LuminanceGlints(d.ctx, op, d.network(), stepNetwork().name.String())
}

// luminance returns the operation that writes luminance, level, and the colours for which there are planes.
func (d *detector) luminance(pic *Picture) Luminance {
	return Luminance{
		Y: d.y, V: d.v, Red: d.colours[0], Green: d.colours[1], Blue: d.colours[2], Picture: pic, Tables: d.tables,
	}
}

// borrows reports whether the network runs before the luminance is computed, in the memory of the search's planes.
func (d *detector) borrows() bool { return d.frugal != nil && d.ruleID != RuleClassic && !d.vectors }

// borrow gets the network's planes, from the memory of the search's if the network sees the whole picture, and writes
// the colours of the picture into them.
func (d *detector) borrow(pic *Picture) error {
	var all []Plane
	if r := d.shown; !r.Empty() {
		for range 4 {
			p, err := d.be.Alloc(U8, r.Dx(), r.Dy())
			if err != nil {
				return err
			}
			all = append(all, p)
		}
		d.logits, d.logitsAt = all[copy(d.colours[:], all)], r.Min
		op := d.luminance(pic.Part(r.Min.X, r.Min.Y, r.Dx(), r.Dy()))
		op.Y, op.V = nil, nil
		return d.frugal.Colours(d.ctx, op)
	}
	for _, p := range []Plane{d.y, d.v, d.cls} {
		planes, err := d.frugal.Borrow(p)
		if err != nil {
			return err
		}
		all = append(all, planes...)
	}
	d.logits = all[copy(d.colours[:], all)]
	return d.frugal.Colours(d.ctx, d.luminance(pic))
}

// network returns the operation that writes logits.
func (d *detector) network() Glints {
	return Glints{
		Dst: d.logits, Red: d.colours[0], Green: d.colours[1], Blue: d.colours[2], Model: d.model, Offset: glintOffset,
	}
}

// glints runs the network and reads the logits above −glintFloor. The components are put together in the background, so
// that the backend need not wait.
func (d *detector) glints() (_ <-chan glintsFound, err error) {
	if d.logits == nil {
		if d.logits, err = d.be.Alloc(U8, d.w, d.h); err != nil {
			return nil, err
		}
	}
	if d.remote == nil {
		if err := d.do(d.network()); err != nil {
			return nil, err
		}
	}
	logits := d.logits
	if d.remote == nil {
		defer d.forgetLogits()
	}
	if !d.vectors {
		d.forgetColours()
	}
	components, err := Evaluate(d.ctx, d.be, Label{Class: logits, Bits: 255})
	if err != nil {
		return nil, err
	}
	defer components.Release()
	spans, err := Evaluate(d.ctx, d.be, Spans{Components: components})
	if err != nil {
		return nil, err
	}
	// Reading the whole plane takes less time than gathering the pixels of a list.
	host, err := d.be.Host(d.ctx, logits)
	if err != nil {
		return nil, err
	}
	found, n := make(chan glintsFound, 1), components.Len()
	w, _ := logits.Size()
	left, top := int32(d.logitsAt.X), int32(d.logitsAt.Y)
	read := make(chan struct{})
	d.logitsRead = read
	go func() {
		values := valuesOf(host.U8, w, spans)
		close(read)
		for i := range spans {
			s := &spans[i]
			s.X0, s.X1, s.Y = s.X0+left, s.X1+left, s.Y+top
		}
		f := connectGlints(spans, values, n)
		f.makeCandidates()
		found <- f
	}()
	return found, nil
}

// valuesOf returns the values of the spans' pixels, one after the other.
func valuesOf(pix []uint8, w int, spans []Span) []uint8 {
	first := starts(spans)
	values := make([]uint8, first[len(spans)])
	parallel.Split(len(spans), 2048, func(a, b int) {
		for i, s := range spans[a:b] {
			at := int(s.Y) * w
			copy(values[first[a+i]:], pix[at+int(s.X0):at+int(s.X1)])
		}
	})
	return values
}

// starts returns the number of pixels before each span, and at the end their total.
func starts(spans []Span) []int {
	first := make([]int, len(spans)+1)
	for i, s := range spans {
		first[i+1] = first[i] + int(s.X1-s.X0)
	}
	return first
}

// spansPerTask is the least number of spans in a part of a list that a goroutine processes.
const spansPerTask = 1024

// connectGlints forms glints from n components with the given spans and the logits of their pixels. In a component with
// a logit above 0, only the pixels above glintInner count, which may divide it.
func connectGlints(spans []Span, values []uint8, n int) glintsFound {
	first := starts(spans)
	high := make([]uint8, len(spans))
	parallel.Split(len(spans), spansPerTask, func(from, to int) {
		for i := from; i < to; i++ {
			high[i] = slices.Max(values[first[i]:first[i+1]])
		}
	})
	sure := make([]bool, n)
	for i, s := range spans {
		sure[s.Label] = sure[s.Label] || high[i] > glintOffset
	}
	parts := cutSpans(spans, values, first, sure)
	kept := make([]Span, 0, len(spans)+len(spans)/8)
	for _, p := range parts {
		kept = append(kept, p.kept...)
	}
	whole := make([]tally, span.Connect(kept, span.Eight))
	at := 0
	for _, p := range parts {
		for _, t := range p.tallies {
			whole[kept[at].Label].join(t)
			at++
		}
	}
	glints := make([]glint, len(whole))
	for i := range whole {
		glints[i] = whole[i].glint()
	}
	return glintsFound{spans: kept, glints: glints}
}

// piece is what cutSpans keeps of some consecutive spans, the first of which has index from.
type piece struct {
	from    int
	kept    []Span
	tallies []tally
}

// cutSpans keeps the runs of pixels that count, with a tally for each: in a component that is sure those above
// glintInner, in others those above 0. first holds the index of each span's first value. Parts of the list are
// processed in parallel.
func cutSpans(spans []Span, values []uint8, first []int, sure []bool) []piece {
	pieces := make(chan piece, len(spans)/spansPerTask+1)
	parallel.Split(len(spans), spansPerTask, func(from, to int) {
		p := piece{from, make([]Span, 0, to-from), make([]tally, 0, to-from)}
		for i, s := range spans[from:to] {
			above := uint8(0)
			if sure[s.Label] {
				above = glintInner
			}
			p.cut(s, values[first[from+i]:first[from+i+1]], above)
		}
		pieces <- p
	})
	close(pieces)
	var parts []piece
	for p := range pieces {
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
	return parts
}

// cut keeps the runs of a span whose values exceed above.
func (p *piece) cut(s Span, values []uint8, above uint8) {
	for x := 0; x < len(values); x++ {
		if values[x] <= above {
			continue
		}
		x0 := x
		for x < len(values) && values[x] > above {
			x++
		}
		var t tally
		t.add(values[x0:x])
		p.kept = append(p.kept, Span{Y: s.Y, X0: s.X0 + int32(x0), X1: s.X0 + int32(x)})
		p.tallies = append(p.tallies, t)
	}
}

// forgetLogits releases the plane of the logits, once it has been read.
func (d *detector) forgetLogits() {
	if d.logits != nil {
		if d.logitsRead != nil {
			<-d.logitsRead
		}
		d.logits.Release()
		d.logits = nil
	}
}

// forgetColours releases the planes that the network reads.
func (d *detector) forgetColours() {
	for i := range d.colours {
		d.colours[i].Release()
		d.colours[i] = nil
	}
}

// describe makes the mean of the network's channels over each candidate its vector.
func (d *detector) describe(cands []candidate) error {
	defer d.forgetColours()
	// A sample of its pixels suffices.
	const most = 16
	var index []uint32
	counts := make([]int, len(cands))
	for i := range cands {
		pixels := 0
		for _, s := range cands[i].spans {
			pixels += int(s.X1 - s.X0)
		}
		step, next, at := (pixels+most-1)/most, 0, 0
		for _, s := range cands[i].spans {
			for x := s.X0; x < s.X1; x++ {
				if at == next {
					index = append(index, uint32(int(s.Y)*d.w+int(x)))
					counts[i]++
					next += step
				}
				at++
			}
		}
	}
	channels, err := Evaluate(d.ctx, d.be, GlintChannels{
		Red: d.colours[0], Green: d.colours[1], Blue: d.colours[2], Model: d.model, Index: index,
	})
	if err != nil {
		return err
	}
	n := d.model.Hidden()
	for i := range cands {
		v := make([]float64, n)
		for range counts[i] {
			for c := range v {
				v[c] += float64(channels[c]) / float64(counts[i])
			}
			channels = channels[n:]
		}
		cands[i].vector = v
	}
	return nil
}

// makeCandidates makes each glint a candidate.
func (f *glintsFound) makeCandidates() {
	// In most pictures this is enough for the candidates that only the search finds, which come before these, and for
	// those of the reduced pictures, which are appended.
	spare, appended := 1024+len(f.glints)/4, 1024
	f.spare = make([]candidate, spare+len(f.glints), spare+len(f.glints)+appended)
	f.cands = f.spare[spare:]
	deal(f.cands, f.spans, nil)
	for i := range f.cands {
		f.cands[i].glint = f.glints[i]
	}
}

// after returns n empty candidates followed by those of the glints.
func (f *glintsFound) after(n int) []candidate {
	if spare := len(f.spare) - len(f.cands); n <= spare {
		return f.spare[spare-n:]
	}
	return append(make([]candidate, n, n+len(f.cands)), f.cands...)
}

// attach joins the components of search and network. Every component of the network is a candidate, and is linked to
// the component of the search with which it shares most pixels. A component of the search that shares no pixel with the
// network's is a candidate, too: these come first, and searched is their number.
func attach(found int, grown []Span, by glintsFound) *surveyed {
	// The components of the search that a glint shares pixels with form a chain: few glints have more than one.
	type share struct {
		component uint32
		next      int32
		pixels    int64
	}
	var shares []share
	chain := make([]int32, len(by.glints))
	for i := range chain {
		chain[i] = -1
	}
	add := func(glint, component uint32, pixels int64) {
		at := chain[glint]
		for at >= 0 && shares[at].component != component {
			at = shares[at].next
		}
		if at < 0 {
			at = int32(len(shares))
			shares = append(shares, share{component: component, next: chain[glint]})
			chain[glint] = at
		}
		shares[at].pixels += pixels
	}
	for _, list := range overlaps(by.spans, grown) {
		for _, o := range list {
			add(o.glint, o.component, o.pixels)
		}
	}
	seen := make([]bool, found)
	most, partner := make([]int64, len(chain)), make([]int32, len(chain))
	for i, at := range chain {
		partner[i] = -1
		for ; at >= 0; at = shares[at].next {
			c, n := int32(shares[at].component), shares[at].pixels
			seen[c] = true
			if n > most[i] || n == most[i] && c < partner[i] {
				most[i], partner[i] = n, c
			}
		}
	}
	v := &surveyed{}
	number := make([]int32, found)
	for i := range number {
		if number[i] = -1; !seen[i] {
			number[i] = int32(v.searched)
			v.component = append(v.component, int32(i))
			v.searched++
		}
	}
	v.component = append(v.component, partner...)
	v.cands = by.after(v.searched)
	deal(v.cands[:v.searched], grown, number)
	return v
}

// overlap is a number of pixels that a glint shares with a component of the search.
type overlap struct {
	glint, component uint32
	pixels           int64
}

// overlaps returns the overlaps of the spans of glints with those of the search's components, both in reading order.
// Parts of the list are compared in parallel, so the order varies.
func overlaps(glints, grown []Span) [][]overlap {
	parts := make(chan []overlap, len(glints)/spansPerTask+1)
	parallel.Split(len(glints), spansPerTask, func(from, to int) {
		if from == to {
			return
		}
		begin := glints[from]
		first := sort.Search(len(grown), func(i int) bool {
			return grown[i].Y > begin.Y || grown[i].Y == begin.Y && grown[i].X1 > begin.X0
		})
		var list []overlap
		for _, s := range glints[from:to] {
			for first < len(grown) && (grown[first].Y < s.Y || grown[first].Y == s.Y && grown[first].X1 <= s.X0) {
				first++
			}
			for _, g := range grown[first:] {
				if g.Y != s.Y || g.X0 >= s.X1 {
					break
				}
				list = append(list, overlap{s.Label, g.Label, int64(min(g.X1, s.X1) - max(g.X0, s.X0))})
			}
		}
		parts <- list
	})
	close(parts)
	var all [][]overlap
	for list := range parts {
		all = append(all, list)
	}
	return all
}

// deal gives each candidate its spans and their sums. A span belongs to the candidate of its label, or if number is not
// nil to candidate number[label], or to none if that is negative.
func deal(cands []candidate, spans []Span, number []int32) {
	of := func(s *Span) int32 {
		if number != nil {
			return number[s.Label]
		}
		return int32(s.Label)
	}
	ends := make([]int, len(cands)+1)
	for i := range spans {
		if k := of(&spans[i]); k >= 0 {
			ends[k+1]++
		}
	}
	for i := range cands {
		ends[i+1] += ends[i]
	}
	all := make([]Span, ends[len(cands)])
	for i := range cands {
		cands[i].spans = all[ends[i]:ends[i]:ends[i+1]]
		cands[i].shape = NewSums()
	}
	for i := range spans {
		if k := of(&spans[i]); k >= 0 {
			c := &cands[k]
			c.spans = append(c.spans, spans[i])
			c.shape.Add(spans[i])
		}
	}
}

// neighbourhood is the side of the squares in which neighbours are counted, in pixels.
const neighbourhood = 32

// neighbours holds, for each square, the number of candidates that the network calls glare, and the sum of their
// strengths.
type neighbours struct {
	w, h             int
	number, strength []float64
}

func newNeighbours(w, h int, cands []candidate) *neighbours {
	v := &neighbours{w: w/neighbourhood + 1, h: h/neighbourhood + 1}
	v.number, v.strength = make([]float64, v.w*v.h), make([]float64, v.w*v.h)
	for i := range cands {
		x, y := cands[i].square()
		n, s := cands[i].vote()
		v.number[y*v.w+x] += n
		v.strength[y*v.w+x] += s
	}
	return v
}

// square returns the column and the row of its square.
func (c *candidate) square() (x, y int) {
	return int(c.shape.SX/c.shape.N) / neighbourhood, int(c.shape.SY/c.shape.N) / neighbourhood
}

// vote returns 1 and its strength if the network calls it glare, else zeros.
func (c *candidate) vote() (n, s float64) {
	if c.glint.strong <= 0 {
		return 0, 0
	}
	return 1, math.Min(math.Sqrt(c.glint.strong), 6)
}

// count counts the other candidates within two squares of a candidate's own that the network calls glare, and averages
// their strengths.
func (v *neighbours) count(c *candidate) {
	x, y := c.square()
	n, s := c.vote()
	n, s = -n, -s
	for y0 := max(y-2, 0); y0 <= min(y+2, v.h-1); y0++ {
		for x0 := max(x-2, 0); x0 <= min(x+2, v.w-1); x0++ {
			n += v.number[y0*v.w+x0]
			s += v.strength[y0*v.w+x0]
		}
	}
	c.neighbours, c.company = math.Max(n, 0), s/math.Max(n, 1)
}

// merge joins the spans of sets in reading order. Where they overlap, the span that begins first keeps the pixels.
func merge(sets ...[]Span) []Span {
	all := inReadingOrder(sets)
	out := all[:0]
	for _, s := range all {
		if k := len(out); k > 0 && out[k-1].Y == s.Y {
			s.X0 = max(s.X0, out[k-1].X1)
		}
		if s.X0 < s.X1 {
			out = append(out, s)
		}
	}
	return out
}

// inReadingOrder sorts the spans of several sets by row and start; of spans with the same start, that of the first set
// comes first. Rows have few spans.
func inReadingOrder(sets [][]Span) []Span {
	rows, n := 0, 0
	for _, set := range sets {
		n += len(set)
		for i := range set {
			rows = max(rows, int(set[i].Y)+1)
		}
	}
	next := make([]int, rows+1)
	for _, set := range sets {
		for i := range set {
			next[set[i].Y+1]++
		}
	}
	for y := range rows {
		next[y+1] += next[y]
	}
	all := make([]Span, n)
	for _, set := range sets {
		for i := range set {
			at := &next[set[i].Y]
			all[*at] = set[i]
			*at++
		}
	}
	// next[y] is now where row y ends.
	parallel.Split(rows, 256, func(from, to int) {
		begin := 0
		if from > 0 {
			begin = next[from-1]
		}
		for _, end := range next[from:to] {
			sortRow(all[begin:end])
			begin = end
		}
	})
	return all
}

// sortRow sorts the spans of a row by their start, stably.
func sortRow(row []Span) {
	const few = 32
	if len(row) > few {
		slices.SortStableFunc(row, func(a, b Span) int { return cmp.Compare(a.X0, b.X0) })
		return
	}
	for i := 1; i < len(row); i++ {
		s := row[i]
		j := i
		for ; j > 0 && row[j-1].X0 > s.X0; j-- {
			row[j] = row[j-1]
		}
		row[j] = s
	}
}

// fill marks the spans, which are in reading order, and, if holes is true, the holes in them, in a mask of zeros.
func fill(m *Mask, spans []Span, holes bool) {
	var inner []Span
	var wait sync.WaitGroup
	if holes {
		wait.Go(func() { inner = span.Holes(spans, m.Width, m.Height) })
	}
	parallel.Split(len(spans), 2048, func(from, to int) { span.Fill(m.Pix, m.Width, spans[from:to], 255) })
	wait.Wait()
	span.Fill(m.Pix, m.Width, inner, 255)
}
