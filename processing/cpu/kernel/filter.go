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

func Widen(dst []uint32, src []uint16) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = uint32(src[i])
	}
}

// BandRow writes (256·fine − coarse) / 256 where that is positive.
func BandRow(dst []uint16, fine, coarse []uint32) {
	fine, coarse = fine[:len(dst)], coarse[:len(dst)]
	for i := range dst {
		v := int64(fine[i])<<8 - int64(coarse[i])
		dst[i] = uint16(max(v, 0) >> 8)
	}
}

// Weights5 are the weights 4 and 6, each repeated over a vector.
type Weights5 [2][8]float32

func NewWeights5() *Weights5 {
	w := new(Weights5)
	for i := range w[0] {
		w[0][i], w[1][i] = 4, 6
	}
	return w
}

// taps5 adds five rows with the weights 1, 4, 6, 4 and 1, in this order.
func taps5(dst, a, b, c, d, e []float32, _ *Weights5) {
	n := len(dst)
	a, b, c, d, e = a[:n], b[:n], c[:n], d[:n], e[:n]
	for i := range dst {
		v := 0 + a[i]
		v += float32(4 * b[i])
		v += float32(6 * c[i])
		v += float32(4 * d[i])
		dst[i] = v + e[i]
	}
}

// divideKnown writes v / m where a pixel is known, 0 elsewhere.
func divideKnown(dst, v, m, known []float32) {
	n := len(dst)
	v, m, known = v[:n], m[:n], known[:n]
	for i := range dst {
		q := float32(0)
		if known[i] != 0 {
			q = v[i] / m[i]
		}
		dst[i] = q
	}
}
