package banded

import (
	"runtime"
	"sync"

	"blik/processing"
)

// part returns samples i to j−1.
func part(s processing.Samples, i, j int) processing.Samples {
	return processing.Samples{U8: piece(s.U8, i, j), U16: piece(s.U16, i, j), U32: piece(s.U32, i, j), F32: piece(s.F32, i, j)}
}

func piece[T any](s []T, i, j int) []T {
	if s == nil {
		return nil
	}
	return s[i:j]
}

func copySamples(dst, src processing.Samples) {
	copyWide(dst.U8, src.U8)
	copyWide(dst.U16, src.U16)
	copyWide(dst.U32, src.U32)
	copyWide(dst.F32, src.F32)
}

// copyWide is copy on several processors, as one alone does not keep up with the bus of a device.
func copyWide[T any](dst, src []T) {
	wide(len(src), func(from, to int) { copy(dst[from:to], src[from:to]) })
}

func clearWide[T any](s []T) { wide(len(s), func(from, to int) { clear(s[from:to]) }) }

// wide calls f for parts of 0 … n−1, on several processors where they are large.
func wide(n int, f func(from, to int)) {
	const least = 1 << 18
	parts := max(1, min(8, runtime.GOMAXPROCS(0), n/least))
	var wg sync.WaitGroup
	for i := range parts - 1 {
		wg.Go(func() { f(n*i/parts, n*(i+1)/parts) })
	}
	f(n*(parts-1)/parts, n)
	wg.Wait()
}
