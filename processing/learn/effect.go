package learn

import (
	"cmp"
	"math"
	"slices"

	"blik/processing"
)

// Effect is what something learned does to the spots that it was learned from.
type Effect struct {
	// Glare and Paint are the means by which it moves the scores of spots of glare and of paint.
	Glare, Paint float64
	// Aspects are what tells the two apart, strongest first; empty for the conjugacy indicator, which weighs a vector
	// as a whole.
	Aspects []processing.Aspect
}

// mostAspects is how many aspects an Effect names.
const mostAspects = 3

// EffectOn returns what l does to spots of both kinds.
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
		l.Standardise(z, s.Vector)
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

// telling returns the aspects by which weights set glare above paint most, for the mean difference of each component.
func telling(weights []float64, difference func(i int) float64) []processing.Aspect {
	sums := map[processing.Aspect]float64{}
	list := processing.Measures()
	for i, w := range weights {
		// Beyond the measures come the channels of the network.
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
