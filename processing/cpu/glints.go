package cpu

import (
	"context"
	"maps"
	"slices"

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
	pic := network.Picture{
		Red: op.Red.(*plane).data.U8, Green: op.Green.(*plane).data.U8, Blue: op.Blue.(*plane).data.U8,
		Width: d.w, Height: d.h,
	}
	engine := b.engine(op.Model)
	tw, th := b.networkTile(d.w, d.h, op.Model.Grain())
	nx, ny := (d.w+tw-1)/tw, (d.h+th-1)/th
	return b.each(ctx, nx*ny, func(w *worker, i int) {
		x, y := i%nx*tw, i/nx*th
		r := network.Rect{X0: x, Y0: y, X1: min(d.w, x+tw), Y1: min(d.h, y+th)}
		engine.Run(d.data.U8, kinds, pic, r, op.Offset, &w.network, w.stopped)
	})
}

// networkTile returns the sides of the network's tiles, multiples of grain. Surroundings of a tile are computed by its
// neighbours, too, so tiles are large, but there are several for every worker.
func (b executor) networkTile(w, h, grain int) (tw, th int) {
	n := 3 * b.workers
	side := func(whole, parts int) int {
		s := max((whole+parts-1)/parts, b.tiling.narrow)
		return (s + grain - 1) / grain * grain
	}
	nx := max(1, (w+b.tiling.wide-1)/b.tiling.wide)
	return side(w, nx), side(h, (n+nx-1)/nx)
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
	w, h := op.Red.Size()
	pic := network.Picture{
		Red: op.Red.(*plane).data.U8, Green: op.Green.(*plane).data.U8, Blue: op.Blue.(*plane).data.U8,
		Width: w, Height: h,
	}
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
	s := &glintPlanes{logits: op.Logits.(*plane), kinds: op.Kinds.(*plane), red: op.Red.(*plane), green: op.Green.(*plane),
		blue: op.Blue.(*plane)}
	out := make([]processing.GlintProps, q.n)
	parts := group(q.spans, q.n, func(i int) uint32 { return q.spans[i].Label })
	const share = 64
	return out, b.each(ctx, (q.n+share-1)/share, func(t *worker, i int) {
		for l := i * share; l < min(q.n, (i+1)*share) && !t.stopped(); l++ {
			for _, r := range parts[l] {
				s.add(&out[l], r)
			}
			if out[l].Area > 0 {
				out[l].Ground = s.ground(int(out[l].X), int(out[l].Y))
			}
		}
	})
}

// glintPlanes are the planes in which glints are measured.
type glintPlanes struct{ logits, kinds, red, green, blue *plane }

// value returns the value of a pixel.
func (s *glintPlanes) value(at int) uint8 {
	r, g, b := s.red.data.U8[at], s.green.data.U8[at], s.blue.data.U8[at]
	return max(min(r, g, b), uint8((int(r)+2*int(g)+int(b)+2)>>2))
}

// add adds a span of a component.
func (s *glintPlanes) add(p *processing.GlintProps, r processing.Span) {
	row := int(r.Y) * s.logits.w
	for x := r.X0; x < r.X1; x++ {
		at := row + int(x)
		p.Sums[s.kinds.data.U8[at]&3] += uint64(s.logits.data.U8[at])
		if v := s.value(at); p.Area == 0 || v > p.Peak {
			p.Peak, p.X, p.Y = v, x, r.Y
		}
		p.Area++
	}
}

// ground returns the ground around a pixel.
func (s *glintPlanes) ground(x, y int) uint8 {
	const radius = processing.GroundRadius
	var all, free [256]int32
	n, nFree := int32(0), int32(0)
	for py := max(y-radius, 0); py <= min(y+radius, s.logits.h-1); py++ {
		for px := max(x-radius, 0); px <= min(x+radius, s.logits.w-1); px++ {
			at := py*s.logits.w + px
			v := s.value(at)
			all[v]++
			n++
			if s.logits.data.U8[at] == 0 {
				free[v]++
				nFree++
			}
		}
	}
	if nFree >= processing.GroundLeast {
		all, n = free, nFree
	}
	before := int32(0)
	for v, count := range all {
		if before += count; before > (n-1)/2 {
			return uint8(v)
		}
	}
	return 0
}
