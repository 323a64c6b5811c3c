//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"unsafe"

	"blik/processing"
)

// tileArg is the struct tile of tiles.cu.
type tileArg struct {
	x, y, w, h int32
	at         int64
	sweeps     int32
	omega      float32
}

// sweepsAtOnce bounds the time of a kernel, so that a cancel is noticed in between.
const sweepsAtOnce = 64

// tileArgs lays out the scratch memory of tiles; size is their total need.
func tileArgs(list []processing.Tile) (out []tileArg, size int64) {
	for _, r := range list {
		out = append(out, tileArg{x: int32(r.X), y: int32(r.Y), w: int32(r.W), h: int32(r.H), at: size})
		// An upper bound for a pyramid of all coarser levels.
		size += int64(r.W)*int64(r.H) + int64(r.W) + int64(r.H) + 64
	}
	return out, size
}

// structs uploads a list of structs in their memory layout.
func structs[T tileArg | separation](q *queue, list []T) (buffer, error) {
	var zero T
	return q.constants(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))),
		len(list)*int(unsafe.Sizeof(zero))))
}

// onTiles runs f with the uploaded tiles and with floats planes of scratch, unless there is no tile.
func (b *Backend) onTiles(ctx context.Context, tiles []tileArg, size, floats int64,
	f func(q *queue, tiles, scratch buffer) error) error {
	if len(tiles) == 0 {
		return ctx.Err()
	}
	return b.run(ctx, func(q *queue) error {
		list, err := structs(q, tiles)
		if err != nil {
			return err
		}
		scratch, err := q.bytes(4 * floats * size)
		if err != nil {
			return err
		}
		return f(q, list, scratch)
	})
}

// sweeping calls f with the first sweep of each launch.
func sweeping(most int, f func(first int) error) error {
	for first := 0; first < most; first += sweepsAtOnce {
		if err := f(first); err != nil {
			return err
		}
	}
	return nil
}

// onTile returns a grid with one block for each of n tiles.
func onTile(n int) (grid, block dim) { return dim{x: n}, dim{x: 256} }

// Harmonic solves Laplace's equation where state is not known.
func (b executor) Harmonic(ctx context.Context, op processing.Harmonic) error {
	d, s := op.Dst.(*plane), op.State.(*plane)
	list, size := tileArgs(op.Tiles)
	most := 0
	for i := range list {
		list[i].sweeps, list[i].omega = int32(op.Sweeps[i]), op.Omegas[i]
		most = max(most, op.Sweeps[i])
	}
	return b.onTiles(ctx, list, size, 1, func(q *queue, tiles, scratch buffer) error {
		q.writes(d)
		missing, err := q.bytes(size)
		if err != nil {
			return err
		}
		grid, block := onTile(len(list))
		if err := q.Launch("pullPush", grid, block, d, s, tiles, scratch, missing); err != nil {
			return err
		}
		return sweeping(most, func(first int) error {
			return q.Launch("harmonic", grid, block, d, s, tiles, first, sweepsAtOnce)
		})
	})
}

// Detail writes the two finest bands of the starlet transform of the known pixels, 0 elsewhere.
func (b executor) Detail(ctx context.Context, op processing.Detail) error {
	d, p, s := op.Dst.(*plane), op.Src.(*plane), op.State.(*plane)
	list, size := tileArgs(op.Tiles)
	return b.onTiles(ctx, list, size, 3, func(q *queue, tiles, scratch buffer) error {
		q.writes(d)
		grid, block := onTile(len(list))
		return q.Launch("detail", grid, block, d, p, s, tiles, scratch)
	})
}

// separation is the struct of tiles.cu.
type separation struct {
	axes            [4][4]float32
	variance, light [4]float32
	noise, mismatch float32
	sweeps          int32
}

// Separate splits pixels seen through glare into paint and light.
func (b executor) Separate(ctx context.Context, op processing.Separate) error {
	n := len(op.Seen)
	var p, o [4]*plane
	for k := range p {
		// A kernel does not touch channels that do not exist.
		from := min(k, n-1)
		p[k], o[k] = op.Paint[from].(*plane), op.Seen[from].(*plane)
	}
	l, e, s := op.Light.(*plane), op.Expected.(*plane), op.State.(*plane)
	list, size := tileArgs(op.Tiles)
	most := 0
	given := make([]separation, len(op.Models))
	for i, m := range op.Models {
		given[i] = separation{axes: m.Axes, variance: m.Variance, light: m.Light, noise: m.Noise, mismatch: m.Mismatch,
			sweeps: int32(m.Sweeps)}
		most = max(most, m.Sweeps)
	}
	return b.onTiles(ctx, list, size, 0, func(q *queue, tiles, _ buffer) error {
		q.writes(p[:n]...)
		q.writes(l)
		m, err := structs(q, given)
		if err != nil {
			return err
		}
		grid, block := onTile(len(list))
		return sweeping(most, func(first int) error {
			return q.Launch("separate", grid, block, p[0].memory, p[1].memory, p[2].memory, p[3].memory, l.memory,
				o[0].memory, o[1].memory, o[2].memory, o[3].memory, e, s, tiles, m, n, first, sweepsAtOnce)
		})
	})
}
