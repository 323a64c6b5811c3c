package correct

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"blik/processing"
)

// Spots that lie apart are corrected in windows of their own. Windows of crowded spots would cover the same pixels many
// times, so such spots share one: all whose centres lie in the same square of a grid. The grid is fixed to the picture,
// so that neither the result nor the windows depend on which spots are corrected together.

const (
	// crowded is the mean number of windows that cover a pixel of a spot's own window from which on it shares one.
	crowded = 16
	// packed is that number from which on halos become thin.
	packed = 20
	// leastSquare is the side of the smallest squares; each level doubles it.
	leastSquare = 64
	// leastPaint is the least number of pixels of paint in a window.
	leastPaint = 64
	// coarse is the side of the cells in which windows are counted.
	coarse = 16
)

// group is a set of spots that share a window.
type group struct {
	spots []int32
	// around is their bounding box, reach how far the window extends beyond it, area the number of their pixels.
	around box
	reach  int
	area   int
	// shared marks groups of crowded spots, which get less time each.
	shared bool
}

// reachOf returns how far the window of a spot of the given area extends beyond it, in pixels: as far as grain is taken
// from.
func reachOf(area, halo int) int {
	return halo + 5 + int(math.Ceil(2*math.Min(discRadius(area), 40)))
}

// discRadius returns the radius of a disc of the given area.
func discRadius(area int) float64 { return math.Sqrt(float64(area) / math.Pi) }

// share decides which spots share windows. Where spots are packed, halos become no wider than the spots are thick;
// where even these would cover nearly all paint, spots have no halo.
func (g *glareMap) share() {
	g.halos = make([]int32, len(g.spots))
	g.group = make([]int32, len(g.spots))
	lone := make([]group, len(g.spots))
	windows := newCounts(g.w, g.h)
	for i, s := range g.spots {
		area := int(g.areas[i])
		lone[i] = group{around: boxOf(s.Runs), reach: reachOf(area, g.halo), area: area}
		windows.add(lone[i].around.grown(lone[i].reach, g.w, g.h), 1)
		g.halos[i] = int32(g.halo)
	}
	windows.integrate(true)
	var shared []int32
	joins := make([]bool, len(lone))
	for i := range lone {
		b := lone[i].around.grown(lone[i].reach, g.w, g.h)
		sum, cells := windows.sum(b)
		if sum >= crowded*cells {
			shared, joins[i] = append(shared, int32(i)), true
		}
		if sum >= packed*cells {
			g.thinHalo(i)
		}
	}
	// A window without paint would have to grow until it finds some: such spots share windows, too.
	holes := g.holes()
	for i := range lone {
		switch {
		case joins[i] && g.roomy(&lone[i], holes):
		case joins[i]:
			g.halos[i] = 0
		case g.starved(&lone[i], holes):
			g.halos[i] = 0
			shared, joins[i] = append(shared, int32(i)), true
		}
	}
	holes = g.holes()
	g.groups = g.squares(shared, lone, holes)
	for k, p := range g.groups {
		for _, i := range p.spots {
			g.group[i] = int32(k)
		}
	}
	single := make([]int32, len(lone))
	for i := range lone {
		if !joins[i] {
			g.group[i], single[i] = int32(len(g.groups)), int32(i)
			lone[i].spots = single[i : i+1 : i+1]
			g.groups = append(g.groups, lone[i])
		}
	}
}

// thinHalo limits the halo of a spot to the thickness of the spot.
func (g *glareMap) thinHalo(spot int) {
	thick := 2 * int(g.areas[spot]) / perimeter(g.spots[spot].Runs)
	g.halos[spot] = min(g.halos[spot], int32(thick))
}

// perimeter counts the pixel edges between a spot and its surroundings.
func perimeter(runs []processing.Run) int {
	n := 0
	above := 0
	for i, r := range runs {
		n += 2 + 2*(r.X1-r.X0)
		for above < i && (runs[above].Y < r.Y-1 || runs[above].Y == r.Y-1 && runs[above].X1 <= r.X0) {
			above++
		}
		for k := above; k < i && runs[k].Y == r.Y-1 && runs[k].X0 < r.X1; k++ {
			n -= 2 * (min(runs[k].X1, r.X1) - max(runs[k].X0, r.X0))
		}
	}
	return n
}

// squares groups the spots by the grid square that holds their centre. The square is at least as large as the spot with
// its surroundings; a larger one is used where it has a group anyway. A group without enough paint joins the next
// larger square.
func (g *glareMap) squares(shared []int32, lone []group, holes *counts) []group {
	top := bits.Len(uint(max(g.w, g.h)))
	at := func(spot int32, level int) square {
		l := &lone[spot]
		return square{level, (l.around.x0 + l.around.x1) / 2 >> level, (l.around.y0 + l.around.y1) / 2 >> level}
	}
	levels := make([]int8, len(shared))
	taken := make([]map[square]bool, top+1)
	for n, i := range shared {
		need := max(lone[i].around.width(), lone[i].around.height(), 2*lone[i].reach, leastSquare)
		levels[n] = int8(min(bits.Len(uint(need-1)), top))
		k := int(levels[n])
		if taken[k] == nil {
			taken[k] = map[square]bool{}
		}
		taken[k][at(i, k)] = true
	}
	found := make([][]int32, top+1)
	for n, i := range shared {
		k := int(levels[n])
		for up := k + 1; up <= top; up++ {
			if taken[up][at(i, up)] {
				k = up
			}
		}
		found[k] = append(found[k], i)
	}
	var out []group
	for k, list := range found {
		slices.SortFunc(list, func(a, b int32) int {
			p, q := at(a, k), at(b, k)
			return cmp.Or(cmp.Compare(p.y, q.y), cmp.Compare(p.x, q.x), cmp.Compare(a, b))
		})
		for len(list) > 0 {
			n := 1
			p := lone[list[0]]
			for n < len(list) && at(list[n], k) == at(list[0], k) {
				p.join(&lone[list[n]])
				n++
			}
			p.spots, list = list[:n:n], list[n:]
			p.shared = true
			if k < top && g.starved(&p, holes) {
				found[k+1] = append(found[k+1], p.spots...)
				continue
			}
			out = append(out, p)
		}
	}
	return out
}

