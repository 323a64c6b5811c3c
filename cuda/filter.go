//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"

	"blik/processing"
)

// Gaussian blurs with standard deviation sigma (at most 1000).
func (b executor) Gaussian(ctx context.Context, op processing.Gaussian) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	taps := processing.GaussianTaps(op.Sigma)
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		r := len(taps) - 1
		if r == 0 {
			return q.duplicate(d, s)
		}
		list, err := q.constants(BytesOf(taps))
		if err != nil {
			return err
		}
		if r <= blurRadius {
			const width = blurThreads - 2*((blurRadius+3)/4*4)
			grid := dim{(d.w + width - 1) / width, (d.h + blurRows - 1) / blurRows}
			return q.Launch("blur5U8", grid, dim{x: blurThreads}, d, s, list, r, d.w, d.h)
		}
		columns, err := q.plane(processing.F32, d.w, d.h)
		if err != nil {
			return err
		}
		if err := q.Pixels("gaussColumnsU8", d.w, d.h, columns, s, list, r); err != nil {
			return err
		}
		return q.Pixels("gaussRowsU8", d.w, d.h, d, columns, list, r)
	})
}

// blurThreads and blurRows are constants of filter.cu; blurRadius is the largest radius of its blur5 kernels.
const (
	blurRadius  = 5
	blurThreads = 256
	blurRows    = 16
)

// StarletBand writes the positive part of the second band of the starlet transform of src (U8) in 1/256 grey levels,
// rounded down. All arithmetic is integer.
func (b executor) StarletBand(ctx context.Context, op processing.StarletBand) error {
	d, s := op.Dst.(*plane), op.Src.(*plane)
	w, h := d.w, d.h
	return b.run(ctx, func(q *queue) error {
		q.writes(d)
		// bandThreads and bandRows of filter.cu.
		const width, rows = 256 - 2*8, 16
		return q.Launch("bandTwo", dim{(w + width - 1) / width, (h + rows - 1) / rows}, dim{x: 256}, d, s, w, h)
	})
}
