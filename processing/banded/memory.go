package banded

import (
	"runtime"
	"sync"

	"blik/processing"
)

func kindBytes(k processing.Kind) int { return [...]int{1, 2, 4, 4}[k] }

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
	const least = 1 << 18
	n := len(src)
	parts := min(8, runtime.GOMAXPROCS(0), n/least)
	if parts < 2 {
		copy(dst, src)
		return
	}
	var wg sync.WaitGroup
	for i := range parts {
		from, to := n*i/parts, n*(i+1)/parts
		wg.Go(func() { copy(dst[from:to], src[from:to]) })
	}
	wg.Wait()
}
