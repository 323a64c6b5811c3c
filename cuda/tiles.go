//go:build cuda && linux && amd64

package cuda

import (
	"context"
	"math"
	"unsafe"

	"blik/processing"
)

// tileArg is the struct tile of tiles.cu.
type tileArg struct {
	x, y, w, h  int32
	at          int64
	sweeps      int32
	omega       float32
	bell, reach int32
}

// sweepsAtOnce bounds the time that a kernel takes, so that a cancel is seen in between.
const sweepsAtOnce = 64

// tiles checks the tiles of an operation and lays out their scratch; size is the sum of what they need.
func (a *args) tiles(list []processing.Tile) (out []tileArg, size int64) {
	for i, r := range list {
		if a.err == nil && (r.W < 1 || r.H < 1 || r.X < 0 || r.Y < 0 || r.X > a.w-r.W || r.Y > a.h-r.H) {
			a.fail("tile %d (%d × %d at %d, %d) does not lie in planes of %d × %d pixels", i, r.W, r.H, r.X, r.Y, a.w, a.h)
		}
		out = append(out, tileArg{x: int32(r.X), y: int32(r.Y), w: int32(r.W), h: int32(r.H), at: size})
		// More than a pyramid of all coarser levels takes.
		size += int64(r.W)*int64(r.H) + int64(r.W) + int64(r.H) + 64
	}
	return out, size
}

// perTile says that a list holds one value for each tile.
func (a *args) perTile(what string, n int, tiles []processing.Tile) {
	if n != len(tiles) {
		a.fail("%d %s given for %d tiles", n, what, len(tiles))
	}
}

// structs uploads a list of structs as they lie in memory.
func structs[T tileArg | separation](q *queue, list []T) (buffer, error) {
	var zero T
	return q.constants(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(zero))))
}

