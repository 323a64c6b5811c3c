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
		engine.Run(d.data.U8, pic, r, op.Offset, &w.network, w.stopped)
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
