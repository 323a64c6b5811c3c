package imagefile

import (
	"context"
	"runtime"
	"sync"
)

// eachRow runs f for the rows 0…h−1 on all processors, in bands, and stops early when ctx ends.
func eachRow(ctx context.Context, h int, f func(y int)) error {
	const band = 64
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (h+band-1)/band) {
		wg.Go(func() {
			for y0 := range next {
				for y := y0; y < min(y0+band, h); y++ {
					f(y)
				}
			}
		})
	}
	for y := 0; y < h && ctx.Err() == nil; y += band {
		next <- y
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}
