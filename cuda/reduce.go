//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"math"

	"blik/processing"
)

// NoiseTiles returns the noise of each tile in the source's own levels, tiles in reading order.
func (b executor) NoiseTiles(ctx context.Context, op processing.NoiseTiles) ([]float64, error) {
	s := op.Src.(*plane)
	// With a larger side, the whole picture is also less than a quarter of the area.
	op.Side = min(op.Side, 2*max(s.w, s.h)+1)
	nx, ny := (s.w+op.Side-1)/op.Side, (s.h+op.Side-1)/op.Side
	var sigma []float64
	err := b.run(ctx, func(q *queue) error {
		out, err := q.bytes(8 * int64(nx) * int64(ny))
		if err != nil {
			return err
		}
		if err := q.Launch("noiseTilesU8", dim{nx, ny}, dim{x: 256}, out, s, op.Side, s.w,
			s.h); err != nil {
			return err
		}
		host, err := q.Fetch(out, 8*nx*ny)
		if err != nil {
			return err
		}
		middle := SamplesOf[uint32](host)
		sigma = make([]float64, 0, nx*ny)
		for i := 0; i < len(middle); i += 2 {
			if middle[i] != math.MaxUint32 {
				// The orthonormal coefficient is half the difference of differences.
				sigma = append(sigma, (float64(middle[i])+float64(middle[i+1]))/2/2/0.6745)
			}
		}
		return nil
	})
	return sigma, err
}

// Histogram counts the values of src where exclude is 0; exclude may be nil.
func (b executor) Histogram(ctx context.Context, op processing.Histogram) ([]uint64, error) {
	s := op.Src.(*plane)
	var mask buffer
	pitch := 0
	if op.Exclude != nil {
		e := op.Exclude.(*plane)
		mask, pitch = e.memory, int(e.pitch)
	}
	const bins = 1 << 8
	var total []uint64
	err := b.run(ctx, func(q *queue) error {
		counts, err := q.bytes(4 * int64(bins))
		if err != nil {
			return err
		}
		if err := q.d.zero(counts, 4*bins); err != nil {
			return err
		}
		if err := q.Launch("histogramU8", dim{x: min(s.h, 512)}, dim{x: 256}, counts, s, mask, pitch, s.w,
			s.h); err != nil {
			return err
		}
		host, err := q.Fetch(counts, 4*bins)
		if err != nil {
			return err
		}
		total = make([]uint64, bins)
		for i, c := range SamplesOf[uint32](host) {
			total[i] = uint64(c)
		}
		return nil
	})
	return total, err
}
