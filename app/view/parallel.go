package view

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// chunkRows is how many rows a goroutine takes at a time: short enough to answer a cancel at once.
const chunkRows = 32

// forRows calls work for all rows 0…n−1 in chunks spread over GOMAXPROCS goroutines, and returns ctx.Err() where it was
// cancelled before the end.
func forRows(ctx context.Context, n int, work func(y0, y1 int)) error {
	var next atomic.Int64
	take := func() {
		for ctx.Err() == nil {
			y0 := int(next.Add(chunkRows)) - chunkRows
			if y0 >= n {
				return
			}
			work(y0, min(y0+chunkRows, n))
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+chunkRows-1)/chunkRows) - 1 {
		wg.Go(take)
	}
	take()
	wg.Wait()
	return ctx.Err()
}
