package kernel

import (
	"math"
	"unsafe"
)

// Pair points to the beginnings of two rows.
type Pair[T Sample] struct{ A, B *T }

// symmetric sums rows; each product and each sum is rounded on its own: the conversions of products keep the compiler
// from fusing them with the sums, which would round differently.
func symmetric[T Sample](dst []float32, middle []T, tap float32, pairs []Pair[T], taps []float32) {
	n := len(dst)
	if middle != nil {
		for i, v := range middle[:n] {
			dst[i] = float32(tap * float32(v))
		}
	}
	for k, p := range pairs {
		tap, a, b := taps[k], unsafe.Slice(p.A, n), unsafe.Slice(p.B, n)
		for i := range dst {
			dst[i] += float32(tap * (float32(a[i]) + float32(b[i])))
		}
	}
}

// roundedSymmetric sums a few samples at a time into a buffer and rounds them.
func roundedSymmetric(dst []uint8, middle []float32, tap float32, pairs []Pair[float32], taps []float32) {
	var sum [64]float32
	near := make([]Pair[float32], len(pairs))
	for i := 0; i < len(dst); i += len(sum) {
		n := min(len(sum), len(dst)-i)
		for j, p := range pairs {
			near[j] = Pair[float32]{moved(p.A, i), moved(p.B, i)}
		}
		symmetric(sum[:n], middle[i:], tap, near, taps)
		// The weights may add up to a little more than 1.
		for j, v := range sum[:n] {
			dst[i+j] = uint8(int32(min(v+0.5, math.MaxUint8)))
		}
	}
}

// moved returns the pointer to the sample i places after p.
func moved(p *float32, i int) *float32 { return &unsafe.Slice(p, i+1)[i] }
