package learn

import (
	"cmp"
	"math"
	"slices"

	"blik/processing"
)

// Effect describes how a learned adjustment changes the scores of the spots that it was learned from.
type Effect struct {
	// Glare and Paint are the mean changes of the scores of glare spots and of paint spots.
	Glare, Paint float64
	// Aspects are the properties that separate the two, strongest first; empty for the conjugacy indicator, which
	// evaluates a vector as a whole.
	Aspects []processing.Aspect
}

// mostAspects is the number of aspects that an Effect names.
const mostAspects = 3

// EffectOn returns the effect of l on spots of both kinds.
func EffectOn(l *processing.Learned, spots []Spot) Effect {
	var e Effect
	var n [2]float64
	var mean [2][]float64
	for k := range mean {
		mean[k] = make([]float64, len(l.Mean))
	}
	z := make([]float64, len(l.Mean))
	for _, s := range spots {
		k, sum := 0, &e.Paint
		if s.Glare {
			k, sum = 1, &e.Glare
		}
		*sum += l.Shift(s.Vector)
		l.Standardize(z, s.Vector)
		for i, v := range z {
			mean[k][i] += v
		}
		n[k]++
	}
	if n[0] == 0 || n[1] == 0 {
		return Effect{}
	}
	e.Paint /= n[0]
	e.Glare /= n[1]
	if l.Way == processing.WayShift {
		e.Aspects = telling(l.Weights, func(i int) float64 { return mean[1][i]/n[1] - mean[0][i]/n[0] })
	}
	return e
}

// telling returns the aspects whose weights separate glare from paint best, given the mean difference of each
// component.
func telling(weights []float64, difference func(i int) float64) []processing.Aspect {
	sums := map[processing.Aspect]float64{}
	list := processing.Measures()
	for i, w := range weights {
		// The channels of the network follow the measures.
		a := processing.AspectNetwork
		if i < len(list) {
			a = list[i].Aspect
		}
		sums[a] += w * difference(i)
	}
	var aspects []processing.Aspect
	for a, s := range sums {
		if s > 0 {
			aspects = append(aspects, a)
		}
	}
	slices.SortFunc(aspects, func(a, b processing.Aspect) int {
		return cmp.Or(-cmp.Compare(math.Abs(sums[a]), math.Abs(sums[b])), cmp.Compare(a, b))
	})
	return aspects[:min(len(aspects), mostAspects)]
}
