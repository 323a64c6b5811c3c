package kernel

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
