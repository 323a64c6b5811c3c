package processing

import (
	"runtime"
	"sync"
)

// inParts calls f for parts a…b−1 of 0…n−1, on several processors where each has at least `least` things to do.
func inParts(n, least int, f func(a, b int)) {
	parts := min(8, runtime.GOMAXPROCS(0), n/least)
	if parts < 2 {
		f(0, n)
		return
	}
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { f(n*i/parts, n*(i+1)/parts) })
	}
	wg.Wait()
}
