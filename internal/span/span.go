// Package span represents sets of pixels as horizontal runs and finds their connected components.
package span

import (
	"cmp"
	"encoding/binary"
	"math"
	mathbits "math/bits"
	"slices"

	"blik/internal/parallel"
)

// Span is a run of pixels of row Y that belong to one component: columns X0 to X1−1.
type Span struct {
	Y, X0, X1 int32
	Label     uint32
}

// Append appends the runs of pixels of rows y0…y1−1 whose byte has one of the given bits, in reading order, without
// labels. pix holds rows of w bytes.
func Append(spans []Span, pix []uint8, w, y0, y1 int, bits uint8) []Span {
	every := uint64(bits) * 0x0101010101010101
	for y := y0; y < y1; y++ {
		row := pix[y*w : y*w+w : y*w+w]
		for x := 0; x < w; {
			x = next(row, x, bits, every, 0)
			if x == w {
				break
			}
			x0 := x
			x = next(row, x, bits, every, topBits)
			spans = append(spans, Span{Y: int32(y), X0: int32(x0), X1: int32(x)})
		}
	}
	return spans
}

// topBits has the top bit of every byte set.
const topBits = 0x8080808080808080

// next returns the first column from x on whose byte has one of the bits, or, with flip set to topBits, none of them.
// It returns the width if there is no such column.
func next(row []uint8, x int, bits uint8, every, flip uint64) int {
	if flip == 0 {
		// Most of a picture is usually empty.
		for ; x+32 <= len(row); x += 32 {
			p := row[x : x+32]
			if (binary.LittleEndian.Uint64(p)|binary.LittleEndian.Uint64(p[8:])|binary.LittleEndian.Uint64(p[16:])|
				binary.LittleEndian.Uint64(p[24:]))&every != 0 {
				break
			}
		}
	}
	for ; x+8 <= len(row); x += 8 {
		v := binary.LittleEndian.Uint64(row[x:]) & every
		if set := (v&^topBits+^uint64(topBits)|v)&topBits ^ flip; set != 0 {
			return x + mathbits.TrailingZeros64(set)/8
		}
	}
	for x < len(row) && (row[x]&bits == 0) == (flip == 0) {
		x++
	}
	return x
}

// Reach is the maximum distance in columns between connected spans of neighbouring rows.
type Reach int32

// The neighbourhoods.
const (
	Four  Reach = 0
	Eight Reach = 1
)

// Connect labels spans in reading order by connectivity, 0, 1, 2… in the order of each component's first pixel, and
// returns the number of components. Adjacent spans of one row, which may already be labelled, are connected too.
func Connect(spans []Span, reach Reach) int {
	set := join(spans, reach)
	n := uint32(0)
	for i := range spans {
		if r := set[i]; r == uint32(i) {
			spans[i].Label = n
			n++
		} else {
			spans[i].Label = spans[r].Label
		}
	}
	return int(n)
}

// Disjoint is a union-find forest over labels. Every root is the smallest label of its set, and no parent is greater
// than its child.
type Disjoint []uint32

// Find returns the root of the set of a label.
func (d Disjoint) Find(a uint32) uint32 {
	for d[a] != a {
		d[a] = d[d[a]]
		a = d[a]
	}
	return a
}

// Union joins the sets of two labels.
func (d Disjoint) Union(a, b uint32) {
	a, b = d.Find(a), d.Find(b)
	if a < b {
		d[b] = a
	} else {
		d[a] = b
	}
}

// leastStrip is the minimum number of spans joined at a time.
const leastStrip = 2048

// join returns the connected sets of span indices, mapping each index to the root of its set. It joins strips of rows
// in parallel, then along their borders.
func join(spans []Span, reach Reach) Disjoint {
	set := make(Disjoint, len(spans))
	borders := make(chan int, len(spans)/leastStrip+1)
	parallel.Split(len(spans), leastStrip, func(from, to int) {
		// All spans of the row in which a strip would begin go to the previous strip.
		from, to = nextRow(spans, from), nextRow(spans, to)
		set.joinRows(spans, from, to, reach)
		if from > 0 && from < to {
			borders <- from
		}
	})
	close(borders)
	for at := range borders {
		set.joinBorder(spans, at, reach)
	}
	for i, parent := range set {
		set[i] = set[parent]
	}
	return set
}

// nextRow returns the index of the first span from i on that begins a row.
func nextRow(spans []Span, i int) int {
	for i > 0 && i < len(spans) && spans[i].Y == spans[i-1].Y {
		i++
	}
	return i
}

// joinRows joins the spans from … to−1, which are whole rows.
func (d Disjoint) joinRows(spans []Span, from, to int, reach Reach) {
	above, row := from, from // first span of the previous row, first span of this row
	for i := from; i < to; i++ {
		d[i] = uint32(i)
		if spans[i].Y != spans[row].Y {
			above, row = row, i
		}
		if i > row && spans[i-1].X1 == spans[i].X0 {
			d.Union(uint32(i-1), uint32(i))
		}
		if above == row || spans[above].Y != spans[i].Y-1 {
			continue
		}
		above = d.joinAbove(spans, above, row, i, reach)
	}
}

// joinBorder joins the row that begins at index at with the one before.
func (d Disjoint) joinBorder(spans []Span, at int, reach Reach) {
	if spans[at-1].Y != spans[at].Y-1 {
		return
	}
	above := at - 1
	for above > 0 && spans[above-1].Y == spans[at-1].Y {
		above--
	}
	for i := at; i < len(spans) && spans[i].Y == spans[at].Y; i++ {
		above = d.joinAbove(spans, above, at, i, reach)
	}
}

