package processing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"blik/internal/message"
)

// Aspect is a heading under which measures are summed up for the user.
type Aspect uint8

// The aspects.
const (
	AspectNetwork Aspect = iota
	AspectNeighbours
	AspectRise
	AspectGround
	AspectWhite
	AspectColour
	AspectForm
	AspectSearch
	AspectReduced
	aspectCount
)

// ID returns a short name of the aspect.
func (a Aspect) ID() string {
	return [aspectCount]string{"network", "neighbours", "rise", "ground", "white", "colour", "form", "search",
		"reduced"}[a]
}

// Name returns the aspect in words.
func (a Aspect) Name() message.Message {
	return [aspectCount]message.Message{
		message.Of("what the network sees"), message.Of("glints nearby"), message.Of("rise over the ground"),
		message.Of("the ground around"), message.Of("whiteness"), message.Of("colour"), message.Of("size and form"),
		message.Of("the classical search"), message.Of("found at a reduced size only"),
	}[a]
}

// Reason is what one aspect of a finding contributes to its score, compared with the average candidate.
type Reason struct {
	Aspect Aspect
	// Value is in the unit of the score; above 0 it speaks for glare.
	Value float64
}

// Message returns the reason in words, with its value.
func (r Reason) Message() message.Message {
	figures := message.Figures(strings.Replace(fmt.Sprintf("%+.1f", r.Value), "-", "−", 1))
	if r.Value > 0 {
		return message.Of("for: %s (%s)", r.Aspect.Name(), figures)
	}
	return message.Of("against: %s (%s)", r.Aspect.Name(), figures)
}

// MarshalJSON writes the aspect by its ID.
func (r Reason) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"aspect":%q,"value":%.3f}`, r.Aspect.ID(), r.Value), nil
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (r *Reason) UnmarshalJSON(text []byte) error {
	var v struct {
		Aspect string  `json:"aspect"`
		Value  float64 `json:"value"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	for a := range aspectCount {
		if a.ID() == v.Aspect {
			*r = Reason{a, v.Value}
			return nil
		}
	}
	return fmt.Errorf("there is no aspect %q", v.Aspect)
}

// explainer returns a function that returns the reasons for measures: what speaks for and against a candidate,
// strongest first. Contributions below leastReason are left out.
func (r *Rule) explainer() func(measures []float64) []Reason {
	const leastReason = 0.05
	index, list, unit := r.index(), Measures(), r.Scale.unit()
	aspects := make([]Aspect, len(index))
	for k, i := range index {
		aspects[k] = list[i].Aspect
	}
	return func(measures []float64) []Reason {
		var sums [aspectCount]float64
		for k, i := range index {
			sums[aspects[k]] += float64(r.Weights[k].Weight * r.Weights[k].standard(measures[i]))
		}
		out := make([]Reason, 0, aspectCount)
		for a, s := range sums {
			if v := s / unit; math.Abs(v) >= leastReason {
				out = append(out, Reason{Aspect(a), v})
			}
		}
		slices.SortStableFunc(out, func(a, b Reason) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
		if len(out) == 0 {
			return nil
		}
		return out
	}
}

// reasons returns what spoke for the candidate and against it, strongest first.
func (c *candidate) reasons(explain func(measures []float64) []Reason) []Reason {
	list := explain(c.measures)
	if c.side > 1 {
		list = append(list, Reason{AspectReduced, -octaveDoubt - c.sheet})
		slices.SortStableFunc(list, func(a, b Reason) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	}
	return list
}

// unit returns the mean difference between the sums of neighbouring steps of the score.
func (s *Scale) unit() float64 {
	n := len(s.Sums)
	return (s.Sums[0] - s.Sums[n-1]) / float64(n-1)
}
