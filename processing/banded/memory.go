package banded

import (
	"runtime"
	"sync"

	"blik/processing"
)

// memory keeps the samples of one plane of each kind for the next: bands write into other memory than they read from.
type memory struct {
	spare [4]processing.Samples
	live  int
}

// take returns n samples with undefined content.
func (m *memory) take(kind processing.Kind, n int) processing.Samples {
	s := m.spare[kind]
	m.spare[kind] = processing.Samples{}
	if length(s) == n {
		return s
	}
	switch kind {
	case processing.U8:
		return processing.Samples{U8: make([]uint8, n)}
	case processing.U16:
		return processing.Samples{U16: make([]uint16, n)}
	case processing.U32:
		return processing.Samples{U32: make([]uint32, n)}
	default:
		return processing.Samples{F32: make([]float32, n)}
	}
}

func (m *memory) keep(kind processing.Kind, s processing.Samples) {
	if length(s) > 0 {
		m.spare[kind] = s
	}
}

func length(s processing.Samples) int { return len(s.U8) + len(s.U16) + len(s.U32) + len(s.F32) }

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
