package synth

import (
	"math"
	"math/rand/v2"
)

// stream returns the generator of one purpose of a seed; the streams of a seed are independent of each other.
func stream(seed, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(seed), mix(purpose^0x9e3779b97f4a7c15)))
}

// mix is the finaliser of SplitMix64 (Steele, Lea & Flood 2014): a bijection whose output bits all depend on all
// input bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// normals returns the quantiles of the standard normal distribution at the midpoints of 65,536 equal shares, so that 16
// random bits yield a normal deviate (within ±4.2).
func normals() []float32 {
	t := make([]float32, 1<<16)
	for i := range t {
		p := (float64(i) + 0.5) / float64(len(t))
		t[i] = float32(math.Sqrt2 * math.Erfinv(2*p-1))
	}
	return t
}

// Range is an interval from which values are drawn.
type Range struct{ Min, Max float64 }

// holds reports whether s is ordered and lies within r.
func (r Range) holds(s Range) bool { return r.Min <= s.Min && s.Min <= s.Max && s.Max <= r.Max }

func (r Range) uniform(g *rand.Rand) float64 { return r.Min + (r.Max-r.Min)*g.Float64() }

// logUniform draws uniformly in the logarithm; Min must be positive.
func (r Range) logUniform(g *rand.Rand) float64 {
	return r.Min * math.Pow(r.Max/r.Min, g.Float64())
}

// power draws from a density ∝ x^−(e+1) between Min > 0 and Max; with e = 0 it is uniform in the logarithm.
func (r Range) power(g *rand.Rand, e float64) float64 {
	if math.Abs(e) < 1e-9 {
		return r.logUniform(g)
	}
	a, b := math.Pow(r.Min, -e), math.Pow(r.Max, -e)
	return math.Pow(a+(b-a)*g.Float64(), -1/e)
}

// pick returns an index drawn in proportion to the weights, or −1 when none is positive.
func pick(g *rand.Rand, weights ...float64) int {
	var sum float64
	for _, w := range weights {
		sum += math.Max(w, 0)
	}
	if sum == 0 {
		return -1
	}
	t := g.Float64() * sum
	last := -1
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		if last = i; t < w {
			return i
		}
		t -= w
	}
	return last
}