// joinAbove joins span i with the spans of the previous row, from above on; that row ends at index row. It returns the
// first of them that may also touch later spans.
func (d Disjoint) joinAbove(spans []Span, above, row, i int, reach Reach) int {
	for above < row && spans[above].X1+int32(reach) <= spans[i].X0 {
		above++
	}
	for j := above; j < row && spans[j].X0 < spans[i].X1+int32(reach); j++ {
		d.Union(uint32(j), uint32(i))
	}
	return above
}

// Holes returns the spans of the 4-connected sets of pixels outside spans that do not reach the border of w × h pixels,
// in reading order. spans are in reading order and do not overlap.
func Holes(spans []Span, w, h int) []Span {
	var gaps []Span
	next := 0
	for y := range int32(h) {
		x := int32(0)
		for ; next < len(spans) && spans[next].Y == y; next++ {
			if spans[next].X0 > x {
				gaps = append(gaps, Span{Y: y, X0: x, X1: spans[next].X0})
			}
			x = spans[next].X1
		}
		if x < int32(w) {
			gaps = append(gaps, Span{Y: y, X0: x, X1: int32(w)})
		}
	}
	set := join(gaps, Four)
	open := make([]bool, len(gaps))
	for i, g := range gaps {
		if g.X0 == 0 || int(g.X1) == w || g.Y == 0 || int(g.Y) == h-1 {
			open[set[i]] = true
		}
	}
	holes := gaps[:0]
	for i, g := range gaps {
		if !open[set[i]] {
			holes = append(holes, g)
		}
	}
	return holes
}

// Fill sets the bytes of pix, rows of w bytes, to v where the spans are.
func Fill(pix []uint8, w int, spans []Span, v uint8) {
	for _, s := range spans {
		row := pix[int(s.Y)*w+int(s.X0) : int(s.Y)*w+int(s.X1)]
		for i := range row {
			row[i] = v
		}
	}
}

// Sums holds the exact sums of a component's pixels: enough for area, centroid, bounding box and second moments.
type Sums struct {
	// N is the number of pixels.
	N int64
	// SX … SYY are the sums of x, y, x², x·y and y².
	SX, SY, SXX, SXY, SYY int64
	// Left, Top, Right and Base bound the pixels; Right and Base are excluded.
	Left, Top, Right, Base int32
}

// NewSums returns the sums of no pixels.
func NewSums() Sums {
	return Sums{Left: math.MaxInt32, Top: math.MaxInt32, Right: math.MinInt32, Base: math.MinInt32}
}

// Add adds a span. Sums over x have closed forms, so the cost depends only on the number of spans.
func (s *Sums) Add(r Span) {
	a, b, y := int64(r.X0), int64(r.X1), int64(r.Y)
	n := b - a
	sum := (a + b - 1) * n / 2
	squares := (b-1)*b*(2*b-1)/6 - (a-1)*a*(2*a-1)/6
	s.N += n
	s.SX += sum
	s.SY += n * y
	s.SXX += squares
	s.SXY += sum * y
	s.SYY += n * y * y
	s.Left, s.Right = min(s.Left, r.X0), max(s.Right, r.X1)
	s.Top, s.Base = min(s.Top, r.Y), max(s.Base, r.Y+1)
}

// Elongation returns √(λ1/λ2) of the second central moments, where each pixel is a unit square (1/12 on the diagonal);
// λ2 ≥ 1/24.
func (s *Sums) Elongation() float64 {
	n := float64(s.N)
	mx, my := float64(s.SX)/n, float64(s.SY)/n
	xx := float64(s.SXX)/n - float64(mx*mx) + 1.0/12
	yy := float64(s.SYY)/n - float64(my*my) + 1.0/12
	xy := float64(s.SXY)/n - float64(mx*my)
	mean, diff := float64((xx+yy)/2), float64((xx-yy)/2)
	root := math.Sqrt(float64(diff*diff) + float64(xy*xy))
	return math.Sqrt((mean + root) / math.Max(mean-root, 1.0/24))
}

// InReadingOrder joins sets of spans, each in reading order, on a picture with h rows. Spans that begin at one pixel
// stay in the order of their sets.
func InReadingOrder(sets [][]Span, h int) []Span {
	next := make([]int, h+1)
	for _, set := range sets {
		for i := range set {
			next[set[i].Y+1]++
		}
	}
	for y := range h {
		next[y+1] += next[y]
	}
	all := make([]Span, next[h])
	begin := slices.Clone(next)
	for _, set := range sets {
		for i := range set {
			at := &next[set[i].Y]
			all[*at] = set[i]
			*at++
		}
	}
	parallel.Split(h, 256, func(from, to int) {
		for y := from; y < to; y++ {
			slices.SortStableFunc(all[begin[y]:begin[y+1]], func(a, b Span) int { return cmp.Compare(a.X0, b.X0) })
		}
	})
	return all
}

// Group divides spans into n groups by key, the number of the group of span i, which keep their order; those with a
// negative number are left out. The groups share memory.
func Group(spans []Span, n int, key func(i int) int) [][]Span {
	ends := make([]int, n+1)
	for i := range spans {
		if k := key(i); k >= 0 {
			ends[k+1]++
		}
	}
	for i := range n {
		ends[i+1] += ends[i]
	}
	all, groups := make([]Span, ends[n]), make([][]Span, n)
	for i := range groups {
		groups[i] = all[ends[i]:ends[i]:ends[i+1]]
	}
	for i, s := range spans {
		if k := key(i); k >= 0 {
			groups[k] = append(groups[k], s)
		}
	}
	return groups
}
