package correct

import (
	"blik/processing/internal/arena"
	"blik/processing/internal/differences"
	"blik/processing/internal/relax"

	"blik/processing"
)

// Paint varies across its strokes and little along them. Unknown pixels are therefore filled along the directions in
// which the paint nearby changes least: by a membrane whose threads are stiff where differences are small.

// strokeReach is the radius of the square over which differences of paint are averaged. In the middle of a deep hole
// such a square holds no paint to show a direction, and edges would end there. So squares grow until they reach
// strokeRim pixels of paint from the middle of holes up to deepLight deep.
const strokeReach, strokeRim = 5, 3

// reachOfStrokes returns the radius of the squares of this window.
func (s *site) reachOfStrokes() int {
	return max(strokeReach, min(s.thick, deepLight)+strokeRim)
}

// strokes holds, for each unknown pixel of a window, the weights of its neighbours along four directions: horizontal,
// vertical, falling and rising diagonal. Each weight counts for two neighbours; twice their sum is 1.
type strokes [][4]float32

// strokes measures the mean squared difference of neighbouring paint in each direction, over the square around each
// unknown pixel. The weights are its inverse fourth powers, so that an even stroke of paint dominates. The sums are of
// integers, so that they do not depend on the order. Known pixels of out are left as they are.
func (s *site) strokes(t *tools, out strokes) {
	w, h := s.width(), s.height()
	hole := s.hole()
	if hole.area() == 0 {
		return
	}
	// Only the squares around the hole are read, and a pixel more for the pairs. The rows of differences have another
	// pixel at either end, and are 0 outside the window.
	reach := s.reachOfStrokes()
	margin := reach + 1
	b := hole.grown(margin, w, h)
	left := hole.x0 - margin
	bw := hole.width() + 2*margin
	known := arena.Zero[float32](&t.scratch, b.height()*w)
	for i, v := range s.state[b.y0*w : b.y1*w] {
		if v == processing.StateKnown {
			known[i] = 1
		}
	}
	total, ring := arena.Take[int64](&t.scratch, bw), arena.Take[int64](&t.scratch, (2*reach+1)*bw)
	rows := arena.Take[int64](&t.scratch, 2*(bw+2))
	for d, step := range [4][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 1}} {
		clear(total)
		clear(ring)
		clear(rows)
		this, last := rows[:bw+2], rows[bw+2:]
		// Both pixels of a pair lie in the window.
		x0, x1 := max(b.x0, -step[0]), min(b.x1, w-step[0])
		for y := hole.y0 - margin; y < hole.y1+reach; y++ {
			this, last = last, this
			clear(this)
			if y >= 0 && y+step[1] < h && x0 < x1 {
				from, to := (y-b.y0)*w, (y+step[1]-b.y0)*w+step[0]
				differences.Between(t.level, this[x0-left+1:x1-left+1], s.pix, y*w+x0, step[1]*w+step[0],
					known[from+x0:], known[to+x0:])
			}
			if y < hole.y0-reach {
				continue
			}
			// A pixel counts the pairs that begin at it and those that end at it.
			ends := last
			if step[1] == 0 {
				ends = this
			}
			differences.Slide(t.level, total, ring[(y-hole.y0+reach)%(2*reach+1)*bw:][:bw], this[1:],
				ends[1-step[0]:])
			if at := y - reach; at >= hole.y0 {
				s.weighRow(out, d, total, hole, at)
			}
		}
	}
	for y := hole.y0; y < hole.y1; y++ {
		for i := y*w + hole.x0; i < y*w+hole.x1; i++ {
			if s.state[i] == processing.StateKnown {
				continue
			}
			o := &out[i]
			sum := 2 * ((o[0] + o[1]) + (o[2] + o[3]))
			for d := range o {
				o[d] /= sum
			}
		}
	}
}

