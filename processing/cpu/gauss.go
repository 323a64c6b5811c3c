package cpu

import (
	"context"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// Gaussian blurs with standard deviation sigma (at most 1000). Sums are float32 in a fixed order: down the columns,
// then along the rows, each from the middle tap outwards in pairs.
func (b executor) Gaussian(ctx context.Context, op processing.Gaussian) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	switch d.kind {
	case processing.U8:
		return gaussian[uint8](ctx, b.Backend, d, s, op.Sigma)
	case processing.U16:
		return gaussian[uint16](ctx, b.Backend, d, s, op.Sigma)
	default:
		return gaussian[float32](ctx, b.Backend, d, s, op.Sigma)
	}
}

// gaussian sums down the columns inside the picture, and mirrors the sums.
func gaussian[T kernel.Sample](ctx context.Context, b *Backend, d, s *plane, sigma float64) error {
	dst, src, w, h := pixels[T](d), pixels[T](s), d.w, d.h
	taps := processing.GaussianTaps(sigma)
	r := len(taps) - 1
	if r == 0 {
		return copyPlane(ctx, b, dst, src)
	}
	k := kernel.ConversionsOf[T](&b.kernels)
	// A vector of floats is as long as a cache line. Each row is read 2r+1 times, so rows that do not begin with a line
	// are copied, unless this takes much memory. A kernel sums up to most pairs of rows at a time.
	const line, most = 16, 16
	copied := d.kind == processing.F32 && w%line != 0 && r <= most
	return b.tiles(ctx, w, h, r, r, func(t *worker, tile rect) {
		n := tile.x1 - tile.x0
		x0, x1 := max(0, tile.x0-r), min(w, tile.x1+r)
		group := min(r, most)
		padded := scratch[float32](t, n+2*r)
		inside := padded[x0-(tile.x0-r):][:x1-x0]
		across, down := make([]kernel.Pair[float32], r), make([]kernel.Pair[T], group)
		for i := range across {
			across[i] = kernel.Pair[float32]{A: &padded[r-1-i], B: &padded[r+1+i]}
		}
		var ring []T
		pitch := (len(inside) + line - 1) / line * line
		if copied {
			ring = scratch[T](t, (2*r+1)*pitch)
		}
		row := func(y int) []T {
			y = mirror(y, h)
			if copied {
				return ring[y%(2*r+1)*pitch:][:len(inside)]
			}
			return src[y*w+x0 : y*w+x1]
		}
		next := max(0, tile.y0-r)
		p := newCancelCheck(t, (r+1)*len(inside))
		for y := tile.y0; y < tile.y1; y++ {
			if p.stop() {
				return
			}
			for ; copied && next <= min(h-1, y+r); next++ {
				copy(row(next), src[next*w+x0:])
			}
			middle := row(y)
			for i := 0; i < r; i += group {
				pairs := down[:min(group, r-i)]
				for j := range pairs {
					pairs[j] = kernel.Pair[T]{A: &row(y - 1 - i - j)[0], B: &row(y + 1 + i + j)[0]}
				}
				k.Down(inside, middle, taps[0], pairs, taps[1+i:])
				middle = nil
			}
			for x := tile.x0 - r; x < x0; x++ {
				padded[x-(tile.x0-r)] = inside[mirror(x, w)-x0]
			}
			for x := x1; x < tile.x1+r; x++ {
				padded[x-(tile.x0-r)] = inside[mirror(x, w)-x0]
			}
			k.Across(dst[y*w+tile.x0:y*w+tile.x1], padded[r:], taps[0], across, taps[1:])
		}
	})
}
