package processing

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"blik/internal/message"
)

// Decision decides which candidates are glare, by a linear score of their measures for each detector. The weights come
// from a fit on rendered glare (blik fit); none is set by hand.
type Decision struct {
	// Version is that of the format.
	Version int `json:"version"`
	// Made describes what it was fitted on.
	Made string `json:"made"`
	// Rules holds the rule of each detector, by its ID.
	Rules map[string]*Rule `json:"rules"`
	// Auto is the detector that was best in cross-validation.
	Auto string `json:"auto"`
	// Stops are the named settings of the sensitivity.
	Stops []Stop `json:"stops"`
}

// DecisionVersion is the newest version of the format of a Decision.
const DecisionVersion = 1

// Rule is a linear score: Offset + Σ weight·z, where z is the measure less its mean over its standard deviation, at
// most ±zLimit. A measure that a candidate lacks counts as its mean.
type Rule struct {
	Offset  float64         `json:"offset"`
	Weights []MeasureWeight `json:"weights"`
	// Scale turns the sum into a score in steps of the sensitivity.
	Scale Scale `json:"scale"`
}

// MeasureWeight is the weight of a standardised measure.
type MeasureWeight struct {
	Measure   string  `json:"measure"`
	Weight    float64 `json:"weight"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

// Scale maps sums of a rule to scores. Sums[i], which fall with i, is the sum whose score is −(Least + i); between and
// beyond them the score is linear. A sum above Sums[i] is accepted from the sensitivity Least + i on.
type Scale struct {
	Least int       `json:"least"`
	Sums  []float64 `json:"sums"`
}

// Stop is a named sensitivity, with its results on rendered glare on paintings that were left out of the fit.
type Stop struct {
	ID          string  `json:"id"`
	Sensitivity float64 `json:"sensitivity"`
	// Bright and Dim are the shares found of glints whose darkest channel peaks at 120 or more, and of the others.
	// False is the number of false findings per megapixel without glare.
	Bright float64 `json:"bright"`
	Dim    float64 `json:"dim"`
	False  float64 `json:"false"`
}

// zLimit is the largest standardised value that counts.
const zLimit = 5

//go:embed decision.json
var decisionFile []byte

// DefaultDecision returns the decision that the program was built with. Callers must not change it.
func DefaultDecision() (*Decision, error) { return embedded() }

// ReadDecision reads a decision from JSON. It refuses other versions, and rules with unknown measures.
func ReadDecision(data []byte) (*Decision, error) {
	d := &Decision{}
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("decision: %w", err)
	}
	return d, d.Validate()
}

// Validate returns an error if the decision cannot be used.
func (d *Decision) Validate() error {
	if d.Version != DecisionVersion {
		return message.Errorf("the decision has version %d, this program reads version %d", d.Version, DecisionVersion)
	}
	names := map[string]bool{}
	for _, m := range Measures() {
		names[m.Name] = true
	}
	for id, r := range d.Rules {
		if r == nil {
			return fmt.Errorf("decision: rule %q is empty", id)
		}
		for _, w := range r.Weights {
			if !names[w.Measure] || !(w.Deviation > 0) || math.IsNaN(w.Weight+w.Mean) {
				return fmt.Errorf("decision: rule %q cannot weigh %q", id, w.Measure)
			}
		}
		falls := len(r.Scale.Sums) > 1
		for i := 1; i < len(r.Scale.Sums); i++ {
			falls = falls && r.Scale.Sums[i] < r.Scale.Sums[i-1]
		}
		if !falls {
			return fmt.Errorf("decision: the scale of rule %q does not fall", id)
		}
	}
	if d.Rules[d.Auto] == nil {
		return errors.New("decision: the rule of the automatic detector is missing")
	}
	return nil
}

// Standardizer returns a function that writes the standardised measures z of the weights, 0 for missing measures.
func (r *Rule) Standardizer() func(z, measures []float64) {
	index := r.index()
	return func(z, measures []float64) {
		for k, i := range index {
			z[k] = r.Weights[k].standard(measures[i])
		}
	}
}

// Summer returns a function that computes the weighted sum of measures.
func (r *Rule) Summer() func(measures []float64) float64 {
	index := r.index()
	return func(measures []float64) float64 { return r.sum(measures, index) }
}

// index returns the place of each weight's measure in Measures.
func (r *Rule) index() []int {
	list := Measures()
	index := make([]int, len(r.Weights))
	for k, w := range r.Weights {
		index[k] = slices.IndexFunc(list, func(m Measure) bool { return m.Name == w.Measure })
	}
	return index
}

func (w *MeasureWeight) standard(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max((v-w.Mean)/w.Deviation, -zLimit), zLimit)
}

// sum returns the weighted sum of measures; index is that of index().
func (r *Rule) sum(measures []float64, index []int) float64 {
	s := r.Offset
	for k, i := range index {
		s += float64(r.Weights[k].Weight * r.Weights[k].standard(measures[i]))
	}
	return s
}

// Score returns the score of a sum. A candidate is accepted if score + sensitivity is at least 0.
func (s *Scale) Score(sum float64) float64 {
	i := sort.Search(len(s.Sums), func(i int) bool { return s.Sums[i] <= sum })
	i = min(max(i, 1), len(s.Sums)-1)
	a, b := s.Sums[i-1], s.Sums[i]
	return -float64(s.Least+i-1) - (a-sum)/(a-b)
}
