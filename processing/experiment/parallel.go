package experiment

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// all is the number of goroutines that use every processor.
func all() int { return runtime.GOMAXPROCS(0) }

// spans cuts 0 … n−1 into runs of the given length and calls f on each, on so many goroutines. No new run starts after a
// cancel; the context's error is returned.
func spans(ctx context.Context, workers, n, length int, f func(i, j int)) error {
	count := (n + length - 1) / length
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			s := int(next.Add(1)) - 1
			if s >= count {
				return
			}
			f(s*length, min(n, (s+1)*length))
		}
	}
	var wg sync.WaitGroup
	for range min(workers, count) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return ctx.Err()
}