// onTiles runs f with the uploaded tiles and with floats planes of scratch, unless there is no tile.
func (a *args) onTiles(ctx context.Context, tiles []tileArg, size, floats int64, f func(q *queue, tiles, scratch buffer) error) error {
	if a.err != nil {
		return a.err
	}
	if len(tiles) == 0 {
		return ctx.Err()
	}
	return a.b.run(ctx, func(q *queue) error {
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

// onTile is a grid of a block for each of n tiles.
func onTile(n int) (grid, block dim) { return dim{x: n}, dim{x: 256} }

// Convolve fills the pixels that are not known by normalised convolution.
func (b *Backend) Convolve(ctx context.Context, dst, state processing.Plane, tiles []processing.Tile, sigmas []float64) error {
	a := b.args("convolve")
	d := a.plane("destination", dst, processing.F32)
	s := a.plane("state", state, processing.U8)
	a.perTile("sigmas", len(sigmas), tiles)
	for i, v := range sigmas {
		if !(v > 0 && v <= 1e6) {
			a.fail("sigma %g of tile %d: must lie between 0 and a million", v, i)
		}
	}
	list, size := a.tiles(tiles)
	var bells []float32
	if a.err == nil {
		for i := range list {
			r, sigma := &list[i], sigmas[i]
			r.bell = int32(len(bells))
			r.reach = int32(min(math.Ceil(6*sigma), float64(max(r.w, r.h)-1)))
			for k := range int(r.reach) + 1 {
				bells = append(bells, float32(math.Exp(-float64(k*k)/(2*sigma*sigma))))
			}
		}
	}
	return a.onTiles(ctx, list, size, 2, func(q *queue, tiles, scratch buffer) error {
		q.writes(d)
		g, err := q.constants(bytesOf(bells))
		if err != nil {
			return err
		}
		grid, block := onTile(len(list))
		return q.launch("convolve", grid, block, d, s, tiles, g, scratch)
	})
}

// Harmonic solves Laplace's equation where state is not known.
func (b *Backend) Harmonic(ctx context.Context, dst, state processing.Plane, tiles []processing.Tile, sweeps []int, omegas []float32) error {
	a := b.args("harmonic")
	d := a.plane("destination", dst, processing.F32)
	s := a.plane("state", state, processing.U8)
	a.perTile("numbers of sweeps", len(sweeps), tiles)
	a.perTile("factors of relaxation", len(omegas), tiles)
	list, size := a.tiles(tiles)
	most := 0
	if a.err == nil {
		for i := range list {
			list[i].sweeps, list[i].omega = int32(sweeps[i]), omegas[i]
			most = max(most, sweeps[i])
		}
	}
	return a.onTiles(ctx, list, size, 1, func(q *queue, tiles, scratch buffer) error {
		q.writes(d)
		missing, err := q.bytes(size)
		if err != nil {
			return err
		}
		grid, block := onTile(len(list))
		if err := q.launch("pullPush", grid, block, d, s, tiles, scratch, missing); err != nil {
			return err
		}
		return sweeping(most, func(first int) error {
			return q.launch("harmonic", grid, block, d, s, tiles, first, sweepsAtOnce)
		})
	})
}

// Biharmonic relaxes the pixels that are not known towards the least sum of squared Laplacians.
func (b *Backend) Biharmonic(ctx context.Context, dst, state processing.Plane, tiles []processing.Tile, sweeps []int, omega float32) error {
	a := b.args("biharmonic")
	d := a.plane("destination", dst, processing.F32)
	s := a.plane("state", state, processing.U8)
	a.perTile("numbers of sweeps", len(sweeps), tiles)
	list, size := a.tiles(tiles)
	most := 0
	if a.err == nil {
		for i := range list {
			list[i].sweeps = int32(sweeps[i])
			most = max(most, sweeps[i])
		}
	}
	return a.onTiles(ctx, list, size, 4, func(q *queue, tiles, scratch buffer) error {
		q.writes(d)
		grid, block := onTile(len(list))
		if err := q.launch("bendBegin", grid, block, d, tiles, scratch); err != nil {
			return err
		}
		if err := sweeping(most, func(first int) error {
			return q.launch("bend", dim{x: 2 * len(list)}, block, s, tiles, scratch, omega, first, sweepsAtOnce)
		}); err != nil {
			return err
		}
		return q.launch("bendEnd", grid, block, d, s, tiles, scratch)
	})
}

// Detail writes the two finest bands of the starlet transform of the known pixels, 0 elsewhere.
func (b *Backend) Detail(ctx context.Context, dst, src, state processing.Plane, tiles []processing.Tile) error {
	a := b.args("detail")
	d := a.plane("destination", dst, processing.F32)
	p := a.plane("source", src, processing.F32)
	s := a.plane("state", state, processing.U8)
	a.apart(d, p)
	list, size := a.tiles(tiles)
	return a.onTiles(ctx, list, size, 3, func(q *queue, tiles, scratch buffer) error {
		q.writes(d)
		grid, block := onTile(len(list))
		return q.launch("detail", grid, block, d, p, s, tiles, scratch)
	})
}

// separation is the struct of tiles.cu.
type separation struct {
	axes            [4][4]float32
	variance, light [4]float32
	noise, mismatch float32
	sweeps          int32
}

// Separate splits what was seen through glare into paint and light.
func (b *Backend) Separate(ctx context.Context, paint []processing.Plane, light processing.Plane, seen []processing.Plane,
	expected, state processing.Plane, tiles []processing.Tile, models []processing.Separation) error {
	a := b.args("separate")
	n := len(seen)
	if n < 1 || n > 4 || len(paint) != n {
		a.fail("%d planes of paint and %d seen: 1 to 4 of each are needed", len(paint), n)
		return a.err
	}
	var p, o [4]*plane
	for k := range seen {
		p[k] = a.plane("paint", paint[k], processing.F32)
		o[k] = a.plane("seen", seen[k], processing.F32)
	}
	l := a.plane("light", light, processing.F32)
	e := a.plane("expected light", expected, processing.F32)
	s := a.plane("state", state, processing.U8)
	a.perTile("models", len(models), tiles)
	list, size := a.tiles(tiles)
	if a.err != nil {
		return a.err
	}
	// What a kernel has no channel for it does not touch.
	for k := n; k < 4; k++ {
		p[k], o[k] = p[0], o[0]
	}
	most := 0
	given := make([]separation, len(models))
	for i, m := range models {
		given[i] = separation{axes: m.Axes, variance: m.Variance, light: m.Light, noise: m.Noise, mismatch: m.Mismatch, sweeps: int32(m.Sweeps)}
		most = max(most, m.Sweeps)
	}
	return a.onTiles(ctx, list, size, 0, func(q *queue, tiles, _ buffer) error {
		q.writes(p[:n]...)
		q.writes(l)
		m, err := structs(q, given)
		if err != nil {
			return err
		}
		grid, block := onTile(len(list))
		return sweeping(most, func(first int) error {
			return q.launch("separate", grid, block, p[0].memory, p[1].memory, p[2].memory, p[3].memory, l.memory,
				o[0].memory, o[1].memory, o[2].memory, o[3].memory, e, s, tiles, m, n, first, sweepsAtOnce)
		})
	})
}
