package synth

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// stripRows is the height of the strips that work is split into. It is fixed, so that a result never depends on the
// number of workers.
const stripRows = 64

// eachStrip calls work for every strip of h rows, on several goroutines (see each).
func eachStrip(ctx context.Context, h, workers int, newWork func() func(y0, y1 int)) error {
	return each(ctx, (h+stripRows-1)/stripRows, workers, func() func(i int) {
		work := newWork()
		return func(i int) { work(i*stripRows, min((i+1)*stripRows, h)) }
	})
}

// each calls work for 0…n−1 on several goroutines (workers ≤ 0: as many as processors), and returns the context's
// error when it was cancelled. newWork makes the work of one goroutine with its own buffers.
func each(ctx context.Context, n, workers int, newWork func() func(i int)) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			work := newWork()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				work(i)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// reflect maps an index outside 0…n−1 back by mirroring at the first and last sample without repeating them.
func reflect(i, n int) int {
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	i %= period
	if i < 0 {
		i += period
	}
	if i >= n {
		i = period - i
	}
	return i
}
