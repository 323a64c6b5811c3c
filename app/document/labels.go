package document

import (
	"cmp"
	"encoding/binary"
	"image"
	"math"
	"slices"
	"sort"

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
	base   []int32
	parent []int32
	spots  int
	area   int
}

// labeller is the scratch memory for labelling a tile.
type labeller struct {
	buffer tileBuffer
	union  []int32
	border [4][tileSide]uint16
}

// tileLabels are the components within one tile, called parts.
type tileLabels struct {
	stale bool
	// shared is set if other labels use the same memory, which then must not be overwritten.
	shared bool
	runs   []tileRun
	parts  []tileSums
	// border holds, for each pixel of the left, right, top and bottom border, its part plus one, or 0 if the pixel is
	// not set. It is nil if no border pixel is set.
	border *[4][tileSide]uint16
}

// The borders of a tile.
const (
	leftBorder = iota
	rightBorder
	topBorder
	bottomBorder
)

// tileRun is a run of pixels of a part, in coordinates of the tile; x1 is excluded.
type tileRun struct {
	y, x0, x1 uint8
	part      uint16
}

// from returns the run in coordinates of the picture; corner is that of its tile.
func (r tileRun) from(corner image.Point) processing.Run {
	return processing.Run{Y: corner.Y + int(r.y), X0: corner.X + int(r.x0), X1: corner.X + int(r.x1)}
}

// tileSums holds the sums of a component of a tile, in coordinates of the tile. Column right is excluded, row bottom
// included.
type tileSums struct {
	area                     uint32
	sx, sy                   uint32
	sxx, syy, sxy            uint32
	left, top, right, bottom uint8
	// first is the column of the first pixel in row top.
	first uint8
}

func newLabels(t tiling, read func(i int, buffer *tileBuffer) ([]uint8, int)) *labels {
	l := &labels{tiles: t, read: read, tile: make([]tileLabels, t.count()), base: make([]int32, t.count()+1)}
	for i := range l.tile {
		l.invalidate(i)
	}
	return l
}

// labelsOf returns the labels of a mask.
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
	forEach(len(l.stale), func(k int, scratch *labeller) {
		i := l.stale[k]
		pix, stride := l.read(i, &scratch.buffer)
		r := l.tiles.rect(i)
		scratch.label(&l.tile[i], pix, stride, r.Dx(), r.Dy())
		l.tile[i].stale = false
	})
	l.stale = l.stale[:0]
	l.join()
	l.joined = true
}

// label finds the runs of a tile of w × h pixels and joins those that touch from row to row, also at corners.
func (l *labeller) label(t *tileLabels, pix []uint8, stride, w, h int) {
	if t.shared {
		t.runs, t.parts, t.shared = nil, nil, false
	}
	t.runs, t.parts, t.border = t.runs[:0], t.parts[:0], nil
	l.union = l.union[:0]
	row := 0
	for y := range h {
		above := row
		row = len(t.runs)
		t.runs = appendRuns(t.runs, pix[y*stride:][:w], y)
		for k := row; k < len(t.runs); k++ {
			l.union = append(l.union, int32(k))
			run := t.runs[k]
			for above < row && t.runs[above].x1 < run.x0 {
				above++
			}
			for j := above; j < row && t.runs[j].x0 <= run.x1; j++ {
				unite(l.union, int32(j), int32(k))
			}
		}
	}
	if len(t.runs) == 0 {
		*t = tileLabels{stale: t.stale}
		return
	}
	l.sumParts(t)
	l.findBorder(t, w, h)
}

// appendRuns appends the runs of row y that count as glare.
func appendRuns(runs []tileRun, row []uint8, y int) []tileRun {
	// A value counts as glare if its top bit is set, so one word tests eight pixels.
	const top = 0x8080808080808080
	n := len(row)
	for x := 0; x < n; {
		for x+8 <= n && binary.LittleEndian.Uint64(row[x:])&top == 0 {
			x += 8
		}
		for x < n && row[x] < processing.MaskLevel {
			x++
		}
		if x == n {
			break
		}
		x0 := x
		for x+8 <= n && binary.LittleEndian.Uint64(row[x:])&top == top {
			x += 8
		}
		for x < n && row[x] >= processing.MaskLevel {
			x++
		}
		runs = append(runs, tileRun{y: uint8(y), x0: uint8(x0), x1: uint8(x)})
	}
	return runs
}

