package cpu

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDetailKernels(t *testing.T) {
	vectorLevels(t, func(t *rapid.T, r *source, plain, vector *kernels) {
		dst, a, b, c, d, e := r.floats(r.n), r.floats(r.n), r.floats(r.n), r.floats(r.n), r.floats(r.n), r.floats(r.n)
		same(t, "taps5", dst, func(s []float32) { plain.taps5(s, a, b, c, d, e, nil) },
			func(s []float32) { vector.taps5(s, a, b, c, d, e, newWeights5()) })
		known := make([]float32, r.n)
		for i := range known {
			known[i] = float32(r.IntN(2))
		}
		same(t, "divideKnown", dst, func(s []float32) { plain.divideKnown(s, a, b, known) },
			func(s []float32) { vector.divideKnown(s, a, b, known) })
	})
}
