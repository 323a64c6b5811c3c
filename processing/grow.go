package processing

import (
	"context"
	"math"
	"slices"
)

// growth says how far a component may reach beyond its core. With a core of area A and r = √(A/π), in pixels:
//
//   - near = base + slope·r is always allowed;
//   - far = farBase + farSlope·r is allowed where the rings of growth about the core close before it: the first ring, a
//     pixel wide, of which less than the share closed can grow ends the component. A glint fades out on all sides; where
//     rings stay open, bright paint touches it.
//
// Cores of more than maxCore pixels do not grow: no glint is that large.
type growth struct {
	base, slope, farBase, farSlope, limit float64
	closed                                float64
	maxCore                               int
}

func (g growth) near(area int) float64 { return g.reach(area, g.base, g.slope) }
func (g growth) far(area int) float64 {
	return max(g.near(area), g.reach(area, g.farBase, g.farSlope))
}

func (g growth) reach(area int, base, slope float64) float64 {
	if area > g.maxCore {
		return 0
	}
	return math.Min(base+slope*math.Sqrt(float64(area)/math.Pi), g.limit)
}

// claim is a pixel that a core reaches, and the pixel of that core it was reached from.
type claim struct {
	at, from uint32
	label    uint32
}

// grower extends cores; it keeps its memory from one call to the next.
type grower struct {
	w, h int
	// owner holds label + 1 of the component that a pixel belongs to, 0 where there is none; all 0 between calls.
	owner sparse
	// queue holds the claims still to be settled by their distance².
	queue [][]claim
	// settled holds the claims that were, those of distance² d from ends[d−1] to ends[d].
	settled []claim
	ends    []int
}

func newGrower(w, h int) *grower { return &grower{w: w, h: h, owner: newSparse(w, h)} }

// sparse is a raster of numbers of which few are not 0, in tiles of which only those with such a number take memory.
type sparse struct {
	w, h, across int
	tiles        []*sparseTile
	used         []*sparseTile
}

// The side of a tile is a power of two: a glint and its growth touch some four of them.
const (
	sparseBits = 4
	sparseSide = 1 << sparseBits
)

type sparseTile [sparseSide * sparseSide]uint32

func newSparse(w, h int) sparse {
	across := (w + sparseSide - 1) / sparseSide
	return sparse{w, h, across, make([]*sparseTile, across*((h+sparseSide-1)/sparseSide)), nil}
}

func (s *sparse) at(x, y int) uint32 {
	t := s.tiles[y>>sparseBits*s.across+x>>sparseBits]
	if t == nil {
		return 0
	}
	return t[y%sparseSide*sparseSide+x%sparseSide]
}

func (s *sparse) set(x, y int, v uint32) {
	t := &s.tiles[y>>sparseBits*s.across+x>>sparseBits]
	if *t == nil {
		*t = new(sparseTile)
		s.used = append(s.used, *t)
	}
	(*t)[y%sparseSide*sparseSide+x%sparseSide] = v
}

// clear makes every number 0 and keeps the tiles, since the next ones lie where these did.
func (s *sparse) clear() {
	for _, t := range s.used {
		clear(t[:])
	}
}

// spans returns the runs of equal numbers that are not 0, less 1, in reading order.
func (s *sparse) spans() []span {
	return inBands(s.h, func(y0, y1 int) []span {
		var spans []span
		for y := y0; y < y1; y++ {
			row := s.tiles[y>>sparseBits*s.across:][:s.across]
			from := y % sparseSide * sparseSide
			var run span // label holds the number itself while the run may go on; 0: none
			end := func() {
				if run.label != 0 {
					run.label--
					spans = append(spans, run)
				}
				run.label = 0
			}
			for i, t := range row {
				if t == nil {
					end()
					continue
				}
				for j, v := range t[from : from+sparseSide] {
					if v == run.label {
						run.x1++ // of no meaning where there is no run
						continue
					}
					end()
					x := int32(i*sparseSide + j)
					run = span{int32(y), x, x + 1, v}
				}
			}
			end()
		}
		return spans
	})
}

