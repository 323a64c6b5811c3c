package processing

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"

	"blik/internal/message"
	"blik/processing/internal/linear"
	"blik/processing/network"
)

// Learned adjusts the decision to a user's own pictures. It shifts the score of a component according to its vector, by
// at most LearnedReach.
//
// The vector of a component holds the means, over its pixels, of the channels of the network's last hidden layer, the
// logarithm of its strength, and its rise in levels. Each entry is standardised: minus its Mean, over its Deviation,
// limited to ±5.
type Learned struct {
	// Basis is LearnedBasis of the network that it was learned with.
	Basis string `json:"basis"`
	// Way is how the vector moves the score.
	Way LearnedWay `json:"way"`
	// Mean and Deviation standardise the vector.
	Mean      []float64 `json:"mean"`
	Deviation []float64 `json:"deviation"`
	// Offset and Weights are those of WayShift.
	Offset  float64   `json:"offset,omitempty"`
	Weights []float64 `json:"weights,omitempty"`
	// Gain, Glare and Paint are those of WayConjugacy: the rows of Glare and of Paint are orthonormal.
	Gain  float64     `json:"gain,omitempty"`
	Glare [][]float64 `json:"glare,omitempty"`
	Paint [][]float64 `json:"paint,omitempty"`
}

// LearnedWay is a way in which a vector moves a score.
type LearnedWay string

// The ways.
const (
	// WayShift adds Offset + Weights·z for the standardised vector z.
	WayShift LearnedWay = "shift"
	// WayConjugacy adds Gain·(R(Glare) − R(Paint)), where R(X) = |X·z|²/|z|² is the conjugacy indicator of Fursov: the
	// squared cosine of the angle between z and a subspace, of the vectors of glare or of paint.
	WayConjugacy LearnedWay = "conjugacy"
)

// LearnedReach is the largest shift of a score, in steps of the sensitivity: at worst, a preset does to other paintings
// what such a step does. What the default decides with more certainty stays as it is.
const LearnedReach = 1.0

// learnedLimit is the largest standardised component that counts.
const learnedLimit = 5.0

// Standardize writes the standardised vector.
func (l *Learned) Standardize(z, vector []float64) {
	for i, v := range vector {
		z[i] = min(max((v-l.Mean[i])/l.Deviation[i], -learnedLimit), learnedLimit)
	}
}

// Shift returns the shift of a component's score.
func (l *Learned) Shift(vector []float64) float64 {
	z := make([]float64, len(vector))
	l.Standardize(z, vector)
	s := 0.0
	if l.Way == WayShift {
		s = l.Offset + linear.Dot(l.Weights, z)
	} else {
		s = l.Gain * (conjugacy(l.Glare, z) - conjugacy(l.Paint, z))
	}
	return min(max(s, -LearnedReach), LearnedReach)
}

// conjugacy is the squared cosine, 0…1, of the angle between a vector and the subspace that the orthonormal rows of
// basis span: xᵀQx / xᵀx with Q = X·X⁺ for the pseudo-inverse X⁺ of the vectors X that span it (V. A. Fursov). It is 0
// for a vector of zeros.
func conjugacy(basis [][]float64, x []float64) float64 {
	length := linear.Dot(x, x)
	if length == 0 {
		return 0
	}
	s := 0.0
	for _, b := range basis {
		d := linear.Dot(b, x)
		s += float64(d * d)
	}
	return s / length
}

// Validate returns an error for the user if l is damaged, or was learned with a network that gives other
// vectors.
func (l *Learned) Validate(model *network.Model) error {
	basis, n := LearnedBasis(model)
	if l.Basis != basis {
		return message.Errorf("the preset was learned with another version of the detector; learn it again")
	}
	return l.check(n)
}

// LearnedBasis returns a hash that identifies the vectors that a network gives, and their length.
func LearnedBasis(model *network.Model) (basis string, length int) {
	sum := sha256.New()
	sum.Write([]byte("channels, log strength (mean logit, sum for its radius, company), rise\n"))
	sum.Write(model.Checksum[:])
	return hex.EncodeToString(sum.Sum(nil)[:8]), model.Hidden() + 2
}

// check returns an error if l cannot be used for vectors of length n.
func (l *Learned) check(n int) error {
	damaged := message.Errorf("the learned part of the preset is damaged")
	if len(l.Mean) != n || len(l.Deviation) != n || l.Way != WayShift && l.Way != WayConjugacy ||
		l.Way == WayShift && len(l.Weights) != n {
		return damaged
	}
	numbers := [][]float64{l.Mean, l.Deviation, l.Weights, {l.Offset, l.Gain}}
	for _, b := range slices.Concat(l.Glare, l.Paint) {
		// Rows that are not of length 1 would not give a cosine.
		if numbers = append(numbers, b); len(b) != n || !(math.Abs(linear.Dot(b, b)-1) < 1e-6) {
			return damaged
		}
	}
	for _, list := range numbers {
		for _, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return damaged
			}
		}
	}
	if slices.Min(l.Deviation) <= 0 {
		return damaged
	}
	return nil
}
