package document

import (
	"cmp"
	"image"
	"slices"
	"sort"

	"blik/internal/span"
	"blik/processing"
)

// labels holds the 8-connected components of a mask, tile by tile. After a change of the mask, only the tiles that it
// touched are labelled again; then the components of all tiles are joined along their borders, which reads no pixels.
type labels struct {
	tiles tiling
	// read returns the pixels of a tile, as a view of the mask or in buffer; pix[0] is the tile's first pixel. It is
	// called on several goroutines.
	read func(i int, buffer *tileBuffer) (pix []uint8, stride int)

	tile  []tileLabels
	stale []int
	// joined is set while base and everything below it are up to date.
	joined bool
	// base[i] is the index of the first part of tile i in parent, the union-find forest over the parts of all tiles.
	// spots is the number of components, area that of their pixels.
	base   []uint32
	parent span.Disjoint
	spots  int
	area   int
}

// tileLabels are the components within one tile, called parts.
type tileLabels struct {
	stale bool
	// shared is set if other labels use the same memory, which then must not be overwritten.
	shared bool
	// runs are the runs of pixels in reading order, labelled with their parts.
	runs  []span.Span
	parts []part
	// area is the number of pixels.
	area int
	// left, right, top and bottom are the runs at the borders.
	left, right, top, bottom []span.Span
}

// part is a component of a tile or, as the sum of several, of the mask. first is its first pixel in reading order.
type part struct {
	span.Sums
	first image.Point
}

func newLabels(t tiling, read func(i int, buffer *tileBuffer) ([]uint8, int)) *labels {
	l := &labels{tiles: t, read: read, tile: make([]tileLabels, t.count()), base: make([]uint32, t.count())}
	for i := range l.tile {
		l.invalidate(i)
	}
	return l
}

func labelsOf(t tiling, m *processing.Mask) *labels {
	return newLabels(t, func(i int, _ *tileBuffer) ([]uint8, int) {
		r := t.rect(i)
		return m.Pix[r.Min.Y*m.Width+r.Min.X:], m.Width
	})
}

// invalidate must be called when pixels of tile i have changed.
func (l *labels) invalidate(i int) {
	if !l.tile[i].stale {
		l.tile[i].stale = true
		l.stale = append(l.stale, i)
		l.joined = false
	}
}

// adopt takes the components of tile i from other labels. The pixels of the tile must be equal in both, and those of
// other must never change.
func (l *labels) adopt(i int, other *labels) {
	if t := &l.tile[i]; !t.stale {
		*t = other.tile[i]
		t.shared = true
		l.joined = false
	}
}

// refresh labels the tiles that changed and joins the parts of all tiles.
func (l *labels) refresh() {
	if l.joined {
		return
	}
	forEach(len(l.stale), func(k int, buffer *tileBuffer) {
		i := l.stale[k]
		pix, stride := l.read(i, buffer)
		l.tile[i].label(pix, stride, l.tiles.rect(i))
		l.tile[i].stale = false
	})
	l.stale = l.stale[:0]
	l.join()
	l.joined = true
}

// label finds the runs of a tile with the pixels r, and joins those that touch from row to row, also at corners.
func (t *tileLabels) label(pix []uint8, stride int, r image.Rectangle) {
	if t.shared {
		t.runs, t.parts, t.shared = nil, nil, false
	}
	t.runs, t.parts, t.area = t.runs[:0], t.parts[:0], 0
	first, last := 0, 0
	for y := range r.Dy() {
		n := len(t.runs)
		t.runs = span.Append(t.runs, pix[y*stride:], r.Dx(), 0, 1, processing.MaskLevel)
		for i := range t.runs[n:] {
			run := &t.runs[n+i]
			run.Y, run.X0, run.X1 = int32(r.Min.Y+y), run.X0+int32(r.Min.X), run.X1+int32(r.Min.X)
		}
		if y == 0 {
			first = len(t.runs)
		}
		last = n
	}
	if len(t.runs) == 0 {
		*t = tileLabels{stale: t.stale}
		return
	}
	for range span.Connect(t.runs, span.Eight) {
		t.parts = append(t.parts, part{Sums: span.NewSums()})
	}
	t.left, t.right, t.top, t.bottom = nil, nil, t.runs[:first], t.runs[last:]
	for _, run := range t.runs {
		p := &t.parts[run.Label]
		if p.N == 0 {
			p.first = image.Pt(int(run.X0), int(run.Y))
		}
		p.Add(run)
		t.area += int(run.X1 - run.X0)
		if int(run.X0) == r.Min.X {
			t.left = append(t.left, run)
		}
		if int(run.X1) == r.Max.X {
			t.right = append(t.right, run)
		}
	}
}

