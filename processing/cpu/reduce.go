package cpu

import (
	"context"
	"sync"

	"blik/processing"
)

// Histogram counts the values of src where exclude is 0; exclude may be nil.
func (b *Backend) Histogram(ctx context.Context, src, exclude processing.Plane) ([]uint64, error) {
	a := b.args("histogram")
	s := a.plane("source", src, processing.U8, processing.U16)
	var e *plane
	if exclude != nil {
		e = a.plane("exclusion", exclude, processing.U8)
	}
	if a.err != nil {
		return nil, a.err
	}
	bins := 1 << 8
	if s.kind == processing.U16 {
		bins = 1 << 16
	}
	total := make([]uint64, bins)
	var mu sync.Mutex
	// A task is a large share of the picture, so that clearing and adding its bins is little beside it.
	n := a.w * a.h
	share := max(spanPixels, (n+4*b.workers-1)/(4*b.workers), 4*bins)
	share = min(share, 1<<31)
	err := b.each(ctx, (n+share-1)/share, func(t *worker, k int) {
		part := zeros[uint32](t, bins)
		for i := k * share; i < min(n, (k+1)*share); i += spanPixels {
			if t.stopped() {
				return
			}
			j := min(n, (k+1)*share, i+spanPixels)
			var out []uint8
			if e != nil {
				out = e.data.U8[i:j]
			}
			if s.kind == processing.U8 {
				histogram(part, s.data.U8[i:j], out)
			} else {
				histogram(part, s.data.U16[i:j], out)
			}
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

func histogram[T uint8 | uint16](bins []uint32, src []T, exclude []uint8) {
	if exclude == nil {
		for _, v := range src {
			bins[v]++
		}
		return
	}
	for i, out := range exclude[:len(src)] {
		if out == 0 {
			bins[src[i]]++
		}
	}
}
