package correct

import (
	"cmp"
	"slices"
	"sort"

	"blik/internal/span"
	"blik/processing/internal/arena"

	"blik/processing"
)

// box is a rectangle of pixels, x1 and y1 excluded.
type box struct{ x0, y0, x1, y1 int }

func (b box) width() int  { return b.x1 - b.x0 }
func (b box) height() int { return b.y1 - b.y0 }
func (b box) area() int   { return b.width() * b.height() }

// grown returns b with a margin of r pixels, inside a picture of w × h.
func (b box) grown(r, w, h int) box {
	return box{max(b.x0-r, 0), max(b.y0-r, 0), min(b.x1+r, w), min(b.y1+r, h)}
}

// union returns the smallest box around b and o.
func (b box) union(o box) box {
	return box{min(b.x0, o.x0), min(b.y0, o.y0), max(b.x1, o.x1), max(b.y1, o.y1)}
}

func boxOf(runs []processing.Run) box {
	b := box{runs[0].X0, runs[0].Y, runs[0].X1, runs[len(runs)-1].Y + 1}
	for _, r := range runs {
		b.x0, b.x1 = min(b.x0, r.X0), max(b.x1, r.X1)
	}
	return b
}

// glareMap finds the spot that each pixel of a window belongs to. It stores runs, not pixels.
type glareMap struct {
	w, h  int
	halo  int
	spots []processing.Spot
	areas []int32
	spans []processing.Span // of all spots in reading order; label is the index of the spot
	rows  []int32
	// rank orders the spots for pixels that are equally near to several: the larger spot first. Transposing the picture
	// does not change it, unless two spots are mirror images of each other.
	rank   []int32
	byRank []int32
	// groups are the sets of spots that share windows, group is that of each spot, halos the width of each spot's halo
	// (nil: halo for all). See share.
	groups []group
	group  []int32
	halos  []int32
}

func newGlareMap(m *processing.Mask, halo int) *glareMap {
	g := &glareMap{w: m.Width, h: m.Height, halo: halo}
	g.spans = span.Append(nil, m.Pix, m.Width, 0, m.Height, processing.MaskLevel)
	g.spots = processing.SpotsOf(g.spans, span.Connect(g.spans, span.Eight))
	g.rows = make([]int32, m.Height+1)
	for _, s := range g.spans {
		g.rows[s.Y+1]++
	}
	for y := range m.Height {
		g.rows[y+1] += g.rows[y]
	}
	type key struct{ area, sum, high, low int }
	keys := make([]key, len(g.spots))
	g.areas = make([]int32, len(g.spots))
	for i := range g.spots {
		b := boxOf(g.spots[i].Runs)
		x, y := b.x0+b.x1, b.y0+b.y1
		g.areas[i] = int32(processing.Pixels(g.spots[i].Runs))
		keys[i] = key{-int(g.areas[i]), x + y, max(x, y), min(b.width(), b.height())}
	}
	g.byRank = make([]int32, len(g.spots))
	for i := range g.byRank {
		g.byRank[i] = int32(i)
	}
	slices.SortFunc(g.byRank, func(a, b int32) int {
		p, q := keys[a], keys[b]
		return cmp.Or(cmp.Compare(p.area, q.area), cmp.Compare(p.sum, q.sum), cmp.Compare(p.high, q.high),
			cmp.Compare(p.low, q.low), cmp.Compare(a, b))
	})
	g.rank = make([]int32, len(g.spots))
	for r, i := range g.byRank {
		g.rank[i] = int32(r)
	}
	return g
}

// withHalo returns a copy with another width of the halo; share has not been called on it.
func (g *glareMap) withHalo(halo int) *glareMap {
	other := *g
	other.halo = halo
	return &other
}

// find returns the index of the spot that has exactly the given runs, or −1.
func (g *glareMap) find(runs []processing.Run) int {
	if len(runs) == 0 || runs[0].Y < 0 || runs[0].Y >= g.h {
		return -1
	}
	row := g.spans[g.rows[runs[0].Y]:g.rows[runs[0].Y+1]]
	i := sort.Search(len(row), func(i int) bool { return int(row[i].X1) > runs[0].X0 })
	if i == len(row) || !slices.Equal(g.spots[row[i].Label].Runs, runs) {
		return -1
	}
	return int(row[i].Label)
}

// free marks pixels that belong to no spot in the result of owners.
const free = -1

// owners returns, for each pixel of window b in reading order, the index of the nearest spot if that spot's halo
// reaches the pixel, else free, and the squared distance to the spot's nearest pixel: 0 on the spot itself, and where
// no spot reaches. Spots and pixels outside the window count as well. Both lists lie in memory.
func (g *glareMap) owners(t, memory *arena.Arena, b box) (own, depth []int32) {
	const none = int64(1) << 62
	// best holds distance² << 32 | rank of the nearest spot in the pixel's own column, for all columns from which a
	// halo may reach the window.
	wide := box{b.x0 - g.halo, b.y0, b.x1 + g.halo, b.y1}.grown(0, g.w, g.h)
	w := wide.width()
	best := arena.Take[int64](t, w*b.height())
	for i := range best {
		best[i] = none
	}
	// In each row, only columns from … to−1 and those up to a halo beside them are within reach of a spot.
	type columns struct{ from, to int }
	reach := make([]columns, b.height())
	for i := range reach {
		reach[i] = columns{wide.x1, wide.x0}
	}
	for y := max(b.y0-g.halo, 0); y < min(b.y1+g.halo, g.h); y++ {
		row := g.spans[g.rows[y]:g.rows[y+1]]
		first := sort.Search(len(row), func(i int) bool { return int(row[i].X1) > wide.x0 })
		for _, s := range row[first:] {
			if int(s.X0) >= wide.x1 {
				break
			}
			x0, x1 := max(int(s.X0), wide.x0), min(int(s.X1), wide.x1)
			rank := int64(g.rank[s.Label])
			for v := max(y-g.halo, b.y0); v < min(y+g.halo+1, b.y1); v++ {
				k := int64(v-y)*int64(v-y)<<32 | rank
				r := &reach[v-b.y0]
				r.from, r.to = min(r.from, x0), max(r.to, x1)
				line := best[(v-b.y0)*w+x0-wide.x0 : (v-b.y0)*w+x1-wide.x0]
				for i := range line {
					line[i] = min(line[i], k)
				}
			}
		}
	}
	limit := int64(g.halo*g.halo+1) << 32
	own, depth = arena.Take[int32](memory, b.area()), arena.Zero[int32](memory, b.area())
	for i := range own {
		own[i] = free
	}
	for y := range b.height() {
		line := best[y*w : (y+1)*w]
		for x := max(b.x0, reach[y].from-g.halo); x < min(b.x1, reach[y].to+g.halo); x++ {
			k := none
			for v := max(x-g.halo, wide.x0); v < min(x+g.halo+1, wide.x1); v++ {
				if c := line[v-wide.x0]; c != none {
					k = min(k, c+int64(x-v)*int64(x-v)<<32)
				}
			}
			if k < limit {
				i := y*b.width() + x - b.x0
				if o, d := g.byRank[uint32(k)], int32(k>>32); g.halos == nil || d <= g.halos[o]*g.halos[o] {
					own[i], depth[i] = o, d
				}
			}
		}
	}
	return own, depth
}
