//go:build goexperiment.simd && amd64

package kernel

import "math"

// sumSteps are the kernels of floatSumsBy, on rows whose length is a multiple of eight.
type sumSteps struct {
	// all adds samples as momentLanes.add does, and appends values with the extremes of the samples if there is no NaN.
	all func(l *momentLanes, s, extremes []float32) []float32
	// rising adds them if no sum is less than a sample and no sum of squares less than a square, exact if sums of
	// samples need no rounding, too. Both return the least and the greatest of the samples' bits.
	rising, exact func(l *momentLanes, s []float32) (low, high uint32)
	// least returns the least of the samples' bits that are not 0.
	least func(s []float32) uint32
}

// Parts of a block that floatSumsBy adds at a time: the first is short, because sums begin at 0.
const (
	firstPart = 256
	nextPart  = 2048
)

// floatSumsBy is floatSumsOf with fewer operations if the samples allow it. The error of s + x is x − ((s + x) − s) if
// s ≥ x ≥ 0 (Dekker); Knuth's two-sum takes twice as many operations. The error is 0 if all sums are multiples of a
// unit, the last place of the smallest sample, and less than 2⁵³ units. Each part is added in the way that the previous
// one allowed. If its extremes then show that it does not allow this, it is added again.
func floatSumsBy(k *sumSteps, s []float32) FloatSums {
	var l momentLanes
	whole := len(s) &^ 7
	if whole == 0 {
		return l.join(s, s)
	}
	extremes := make([]float32, 0, 16*(2+MomentBlock/nextPart))
	unit, bound := math.Inf(1), 0.0
	// signed says that a sample was negative or not finite, rounded that a sum of samples may need rounding.
	signed, rounded := false, false
	for i, n := 0, firstPart; i < whole; i, n = i+n, nextPart {
		part := s[i:min(i+n, whole)]
		if signed {
			extremes = k.all(&l, part, extremes)
			continue
		}
		before, step := l, k.exact
		if rounded {
			step = k.rising
		}
		low, high := step(&l, part)
		top := float64(math.Float32frombits(high))
		if signed = high >= Infinity; !signed {
			extremes = append(extremes, math.Float32frombits(low), math.Float32frombits(high))
			if low == 0 {
				low = k.least(part)
			}
			if low > 0 {
				unit = min(unit, unitOf(low))
			}
			bound += float64(len(part)/8) * top
		}
		was := rounded
		rounded = rounded || bound >= unit*(1<<53)
		rise := !signed && minOf(&before.sum2) >= top*top
		switch {
		case rise && !rounded:
		case rise && minOf(&before.sum) >= top:
			if !was {
				l = before
				k.rising(&l, part)
			}
		default:
			l = before
			extremes = k.all(&l, part, extremes)
		}
	}
	for _, v := range l.sum {
		if v != v {
			// NaN, which vectors lose among the extremes.
			extremes = s
		}
	}
	return l.join(s[whole:], extremes)
}

func minOf(s *[8]float64) float64 {
	least := s[0]
	for _, v := range s[1:] {
		least = min(least, v)
	}
	return least
}

// floatSumBy is floatSumOf for blocks whose sums need no rounding, in any order; for others it also uses a kernel of
// sums. lanes takes the sums over every eighth sample of a row whose length is a multiple of eight, and returns the
// least of the samples' bits, or of those that are not 0, and the greatest.
func floatSumBy(lanes func(sum *[8]float64, s []float32) (low, high uint32), k *sumSteps, s []float32) Double {
	whole := len(s) &^ 7
	if whole == 0 {
		return floatSumOf(s)
	}
	var sums [8]float64
	low, high := lanes(&sums, s[:whole])
	if low == 0 {
		low = k.least(s[:whole])
	}
	if !SumsExactly(low, high, float64(whole/8)) {
		return floatSumsBy(k, s).Sum
	}
	var d [8]Double
	for i, v := range sums {
		d[i].Sum = v
	}
	for i, v := range s[whole:] {
		d[i].add(float64(v))
	}
	return joinLanes(&d)
}
