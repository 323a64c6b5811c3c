package processing

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"sync"
)

// span is a run of pixels of one row that belong to the same component: columns x0 up to but not including x1.
type span struct {
	y, x0, x1 int32
	label     uint32
}

// disjoint is a union-find forest over labels; every root is the smallest label of its set.
type disjoint []uint32

func (d disjoint) find(a uint32) uint32 {
	for d[a] != a {
		d[a] = d[d[a]]
		a = d[a]
	}
	return a
}

func (d disjoint) union(a, b uint32) {
	a, b = d.find(a), d.find(b)
	if a < b {
		d[b] = a
	} else {
		d[a] = b
	}
}

// inBands runs f on bands of rows of a picture of height h, several at a time, and joins the results in order.
func inBands(h int, f func(y0, y1 int) []span) []span {
	n := min(runtime.GOMAXPROCS(0), h)
	parts := make([][]span, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			parts[i] = f(i*h/n, (i+1)*h/n)
		}()
	}
	wg.Wait()
	return slices.Concat(parts...)
}

// spansOf returns the runs of pixels whose byte has one of the given bits, in reading order, without labels.
func spansOf(pix []uint8, w, h int, bits uint8) []span {
	every := uint64(bits) * 0x0101010101010101
	return inBands(h, func(y0, y1 int) []span {
		var spans []span
		for y := y0; y < y1; y++ {
			row := pix[y*w : y*w+w : y*w+w]
			for x := 0; x < w; x++ {
				for x+8 <= w && binary.NativeEndian.Uint64(row[x:])&every == 0 {
					x += 8
				}
				if x == w || row[x]&bits == 0 {
					continue
				}
				x0 := x
				for x < w && row[x]&bits != 0 {
					x++
				}
				spans = append(spans, span{y: int32(y), x0: int32(x0), x1: int32(x)})
			}
		}
		return spans
	})
}

// connect labels spans in reading order by 8-connectivity, 0, 1, 2… in the order of each component's first pixel, and
// returns the number of components.
func connect(spans []span) int {
	set := make(disjoint, len(spans))
	joinRows(spans, set, eightConnected)
	n := uint32(0)
	for i := range spans {
		if r := set.find(uint32(i)); r == uint32(i) {
			spans[i].label = n
			n++
		} else {
			spans[i].label = spans[r].label
		}
	}
	return int(n)
}

// How far two spans of neighbouring rows may be apart to be connected, in columns.
const (
	fourConnected  = 0
	eightConnected = 1
)

// joinRows makes set the connected components of the spans, which are in reading order; its labels are indices of spans.
// Spans of one row that touch end to end, as labelled ones may, are connected too.
func joinRows(spans []span, set disjoint, reach int32) {
	above, row := 0, 0 // first span of the previous row, first span of this row
	for i := range spans {
		set[i] = uint32(i)
		if spans[i].y != spans[row].y {
			above, row = row, i
		}
		if i > row && spans[i-1].x1 == spans[i].x0 {
			set.union(uint32(i-1), uint32(i))
		}
		if above == row || spans[above].y != spans[i].y-1 {
			continue
		}
		for above < row && spans[above].x1+reach <= spans[i].x0 {
			above++
		}
		for j := above; j < row && spans[j].x0 < spans[i].x1+reach; j++ {
			set.union(uint32(j), uint32(i))
		}
	}
}

// shape holds the exact sums of a component's pixels: enough for area, centroid, bounding box and second moments.
type shape struct {
	n                      int64
	sx, sy, sxx, sxy, syy  int64
	left, top, right, base int32 // right and base are excluded
}

func newShape() shape {
	return shape{left: math.MaxInt32, top: math.MaxInt32, right: math.MinInt32, base: math.MinInt32}
}

// add takes in a span. Sums over x = a…b−1 are closed forms, so that the cost is that of the spans.
func (s *shape) add(r span) {
	a, b, y := int64(r.x0), int64(r.x1), int64(r.y)
	n := b - a
	sum := (a + b - 1) * n / 2
	squares := (b-1)*b*(2*b-1)/6 - (a-1)*a*(2*a-1)/6
	s.n += n
	s.sx += sum
	s.sy += n * y
	s.sxx += squares
	s.sxy += sum * y
	s.syy += n * y * y
	s.left, s.right = min(s.left, r.x0), max(s.right, r.x1)
	s.top, s.base = min(s.top, r.y), max(s.base, r.y+1)
}

// elongation is √(λ1/λ2) of the second moments, each pixel a unit square (1/12 on the diagonal); λ2 ≥ 1/24.
func (s *shape) elongation() float64 {
	n := float64(s.n)
	mx, my := float64(s.sx)/n, float64(s.sy)/n
	xx := float64(s.sxx)/n - mx*mx + 1.0/12
	yy := float64(s.syy)/n - my*my + 1.0/12
	xy := float64(s.sxy)/n - mx*my
	mean, diff := (xx+yy)/2, (xx-yy)/2
	root := math.Sqrt(diff*diff + xy*xy)
	return math.Sqrt((mean + root) / math.Max(mean-root, 1.0/24))
}