// unite joins the trees of a and b under the smaller root, so that a root is the first element of its set.
func unite(parent []int32, a, b int32) {
	a, b = root(parent, a), root(parent, b)
	if a < b {
		parent[b] = a
	} else {
		parent[a] = b
	}
}

func root(parent []int32, a int32) int32 {
	for parent[a] != a {
		parent[a] = parent[parent[a]]
		a = parent[a]
	}
	return a
}

// sumParts numbers the sets of runs in reading order and computes the sums of each.
func (l *labeller) sumParts(t *tileLabels) {
	for k := range t.runs {
		run := &t.runs[k]
		if k32 := int32(k); root(l.union, k32) == k32 {
			run.part = uint16(len(t.parts))
			t.parts = append(t.parts, tileSums{left: run.x0, top: run.y, first: run.x0})
		} else {
			// A root is the first of its set, so it already has a number.
			run.part = t.runs[root(l.union, k32)].part
		}
		p := &t.parts[run.part]
		a, b, y := uint32(run.x0), uint32(run.x1), uint32(run.y)
		n := b - a
		sx := n * (a + b - 1) / 2
		p.area += n
		p.sx += sx
		p.sy += n * y
		p.sxx += squares(b) - squares(a)
		p.syy += n * y * y
		p.sxy += sx * y
		p.left, p.right, p.bottom = min(p.left, run.x0), max(p.right, run.x1), max(p.bottom, run.y)
	}
}

// squares returns 0² + 1² + … + (n−1)².
func squares(n uint32) uint32 {
	if n == 0 {
		return 0
	}
	return (n - 1) * n * (2*n - 1) / 6
}

func (l *labeller) findBorder(t *tileLabels, w, h int) {
	any := false
	l.border = [4][tileSide]uint16{}
	for _, run := range t.runs {
		id := run.part + 1
		if run.x0 == 0 {
			l.border[leftBorder][run.y] = id
			any = true
		}
		if int(run.x1) == w {
			l.border[rightBorder][run.y] = id
			any = true
		}
		for _, edge := range [2][2]int{{0, topBorder}, {h - 1, bottomBorder}} {
			if int(run.y) == edge[0] {
				for x := run.x0; x < run.x1; x++ {
					l.border[edge[1]][x] = id
				}
				any = true
			}
		}
	}
	if any {
		border := l.border
		t.border = &border
	}
}

// join builds the forest over all parts and counts its trees and pixels.
func (l *labels) join() {
	n := int32(0)
	l.area = 0
	for i := range l.tile {
		l.base[i] = n
		n += int32(len(l.tile[i].parts))
		for _, p := range l.tile[i].parts {
			l.area += int(p.area)
		}
	}
	l.base[len(l.tile)] = n
	if cap(l.parent) < int(n) {
		l.parent = make([]int32, n, n+n/4)
	}
	l.parent = l.parent[:n]
	for i := range l.parent {
		l.parent[i] = int32(i)
	}
	nx := l.tiles.nx
	for i := range l.tile {
		a := l.tile[i].border
		if a == nil {
			continue
		}
		x, below := i%nx, i+nx < len(l.tile)
		if x+1 < nx {
			l.joinSides(i, a[rightBorder][:], i+1, leftBorder)
		}
		if below {
			l.joinSides(i, a[bottomBorder][:], i+nx, topBorder)
			if x+1 < nx {
				l.joinCorner(i, a[bottomBorder][tileSide-1], i+nx+1, topBorder, 0)
			}
			if x > 0 {
				l.joinCorner(i, a[bottomBorder][0], i+nx-1, topBorder, tileSide-1)
			}
		}
	}
	l.spots = 0
	for i, p := range l.parent {
		if int32(i) == p {
			l.spots++
		}
	}
}

// joinSides unites the parts of tile i along side with those that touch them along the given border of tile j.
func (l *labels) joinSides(i int, side []uint16, j, border int) {
	b := l.tile[j].border
	if b == nil {
		return
	}
	other := b[border][:]
	for k, p := range side {
		if p == 0 {
			continue
		}
		for m := max(k-1, 0); m <= min(k+1, tileSide-1); m++ {
			if q := other[m]; q != 0 {
				unite(l.parent, l.base[i]+int32(p)-1, l.base[j]+int32(q)-1)
			}
		}
	}
}