// square is a square of the grid, with a side of 2^level pixels.
type square struct{ level, x, y int }

// join adds the spots of another group.
func (p *group) join(q *group) {
	p.around = p.around.union(q.around)
	p.reach, p.area = max(p.reach, q.reach), p.area+q.area
}

// holes returns an upper bound of the number of pixels in each cell that are not paint.
func (g *glareMap) holes() *counts {
	c := newCounts(g.w, g.h)
	for _, s := range g.spans {
		h := int(g.halos[s.Label])
		for x := int(s.X0); x < int(s.X1); {
			next := min((x/coarse+1)*coarse, int(s.X1))
			c.addAt(x, int(s.Y), int64(next-x)*int64(2*h+1))
			x = next
		}
		c.addAt(int(s.X0), int(s.Y), int64(h*(2*h+1)))
		c.addAt(int(s.X1)-1, int(s.Y), int64(h*(2*h+1)))
	}
	c.integrate(false)
	return c
}

// starved reports whether the window of a group has hardly any paint, or halos cover nearly all of it.
func (g *glareMap) starved(p *group, holes *counts) bool {
	if g.roomy(p, holes) {
		return false
	}
	b := p.around.grown(p.reach, g.w, g.h)
	own, depth := g.owners(nil, nil, b)
	paint, halo := 0, 0
	for i, o := range own {
		switch {
		case o == free:
			paint++
		case depth[i] > 0:
			halo++
		}
	}
	return paint < max(leastPaint, halo/8)
}

// roomy reports whether at least an eighth of the window of a group is certainly paint.
func (g *glareMap) roomy(p *group, holes *counts) bool {
	b := p.around.grown(p.reach, g.w, g.h)
	// Cells beyond the window hold spots whose halos may reach into it.
	taken, _ := holes.sum(b.grown(g.halo, g.w, g.h))
	return int64(b.area())-taken >= max(leastPaint, int64(b.area())/8)
}

// counts holds a number for each cell of coarse × coarse pixels, and their sums over rectangles once integrated.
type counts struct {
	w, h int
	sums []int64
}

func newCounts(w, h int) *counts {
	c := &counts{w: (w + coarse - 1) / coarse, h: (h + coarse - 1) / coarse}
	// One more row and column: behind the last cell for differences, before the first for sums.
	c.sums = make([]int64, (c.w+1)*(c.h+1))
	return c
}

// cells returns the cells that b touches.
func (c *counts) cells(b box) box {
	return box{b.x0 / coarse, b.y0 / coarse, (b.x1-1)/coarse + 1, (b.y1-1)/coarse + 1}
}

// add adds v to every cell that b touches, as differences for integrate.
func (c *counts) add(b box, v int64) {
	b = c.cells(b)
	c.sums[b.y0*(c.w+1)+b.x0] += v
	c.sums[b.y0*(c.w+1)+b.x1] -= v
	c.sums[b.y1*(c.w+1)+b.x0] -= v
	c.sums[b.y1*(c.w+1)+b.x1] += v
}

// addAt adds v to the cell of a pixel.
func (c *counts) addAt(x, y int, v int64) { c.sums[y/coarse*(c.w+1)+x/coarse] += v }

// integrate turns what add (as differences) or at (as values) stored into sums.
func (c *counts) integrate(differences bool) {
	if differences {
		c.accumulate()
	}
	c.accumulate()
	// Turn inclusive sums into those of the cells above and to the left.
	stride := c.w + 1
	for y := c.h; y >= 0; y-- {
		for x := c.w; x >= 0; x-- {
			v := int64(0)
			if x > 0 && y > 0 {
				v = c.sums[(y-1)*stride+x-1]
			}
			c.sums[y*stride+x] = v
		}
	}
}

func (c *counts) accumulate() {
	stride := c.w + 1
	for y := range c.h + 1 {
		row := c.sums[y*stride : (y+1)*stride]
		for x := 1; x < stride; x++ {
			row[x] += row[x-1]
		}
		if y > 0 {
			for x, v := range c.sums[(y-1)*stride : y*stride] {
				row[x] += v
			}
		}
	}
}

// sum returns the sum over the cells that b touches, and their number.
func (c *counts) sum(b box) (sum, cells int64) {
	b = c.cells(b)
	stride := c.w + 1
	at := func(x, y int) int64 { return c.sums[y*stride+x] }
	return at(b.x1, b.y1) - at(b.x0, b.y1) - at(b.x1, b.y0) + at(b.x0, b.y0), int64(b.area())
}
