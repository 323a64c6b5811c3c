package cpu

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"blik/internal/span"
	"blik/processing"
	"blik/processing/network"
)

// Glints runs the network on tiles.
func (b executor) Glints(ctx context.Context, op processing.Glints) error {
	d := op.Dst.(*plane)
	var kinds []uint8
	if op.Kinds != nil {
		kinds = op.Kinds.(*plane).data.U8
	}
	pic := networkPicture(op.Red, op.Green, op.Blue)
	engine := b.engine(op.Model)
	tiles := b.networkTiles(d.w, d.h, op.Model)
	tiles.progress = op.Progress
	return b.each(ctx, b.workers, func(w *worker, _ int) {
		var mine *network.Rect
		for !w.stopped() {
			var r network.Rect
			if mine, r = tiles.exchange(mine); mine == nil {
				return
			}
			engine.Run(d.data.U8, kinds, pic, r, op.Offset, &w.network, w.stopped, func(y int) bool {
				return tiles.more(mine, y)
			})
		}
	})
}

// networkPicture returns the picture that the network sees.
func networkPicture(red, green, blue processing.Plane) network.Picture {
	w, h := red.Size()
	return network.Picture{
		Red: red.(*plane).data.U8, Green: green.(*plane).data.U8, Blue: blue.(*plane).data.U8, Width: w, Height: h,
	}
}

// networkTiles are the parts of a picture that workers run the network on. A worker that finds none waiting takes the
// lower half of another one's.
type networkTiles struct {
	mu sync.Mutex
	// waiting are tiles that nobody has begun, running those that somebody works on, without the rows that are done.
	waiting, running []*network.Rect
	reach, grain     int
	// progress may be nil; begun of all pixels lie in rows that were begun.
	progress   func(done float64)
	begun, all int
}

// networkTiles divides a picture into at least one tile for every worker. Surroundings of a tile are computed by its
// neighbours, too, so that there are as few as possible, and they are as compact as possible.
func (b executor) networkTiles(w, h int, m *network.Model) *networkTiles {
	t := &networkTiles{reach: m.Reach(), grain: m.Grain(), all: w * h}
	side := func(whole, parts int) int {
		s := max((whole+parts-1)/parts, b.tiling.narrow)
		return (s + t.grain - 1) / t.grain * t.grain
	}
	tw, th, least := 0, 0, math.MaxInt
	for first, nx := (w+b.tiling.wide-1)/b.tiling.wide, 1; nx <= max(first, b.workers); nx++ {
		cw, ch := side(w, nx), side(h, (b.workers+nx-1)/nx)
		cost := ((w + cw - 1) / cw) * ((h + ch - 1) / ch) * (cw + 2*t.reach) * (ch + 2*t.reach)
		if nx >= first && cost < least {
			tw, th, least = cw, ch, cost
		}
	}
	for y := 0; y < h; y += th {
		for x := 0; x < w; x += tw {
			t.waiting = append(t.waiting, &network.Rect{X0: x, Y0: y, X1: min(w, x+tw), Y1: min(h, y+th)})
		}
	}
	return t
}

// exchange ends a worker's tile, which may be nil, and returns its next one, nil if there is none, and where it is. A
// tile is divided only if both parts remain large compared with their surroundings.
func (t *networkTiles) exchange(done *network.Rect) (next *network.Rect, whole network.Rect) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = slices.DeleteFunc(t.running, func(r *network.Rect) bool { return r == done })
	if len(t.waiting) > 0 {
		next, t.waiting = t.waiting[0], t.waiting[1:]
	} else {
		var largest *network.Rect
		for _, r := range t.running {
			if largest == nil || r.Y1-r.Y0 > largest.Y1-largest.Y0 {
				largest = r
			}
		}
		if largest == nil || largest.Y1-largest.Y0 < 4*t.reach {
			return nil, network.Rect{}
		}
		// The lower part has rows of surroundings to compute.
		middle := (largest.Y0 + largest.Y1 + t.reach) / 2 / t.grain * t.grain
		next = &network.Rect{X0: largest.X0, Y0: middle, X1: largest.X1, Y1: largest.Y1}
		largest.Y1 = middle
	}
	t.running = append(t.running, next)
	return next, *next
}

// more reports whether row y of a tile is still needed, marks it as begun, and reports the progress.
func (t *networkTiles) more(r *network.Rect, y int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Y0 = y + 1; y >= r.Y1 {
		return false
	}
	if t.begun += r.X1 - r.X0; t.progress != nil {
		t.progress(float64(t.begun) / float64(t.all))
	}
	return true
}