// join builds the forest over all parts and counts its trees and pixels.
func (l *labels) join() {
	n := uint32(0)
	l.area = 0
	for i := range l.tile {
		l.base[i] = n
		n += uint32(len(l.tile[i].parts))
		l.area += l.tile[i].area
	}
	l.parent = slices.Grow(l.parent[:0], int(n))[:n]
	for i := range l.parent {
		l.parent[i] = uint32(i)
	}
	row, column := func(run span.Span) int32 { return run.Y }, func(run span.Span) int32 { return run.X1 }
	nx := l.tiles.nx
	for i := range l.tile {
		x, t := i%nx, &l.tile[i]
		if x+1 < nx {
			l.joinRuns(i, t.right, i+1, l.tile[i+1].left, row)
		}
		for j := i + nx - min(x, 1); i+nx < len(l.tile) && j <= i+nx+min(nx-1-x, 1); j++ {
			l.joinRuns(i, t.bottom, j, l.tile[j].top, column)
		}
	}
	l.spots = 0
	for i, p := range l.parent {
		if uint32(i) == p {
			l.spots++
		}
	}
}

// joinRuns unites the parts of runs at the border of tile i with those of runs at the border of tile j that touch them,
// also at corners. along returns the position at which a run ends along the border, by which both are sorted.
func (l *labels) joinRuns(i int, a []span.Span, j int, b []span.Span, along func(run span.Span) int32) {
	for len(a) > 0 && len(b) > 0 {
		p, q := a[0], b[0]
		if p.Y <= q.Y+1 && q.Y <= p.Y+1 && p.X0 <= q.X1 && q.X0 <= p.X1 {
			l.parent.Union(l.base[i]+p.Label, l.base[j]+q.Label)
		}
		if along(p) < along(q) {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
}

// at returns the component of pixel (x, y) as a root of the forest, or −1 if there is none.
func (l *labels) at(x, y int) int32 {
	if !image.Pt(x, y).In(l.tiles.bounds()) {
		return -1
	}
	l.refresh()
	found := int32(-1)
	l.each(processing.Run{Y: y, X0: x, X1: x + 1}, func(root int32) { found = root })
	return found
}

// root returns the root of a part of tile i in the forest.
func (l *labels) root(i int, part uint32) int32 { return int32(l.parent.Find(l.base[i] + part)) }

// component is the sum of the parts of a component.
type component struct {
	part
	root int32
}

// components returns all components in reading order of their first pixels. of[r] is the index in list of the one with
// root r.
func (l *labels) components() (list []component, of []int32) {
	l.refresh()
	list = make([]component, 0, l.spots)
	// Until the list is sorted, indices count from 1, and 0 means none.
	of = make([]int32, len(l.parent))
	for i := range l.tile {
		for k := range l.tile[i].parts {
			r, p := l.root(i, uint32(k)), &l.tile[i].parts[k]
			if of[r] == 0 {
				list = append(list, component{*p, r})
				of[r] = int32(len(list))
			} else {
				list[of[r]-1].add(p)
			}
		}
	}
	slices.SortFunc(list, func(a, b component) int { return inOrder(a.first, b.first) })
	for i, c := range list {
		of[c.root] = int32(i)
	}
	return list, of
}

// inOrder compares points in reading order.
func inOrder(a, b image.Point) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) }

func (p *part) add(q *part) {
	if inOrder(q.first, p.first) < 0 {
		p.first = q.first
	}
	p.N, p.SX, p.SY = p.N+q.N, p.SX+q.SX, p.SY+q.SY
	p.SXX, p.SXY, p.SYY = p.SXX+q.SXX, p.SXY+q.SXY, p.SYY+q.SYY
	p.Left, p.Top = min(p.Left, q.Left), min(p.Top, q.Top)
	p.Right, p.Base = max(p.Right, q.Right), max(p.Base, q.Base)
}

// runs returns the runs of component r in reading order. bounds is its bounding box.
func (l *labels) runs(r int32, bounds image.Rectangle) []processing.Run {
	var out []processing.Run
	l.tiles.each(bounds, func(i int) {
		for _, run := range l.tile[i].runs {
			if l.root(i, run.Label) == r {
				out = append(out, processing.Run{Y: int(run.Y), X0: int(run.X0), X1: int(run.X1)})
			}
		}
	})
	slices.SortFunc(out, func(a, b processing.Run) int { return inOrder(image.Pt(a.X0, a.Y), image.Pt(b.X0, b.Y)) })
	joined := out[:0]
	for _, run := range out {
		// Join runs that the border of a tile cuts.
		joined = processing.AppendRun(joined, run)
	}
	return joined
}

// each calls do for every component that has a pixel in run, once for each run of a tile that it meets. The labels must
// be up to date.
func (l *labels) each(run processing.Run, do func(root int32)) {
	for x := run.X0; x < run.X1; {
		i := l.tiles.at(x, run.Y)
		runs := l.tile[i].runs
		k := sort.Search(len(runs), func(k int) bool {
			return int(runs[k].Y) > run.Y || int(runs[k].Y) == run.Y && int(runs[k].X1) > x
		})
		for ; k < len(runs) && int(runs[k].Y) == run.Y && int(runs[k].X0) < run.X1; k++ {
			do(l.root(i, runs[k].Label))
		}
		x = l.tiles.rect(i).Max.X
	}
}
