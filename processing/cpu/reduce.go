package cpu

import (
	"context"
	"sync"

	"blik/processing"
	"blik/processing/cpu/kernel"
)

// Histogram counts the values of src where exclude is 0; exclude may be nil.
func (b executor) Histogram(ctx context.Context, op processing.Histogram) ([]uint64, error) {
	s := op.Src.(*plane)
	var e *plane
	if op.Exclude != nil {
		e = op.Exclude.(*plane)
	}
	const bins = 1 << 8
	total := make([]uint64, bins)
	var mu sync.Mutex
	// A task is a large share of the picture, so that clearing and adding its bins takes little time in comparison.
	n := s.w * s.h
	share := max(spanPixels, (n+4*b.workers-1)/(4*b.workers), 4*bins)
	share = min(share, 1<<30)
	err := b.each(ctx, (n+share-1)/share, func(t *worker, k int) {
		part := zeroScratch[uint32](t, bins)
		for i := k * share; i < min(n, (k+1)*share); i += spanPixels {
			if t.stopped() {
				return
			}
			j := min(n, (k+1)*share, i+spanPixels)
			var out []uint8
			if e != nil {
				out = e.data.U8[i:j]
			}
			kernel.Histogram(part, s.data.U8[i:j], out)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, c := range part {
			total[i] += uint64(c)
		}
	})
	if err != nil {
		return nil, err
	}
	return total, nil
}