// engine returns the model prepared for the backend's kernels, and keeps the last one.
func (b *Backend) engine(m *network.Model) *network.Engine {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.network == nil || b.network.Model() != m {
		b.network = network.NewEngine(m, b.level)
	}
	return b.network
}

// GlintChannels runs the network on the tiles that hold requested pixels.
func (b executor) GlintChannels(ctx context.Context, op processing.GlintChannels) ([]uint8, error) {
	pic := networkPicture(op.Red, op.Green, op.Blue)
	w, h := pic.Width, pic.Height
	engine := b.engine(op.Model)
	out := make([]uint8, op.Model.Hidden()*len(op.Index))
	// Smaller tiles would have more surroundings than pixels of their own.
	const side = 256
	nx := (w + side - 1) / side
	tiles := map[int][]network.Place{}
	for i, at := range op.Index {
		x, y := int(at)%w, int(at)/w
		tile := y/side*nx + x/side
		tiles[tile] = append(tiles[tile], network.Place{X: x, Y: y, At: i})
	}
	list := slices.Sorted(maps.Keys(tiles))
	return out, b.each(ctx, len(list), func(k *worker, i int) {
		x, y := list[i]%nx*side, list[i]/nx*side
		r := network.Rect{X0: x, Y0: y, X1: min(w, x+side), Y1: min(h, y+side)}
		engine.Channels(out, pic, r, tiles[list[i]], &k.network, k.stopped)
	})
}

// MeasureGlints measures components in parallel.
func (b executor) MeasureGlints(ctx context.Context, op processing.MeasureGlints) ([]processing.GlintProps, error) {
	q := op.Components.(*components)
	s := &glintPlanes{op.Logits.(*plane), op.Kinds.(*plane), op.Red.(*plane), op.Green.(*plane), op.Blue.(*plane)}
	out := make([]processing.GlintProps, q.n)
	parts := span.Group(q.spans, q.n, func(i int) int { return int(q.spans[i].Label) })
	const share = 64
	return out, b.each(ctx, (q.n+share-1)/share, func(t *worker, i int) {
		for l := i * share; l < min(q.n, (i+1)*share) && !t.stopped(); l++ {
			for _, r := range parts[l] {
				s.add(&out[l], r)
			}
			if out[l].Area > 0 {
				s.surroundings(&out[l])
			}
		}
	})
}

// glintPlanes are the planes in which glints are measured.
type glintPlanes struct{ logits, kinds, red, green, blue *plane }

// values returns the lightness and the darkest channel of a pixel.
func (s *glintPlanes) values(at int) (light, dark uint8) {
	r, g, b := s.red.data.U8[at], s.green.data.U8[at], s.blue.data.U8[at]
	return uint8((int(r) + 2*int(g) + int(b) + 2) >> 2), min(r, g, b)
}

// add adds a span of a component.
func (s *glintPlanes) add(p *processing.GlintProps, r processing.Span) {
	row := int(r.Y) * s.logits.w
	for x := r.X0; x < r.X1; x++ {
		at := row + int(x)
		p.Sums[s.kinds.data.U8[at]&3] += uint64(s.logits.data.U8[at])
		if v, dark := s.values(at); p.Area == 0 || v > p.Peak {
			p.Peak, p.DarkPeak, p.X, p.Y = v, dark, x, r.Y
		}
		p.Area++
	}
}

// surroundings measures the grounds around the peak.
func (s *glintPlanes) surroundings(p *processing.GlintProps) {
	const radius = processing.GroundRadius
	// How often each lightness and each darkest channel occurs, in all pixels and in those with a logit of 0.
	var all, free [2][256]int32
	var n, nFree int32
	for y := max(int(p.Y)-radius, 0); y <= min(int(p.Y)+radius, s.logits.h-1); y++ {
		for x := max(int(p.X)-radius, 0); x <= min(int(p.X)+radius, s.logits.w-1); x++ {
			at := y*s.logits.w + x
			light, dark := s.values(at)
			all[0][light], all[1][dark], n = all[0][light]+1, all[1][dark]+1, n+1
			if s.logits.data.U8[at] == 0 {
				free[0][light], free[1][dark], nFree = free[0][light]+1, free[1][dark]+1, nFree+1
			}
		}
	}
	if nFree >= processing.GroundLeast {
		all, n = free, nFree
	}
	p.Ground, p.DarkGround = processing.LowerMedian(&all[0], n), processing.LowerMedian(&all[1], n)
}