// weighRow writes the weights of direction d, not yet normalised, for row y of the hole. total holds the sums over the
// rows of the square and begins reach + 1 pixels left of the hole.
func (s *site) weighRow(out strokes, d int, total []int64, hole box, y int) {
	side := 2*s.reachOfStrokes() + 1
	var sum int64
	for _, v := range total[1:side] {
		sum += v
	}
	least := float64(1e-5 * float64(len(s.pix)))
	at := y*s.width() + hole.x0
	row := out[at : at+hole.width()]
	for x, state := range s.state[at : at+hole.width()] {
		sum += total[x+side]
		if state != processing.StateKnown {
			mean := 1.0
			if n := sum / differences.Pair; n > 0 {
				mean = float64(float64(sum%differences.Pair)/float64(n)/(1<<24)) + least
			}
			mean *= mean
			row[x][d] = float32(1 / (mean * mean))
		}
		sum -= total[x+1]
	}
}

// hole returns the bounding box of the unknown pixels of the window; it is empty if there are none.
func (s *site) hole() (b box) {
	b.x0, b.y0, b.x1, b.y1 = relax.Bounds(s.state, s.width(), s.height())
	return b
}

// gap is an unknown pixel with the offsets of its neighbours; beyond the border of the window they are 0, the pixel
// itself.
type gap struct{ i, left, right, up, down int32 }

// gaps lists the unknown pixels: those with even x + y, then the others.
func (s *site) gaps() [2][]gap {
	w, h := s.width(), s.height()
	var list [2][]gap
	for y := range h {
		for x := range w {
			if s.state[y*w+x] == processing.StateKnown {
				continue
			}
			g := gap{i: int32(y*w + x)}
			if x > 0 {
				g.left = -1
			}
			if x < w-1 {
				g.right = 1
			}
			if y > 0 {
				g.up = int32(-w)
			}
			if y < h-1 {
				g.down = int32(w)
			}
			list[(x+y)&1] = append(list[(x+y)&1], g)
		}
	}
	return list
}

// mean returns the mean of the neighbours, weighted along the strokes.
func (g *gap) mean(p []float32, q *[4]float32) float32 {
	i := g.i
	straight := float32(q[0]*(p[i+g.left]+p[i+g.right])) + float32(q[1]*(p[i+g.up]+p[i+g.down]))
	return straight + (float32(q[2]*(p[i+g.left+g.up]+p[i+g.right+g.down])) +
		float32(q[3]*(p[i+g.right+g.up]+p[i+g.left+g.down])))
}

// continueStrokes relaxes the harmonic guess of the paint along the strokes.
func (v *lightSite) continueStrokes(t *tools) {
	t.grid.Reset(t.level, v.state, v.width(), v.height(), true)
	t.grid.Continue(v.guess, v.along, v.sweeps(20, 1))
}

// refine continues Separate from its result, with the mean along the strokes instead of that of the four nearest
// neighbours; the formulas are the same.
func (v *lightSite) refine(t *tools) {
	ch := len(v.pix)
	if ch == 3 {
		t.grid.Reset(t.level, v.state, v.width(), v.height(), true)
		t.grid.Refine([3][]float32(v.pix), v.light, &relax.Veil{
			Seen: [3][]float32(v.seen), Expected: v.expected, State: v.state,
		}, v.along, &v.m)
		return
	}
	list := v.gaps()
	next := make([][5]float32, max(len(list[0]), len(list[1])))
	for range v.m.Sweeps {
		for _, part := range list {
			for n := range part {
				v.separatePixel(&part[n], &next[n])
			}
			for n := range part {
				i := part[n].i
				for k := range ch {
					p := v.pix[k]
					p[i] += float32(relax.StrokeStep * (next[n][k] - p[i]))
				}
				v.light[i] += float32(relax.StrokeStep * (next[n][4] - v.light[i]))
			}
		}
	}
}

// separatePixel computes the paint of one pixel, and in the last place its light: see Separate.
func (v *lightSite) separatePixel(g *gap, out *[5]float32) {
	i := g.i
	var guess, seen [4]float32
	for k, p := range v.pix {
		guess[k], seen[k] = g.mean(p, &v.along[i]), v.seen[k][i]
	}
	paint, light := guess, v.light[i]
	if v.state[i] != processing.StateClipped {
		paint, light = relax.Split(&v.m, len(v.pix), &guess, &seen, 0.25, v.expected[i], light)
	}
	copy(out[:], paint[:])
	out[4] = light
}
