package processing

import (
	"context"
	"math"
	"runtime"
	"sync"
)

// growth says how far a component may reach beyond its core. With a core of area A and r = √(A/π), in pixels:
//
//   - near = base + slope·r is always allowed;
//   - far = farBase + farSlope·r is allowed where the rings of growth about the core close before it: the first ring, a
//     pixel wide, of which less than the share closed can grow ends the component. A glint fades out on all sides; where
//     rings stay open, bright paint touches it.
//
// Cores of more than maxCore pixels do not grow: no glint is that large, and their discs would cost too much.
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

// growStrip is the number of rows that one worker holds distances for.
const growStrip = 64

// offset is a pixel of a disc, relative to its middle.
type offset struct{ dx, dy, d2 int32 }

// pixel is a pixel that a core reaches, and how far it is from the nearest pixel of that core.
type pixel struct {
	y, x  int32
	label uint32
	d2    int32
}

// grow extends labelled cores over pixels of cls with the bit ClassGrow that lie within reach of a core, each given to
// its nearest one (the lower label where two are equally near), and keeps what is 8-connected to a core. It returns the
// labelled spans of cores and growth in reading order.
func grow(ctx context.Context, cls []uint8, w, h int, cores []span, areas []int, g growth) ([]span, error) {
	discs := makeDiscs(g.limit)
	byRow := make([]int, h+1) // first span of each row
	for i, y := 0, 0; y <= h; y++ {
		for i < len(cores) && int(cores[i].y) < y {
			i++
		}
		byRow[y] = i
	}
	strips := (h + growStrip - 1) / growStrip
	reached := make([][]pixel, strips)
	next := make(chan int, strips)
	for i := range strips {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), strips) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			best := make([]uint64, growStrip*w)
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				y0 := i * growStrip
				reached[i] = reachRows(cls, w, h, y0, min(y0+growStrip, h), cores, byRow, areas, g, discs, best)
			}
		}()
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limits := g.close(reached, areas)
	var spans []span
	for _, strip := range reached {
		for _, p := range strip {
			if p.d2 > limits[p.label] {
				continue
			}
			if k := len(spans) - 1; k >= 0 && spans[k].y == p.y && spans[k].x1 == p.x && spans[k].label == p.label {
				spans[k].x1++
			} else {
				spans = append(spans, span{p.y, p.x, p.x + 1, p.label})
			}
		}
	}
	return keepRooted(spans, cores), nil
}

// close returns the largest distance² that each label may keep.
func (g growth) close(reached [][]pixel, areas []int) []int32 {
	rings := make([]int, len(areas)+1) // first ring of each label
	for i, a := range areas {
		rings[i+1] = rings[i] + int(g.far(a)) + 1
	}
	count := make([]int32, rings[len(areas)])
	for _, strip := range reached {
		for _, p := range strip {
			// Ring k holds the distances above k−1 and up to k; ring 0 the core itself.
			k := int(math.Ceil(math.Sqrt(float64(p.d2))))
			if at := rings[p.label] + k; at < rings[p.label+1] {
				count[at]++
			}
		}
	}
	limits := make([]int32, len(areas))
	for i, a := range areas {
		near := g.near(a)
		limits[i] = int32(near * near)
		ring := count[rings[i]:rings[i+1]]
		r := math.Sqrt(float64(a) / math.Pi)
		for k := int(near) + 1; k < len(ring); k++ {
			if full := 2 * math.Pi * (r + float64(k) - 0.5); float64(ring[k]) < g.closed*full {
				limits[i] = max(limits[i], int32((k-1)*(k-1)))
				break
			}
		}
	}
	return limits
}

// reachRows finds the nearest core of each pixel of rows y0…y1−1. best holds distance² « 32 | label + 1, 0 where there is
// none.
func reachRows(cls []uint8, w, h, y0, y1 int, cores []span, byRow, areas []int, g growth, discs [][]offset, best []uint64) []pixel {
	best = best[:(y1-y0)*w]
	clear(best)
	pad := int(g.limit) + 1
	for _, s := range cores[byRow[max(y0-pad, 0)]:byRow[min(y1+pad, h)]] {
		limit := g.far(areas[s.label])
		limit2 := int32(limit * limit)
		disc := discs[int(limit)]
		y := int(s.y)
		if y >= y0 && y < y1 {
			row := best[(y-y0)*w:]
			for x := s.x0; x < s.x1; x++ {
				row[x] = uint64(s.label) + 1
			}
		}
		for x := int(s.x0); x < int(s.x1); x++ {
			if x > int(s.x0) && x < int(s.x1)-1 && y > 0 && y < h-1 &&
				cls[(y-1)*w+x]&cls[(y+1)*w+x]&ClassCore != 0 {
				continue // an inner pixel: some pixel of the core's edge is nearer to everything outside
			}
			for _, o := range disc {
				if o.d2 > limit2 {
					break
				}
				px, py := x+int(o.dx), y+int(o.dy)
				if py < y0 || py >= y1 || px < 0 || px >= w || cls[py*w+px]&ClassGrow == 0 {
					continue
				}
				key := uint64(o.d2)<<32 | uint64(s.label) + 1
				if b := &best[(py-y0)*w+px]; *b == 0 || key < *b {
					*b = key
				}
			}
		}
	}
	var reached []pixel
	for y := y0; y < y1; y++ {
		for x, key := range best[(y-y0)*w : (y-y0)*w+w] {
			if key != 0 {
				reached = append(reached, pixel{int32(y), int32(x), uint32(key) - 1, int32(key >> 32)})
			}
		}
	}
	return reached
}

// keepRooted drops the spans whose connected component holds no pixel of a core. Both lists are in reading order.
func keepRooted(spans, cores []span) []span {
	set := make(disjoint, len(spans))
	joinRows(spans, set, eightConnected)
	rooted := make([]bool, len(spans))
	i := 0
	for _, c := range cores {
		for spans[i].y < c.y || spans[i].y == c.y && spans[i].x1 <= c.x0 {
			i++
		}
		rooted[set.find(uint32(i))] = true
	}
	kept := spans[:0]
	for j, s := range spans {
		// The root is the first span of its component, so it is still in place when it is asked.
		if rooted[set.find(uint32(j))] {
			kept = append(kept, s)
		}
	}
	return kept
}

// makeDiscs returns for each whole radius r the offsets within r+1 of the middle, nearest first.
func makeDiscs(limit float64) [][]offset {
	discs := make([][]offset, int(limit)+1)
	for r := range discs {
		reach := int32(r + 1)
		byDistance := make([][]offset, reach*reach+1)
		for dy := -reach; dy <= reach; dy++ {
			for dx := -reach; dx <= reach; dx++ {
				if d2 := dx*dx + dy*dy; d2 > 0 && d2 <= reach*reach {
					byDistance[d2] = append(byDistance[d2], offset{dx, dy, d2})
				}
			}
		}
		for _, ring := range byDistance {
			discs[r] = append(discs[r], ring...)
		}
	}
	return discs
}
