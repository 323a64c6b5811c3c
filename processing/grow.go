package processing

import (
	"context"
	"math"
	"runtime"
	"sync"
)

// growth says how far a component may reach beyond its core: distance ≤ base + slope·√(core area/π), in pixels.
// Cores of more than maxCore pixels do not grow: no glint is that large, and their discs would cost too much.
type growth struct {
	base, slope, limit float64
	maxCore            int
}

func (g growth) reach(area int) float64 {
	if area > g.maxCore {
		return 0
	}
	return math.Min(g.base+g.slope*math.Sqrt(float64(area)/math.Pi), g.limit)
}

// growStrip is the number of rows that one worker holds distances for.
const growStrip = 64

// offset is a pixel of a disc, relative to its middle.
type offset struct{ dx, dy, d2 int32 }

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
	grown := make([][]span, strips)
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
				grown[i] = growRows(cls, w, h, y0, min(y0+growStrip, h), cores, byRow, areas, g, discs, best)
			}
		}()
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	total := 0
	for _, s := range grown {
		total += len(s)
	}
	all := make([]span, 0, total)
	for _, s := range grown {
		all = append(all, s...)
	}
	return keepRooted(all, cores), nil
}

// growRows finds the nearest core of each pixel of rows y0…y1−1. best holds distance² « 32 | label + 1, 0 where there is
// none.
func growRows(cls []uint8, w, h, y0, y1 int, cores []span, byRow, areas []int, g growth, discs [][]offset, best []uint64) []span {
	best = best[:(y1-y0)*w]
	clear(best)
	pad := int(g.limit) + 1
	for _, s := range cores[byRow[max(y0-pad, 0)]:byRow[min(y1+pad, h)]] {
		disc := discs[int(g.reach(areas[s.label]))]
		limit := g.reach(areas[s.label])
		limit2 := int32(limit * limit)
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
	var spans []span
	for y := y0; y < y1; y++ {
		row := best[(y-y0)*w : (y-y0)*w+w]
		for x := 0; x < w; x++ {
			if row[x] == 0 {
				continue
			}
			x0, label := x, uint32(row[x])
			for x+1 < w && uint32(row[x+1]) == label {
				x++
			}
			spans = append(spans, span{int32(y), int32(x0), int32(x + 1), label - 1})
		}
	}
	return spans
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