// grow extends labelled cores over pixels of cls with the bit ClassGrow, from pixel to pixel, nearest to a core first,
// as far as growth g allows, and returns the labelled spans of cores and growth in reading order. A pixel goes to the
// core that reaches it at the least Euclidean distance; distances propagate from neighbour to neighbour (Danielsson
// 1980), which may miss the nearest pixel of a core by a fraction of a pixel. Everything is decided in one fixed order.
func (r *grower) grow(ctx context.Context, cls []uint8, cores []span, areas []int, g growth) ([]span, error) {
	limits := make([]int32, len(areas))
	farthest := int32(0)
	for i, a := range areas {
		far := g.far(a)
		limits[i] = int32(far * far)
		farthest = max(farthest, limits[i])
	}
	r.queue = slices.Grow(r.queue[:0], int(farthest)+1)[:farthest+1]
	for i := range r.queue {
		r.queue[i] = r.queue[i][:0]
	}
	r.settled, r.ends = r.settled[:0], r.ends[:0]
	defer r.owner.clear()
	for _, s := range cores {
		for x := int(s.x0); x < int(s.x1); x++ {
			r.owner.set(x, int(s.y), s.label+1)
		}
	}
	for _, s := range cores {
		for at := uint32(int(s.y)*r.w + int(s.x0)); at < uint32(int(s.y)*r.w+int(s.x1)); at++ {
			r.spread(cls, claim{at, at, s.label}, 0, limits[s.label])
		}
	}
	for d2 := range r.queue {
		if d2%16 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for i := 0; i < len(r.queue[d2]); i++ {
			c := r.queue[d2][i]
			x, y := int(c.at)%r.w, int(c.at)/r.w
			if r.owner.at(x, y) != 0 {
				continue
			}
			r.owner.set(x, y, c.label+1)
			r.settled = append(r.settled, c)
			r.spread(cls, c, int32(d2), limits[c.label])
		}
		r.ends = append(r.ends, len(r.settled))
	}
	keep := r.close(areas, g)
	start := 0
	for d2, end := range r.ends {
		for _, c := range r.settled[start:end] {
			if int32(d2) > keep[c.label] {
				r.owner.set(int(c.at)%r.w, int(c.at)/r.w, 0)
			}
		}
		start = end
	}
	return r.owner.spans(), nil
}

// spread queues the neighbours of a pixel settled at distance² d2 that may grow and lie within the limit, a distance²
// too. Where growth turns back towards its core, it keeps the distance it has had: along a path from the core distances
// never fall, so that a component cut off at a distance stays connected.
func (r *grower) spread(cls []uint8, c claim, d2, limit int32) {
	w := uint32(r.w)
	x, y := int32(c.at%w), int32(c.at/w)
	fx, fy := int32(c.from%w), int32(c.from/w)
	for ny := max(y-1, 0); ny <= min(y+1, int32(r.h)-1); ny++ {
		for nx := max(x-1, 0); nx <= min(x+1, int32(r.w)-1); nx++ {
			n := uint32(ny)*w + uint32(nx)
			if cls[n]&ClassGrow == 0 || r.owner.at(int(nx), int(ny)) != 0 {
				continue
			}
			if next := max(d2, (nx-fx)*(nx-fx)+(ny-fy)*(ny-fy)); next <= limit {
				r.queue[next] = append(r.queue[next], claim{n, c.from, c.label})
			}
		}
	}
}

// close returns the largest distance² that each label may keep.
func (r *grower) close(areas []int, g growth) []int32 {
	rings := make([]int, len(areas)+1) // first ring of each label
	for i, a := range areas {
		rings[i+1] = rings[i] + int(g.far(a)) + 1
	}
	count := make([]int32, rings[len(areas)])
	start := 0
	for d2, end := range r.ends {
		// Ring k holds the distances above k−1 and up to k; ring 0 is the core itself.
		k := int(math.Ceil(math.Sqrt(float64(d2))))
		for _, c := range r.settled[start:end] {
			if at := rings[c.label] + k; at < rings[c.label+1] {
				count[at]++
			}
		}
		start = end
	}
	keep := make([]int32, len(areas))
	for i, a := range areas {
		near := g.near(a)
		keep[i] = int32(near * near)
		ring := count[rings[i]:rings[i+1]]
		radius := math.Sqrt(float64(a) / math.Pi)
		for k := int(near) + 1; k < len(ring); k++ {
			if full := 2 * math.Pi * (radius + float64(k) - 0.5); float64(ring[k]) < g.closed*full {
				keep[i] = max(keep[i], int32((k-1)*(k-1)))
				break
			}
		}
	}
	return keep
}
