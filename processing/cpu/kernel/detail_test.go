package kernel

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDetailKernels(t *testing.T) {
	vectorLevels(t, func(t *rapid.T, r *source, plain, vector *Table) {
		dst, a, b, c, d, e := r.floats(r.n), r.floats(r.n), r.floats(r.n), r.floats(r.n), r.floats(r.n), r.floats(r.n)
		same(t, "taps5", dst, func(s []float32) { plain.Taps5(s, a, b, c, d, e, nil) },
			func(s []float32) { vector.Taps5(s, a, b, c, d, e, NewWeights5()) })
		known := make([]float32, r.n)
		for i := range known {
			known[i] = float32(r.IntN(2))
		}
		same(t, "divideKnown", dst, func(s []float32) { plain.DivideKnown(s, a, b, known) },
			func(s []float32) { vector.DivideKnown(s, a, b, known) })
	})
}
