//go:build cuda && linux && amd64

package cuda

import (
	"context"

	"blik/processing"
	"blik/processing/experiment"
)

// slidingVariants are the means over an m × m window.
func slidingVariants(b *Backend) []experiment.Variant {
	operations := func(c experiment.Case) float64 { return 4 * float64(c.Size.Samples()) }
	direct := func(c experiment.Case) float64 {
		m := float64(c.Int("m"))
		return m * m * float64(c.Size.Samples())
	}
	method := func(operations func(experiment.Case) float64, prepare func(q *queue, t *trial, dst, src *plane, r int) error) experiment.Method {
		return trialMethod{
			b:          b,
			memory:     func(c experiment.Case) int64 { return int64(c.Size.Samples()) },
			operations: operations,
			prepare: func(q *queue, t *trial, in *experiment.Input, c experiment.Case) error {
				src, err := t.picture(q, in)
				if err != nil {
					return err
				}
				dst, err := t.plane(processing.U8, src.w, src.h)
				if err != nil {
					return err
				}
				t.result = t.samples(dst)
				return prepare(q, t, dst, src, c.Int("m")/2)
			},
		}
	}
	// A thread for each line, in blocks of a warp so that few lines occupy many multiprocessors.
	lines := func(n int) (grid, block dim) { return dim{x: (n + 31) / 32}, dim{x: 32} }
	return []experiment.Variant{
		{ID: "gpu-direct", Device: experiment.GPU, Method: method(direct, func(_ *queue, t *trial, dst, src *plane, r int) error {
			t.compute = func(q *queue) error { return q.pixels("slidingDirect", src.w, src.h, dst, src, r) }
			return nil
		})},
		{ID: "gpu-recursive", Device: experiment.GPU, Method: method(operations, func(_ *queue, t *trial, dst, src *plane, r int) error {
			w, h := src.w, src.h
			sums, err := t.plane(processing.U32, w, h)
			t.compute = func(q *queue) error {
				grid, block := lines(w)
				if err := q.launch("slidingColumns", grid, block, sums, src, r, w, h); err != nil {
					return err
				}
				grid, block = lines(h)
				return q.launch("slidingRows", grid, block, dst, sums, r, w, h)
			}
			return err
		})},
		{ID: "gpu-recursive-coalesced", Device: experiment.GPU, Method: method(operations, func(_ *queue, t *trial, dst, src *plane, r int) error {
			w, h := src.w, src.h
			turned, err := t.plane(processing.U32, h, w)
			t.compute = func(q *queue) error {
				grid, block := lines(w)
				if err := q.launch("slidingTurnedSums", grid, block, turned, src, r, w, h); err != nil {
					return err
				}
				grid, block = lines(h)
				return q.launch("slidingTurnedMeans", grid, block, dst, turned, r, h, w)
			}
			return err
		})},
		{ID: "gpu-program", Device: experiment.GPU, Method: method(operations, func(_ *queue, t *trial, dst, src *plane, r int) error {
			t.operation = func(ctx context.Context) error { return b.BoxMean(ctx, dst, src, r) }
			return nil
		})},
	}
}
