package cpu

import (
	"context"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// Gaussian blurs with standard deviation sigma (at most 1000). Sums are float32 in a fixed order: down the columns,
// then along the rows, each from the middle tap outwards in pairs. Sums down the columns are mirrored at the border.
func (b executor) Gaussian(ctx context.Context, op processing.Gaussian) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	dst, src, w, h := d.data.U8, s.data.U8, d.w, d.h
	taps := processing.GaussianTaps(op.Sigma)
	r := len(taps) - 1
	if r == 0 {
		return copyPlane(ctx, b.Backend, dst, src)
	}
	// A kernel sums up to most pairs of rows at a time.
	const most = 16
	return b.tiles(ctx, w, h, r, r, func(t *worker, tile rect) {
		n := tile.x1 - tile.x0
		x0, x1 := max(0, tile.x0-r), min(w, tile.x1+r)
		group := min(r, most)
		padded := scratch[float32](t, n+2*r)
		inside := padded[x0-(tile.x0-r):][:x1-x0]
		across, down := make([]kernel.Pair[float32], r), make([]kernel.Pair[uint8], group)
		for i := range across {
			across[i] = kernel.Pair[float32]{A: &padded[r-1-i], B: &padded[r+1+i]}
		}
		row := func(y int) []uint8 {
			y = mirror(y, h)
			return src[y*w+x0 : y*w+x1]
		}
		p := newCancelCheck(t, (r+1)*len(inside))
		for y := tile.y0; y < tile.y1; y++ {
			if p.stop() {
				return
			}
			middle := row(y)
			for i := 0; i < r; i += group {
				pairs := down[:min(group, r-i)]
				for j := range pairs {
					pairs[j] = kernel.Pair[uint8]{A: &row(y - 1 - i - j)[0], B: &row(y + 1 + i + j)[0]}
				}
				b.kernels.Down(inside, middle, taps[0], pairs, taps[1+i:])
				middle = nil
			}
			for x := tile.x0 - r; x < x0; x++ {
				padded[x-(tile.x0-r)] = inside[mirror(x, w)-x0]
			}
			for x := x1; x < tile.x1+r; x++ {
				padded[x-(tile.x0-r)] = inside[mirror(x, w)-x0]
			}
			b.kernels.Across(dst[y*w+tile.x0:y*w+tile.x1], padded[r:], taps[0], across, taps[1:])
		}
	})
}