// joinCorner unites the part of tile i at a corner with the part of tile j at pixel k of its border. p is the part plus
// one, 0 for none.
func (l *labels) joinCorner(i int, p uint16, j, border, k int) {
	if b := l.tile[j].border; b != nil && p != 0 && b[border][k] != 0 {
		unite(l.parent, l.base[i]+int32(p)-1, l.base[j]+int32(b[border][k])-1)
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
func (l *labels) root(i int, part uint16) int32 { return root(l.parent, l.base[i]+int32(part)) }

// component holds the sums over all parts of a component, in coordinates of the picture.
type component struct {
	root          int32
	first         image.Point
	bounds        image.Rectangle
	area          int
	sx, sy        float64
	sxx, syy, sxy float64
}

// components returns all components in reading order of their first pixels. of[r] is the index in list of the one with
// root r.
func (l *labels) components() (list []component, of []int32) {
	l.refresh()
	list = make([]component, 0, l.spots)
	// Until the list is sorted, indices count from 1, and 0 means none.
	of = make([]int32, len(l.parent))
	for i := range l.tile {
		if len(l.tile[i].parts) == 0 {
			continue
		}
		corner := l.tiles.rect(i).Min
		for k, p := range l.tile[i].parts {
			r := l.root(i, uint16(k))
			if of[r] == 0 {
				list = append(list, component{root: r, first: image.Pt(math.MaxInt, math.MaxInt)})
				of[r] = int32(len(list))
			}
			list[of[r]-1].add(p, corner)
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

// before reports whether a comes first in reading order.
func before(a, b image.Point) bool { return inOrder(a, b) < 0 }

func (c *component) add(p tileSums, corner image.Point) {
	n, x, y := float64(p.area), float64(corner.X), float64(corner.Y)
	sx, sy := float64(p.sx), float64(p.sy)
	c.sxx += float64(p.sxx) + 2*x*sx + n*x*x
	c.syy += float64(p.syy) + 2*y*sy + n*y*y
	c.sxy += float64(p.sxy) + x*sy + y*sx + n*x*y
	c.sx += sx + n*x
	c.sy += sy + n*y
	c.area += int(p.area)
	c.bounds = c.bounds.Union(image.Rect(int(p.left), int(p.top), int(p.right), int(p.bottom)+1).Add(corner))
	if first := image.Pt(int(p.first), int(p.top)).Add(corner); before(first, c.first) {
		c.first = first
	}
}

// elongation returns the ratio of the axes, at least 1, of the ellipse with the component's second moments. Each pixel
// is taken as a unit square, which has a variance of 1/12.
func (c *component) elongation() float64 {
	n := float64(c.area)
	mx, my := c.sx/n, c.sy/n
	vx, vy, vxy := c.sxx/n-mx*mx+1./12, c.syy/n-my*my+1./12, c.sxy/n-mx*my
	mean, deviation := (vx+vy)/2, math.Hypot((vx-vy)/2, vxy)
	return math.Sqrt((mean + deviation) / math.Max(mean-deviation, 1./12))
}

// runs returns the runs of component r in reading order. bounds is its bounding box.
func (l *labels) runs(r int32, bounds image.Rectangle) []processing.Run {
	var out []processing.Run
	l.tiles.each(bounds, func(i int) {
		corner := l.tiles.rect(i).Min
		for _, run := range l.tile[i].runs {
			if l.root(i, run.part) == r {
				out = append(out, run.from(corner))
			}
		}
	})
	slices.SortFunc(out, func(a, b processing.Run) int { return inOrder(image.Pt(a.X0, a.Y), image.Pt(b.X0, b.Y)) })
	joined := out[:0]
	for _, run := range out {
		// Join runs that the border of a tile cuts.
		if n := len(joined); n > 0 && joined[n-1].Y == run.Y && joined[n-1].X1 == run.X0 {
			joined[n-1].X1 = run.X1
			continue
		}
		joined = append(joined, run)
	}
	return joined
}

// each calls do for every component that has a pixel in run, once for each run of a tile that it meets. The labels must
// be up to date.
func (l *labels) each(run processing.Run, do func(root int32)) {
	for x := run.X0; x < run.X1; {
		i := l.tiles.at(x, run.Y)
		corner := l.tiles.rect(i).Min
		end := min(run.X1, corner.X+tileSide)
		runs := l.tile[i].runs
		ty, a, b := run.Y-corner.Y, x-corner.X, end-corner.X
		k := sort.Search(len(runs), func(k int) bool {
			return int(runs[k].y) > ty || int(runs[k].y) == ty && int(runs[k].x1) > a
		})
		for ; k < len(runs) && int(runs[k].y) == ty && int(runs[k].x0) < b; k++ {
			do(l.root(i, runs[k].part))
		}
		x = end
	}
}
