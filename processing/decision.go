package processing

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"sync"

	"blik/internal/message"
)

// Decision turns the strength that the network gives a component into a score in steps of the sensitivity, and holds
// what was measured on crops of paintings that were left out of the training, by which its recipe was chosen.
type Decision struct {
	// Version is that of the format.
	Version int `json:"version"`
	// Made describes what it was measured on.
	Made string `json:"made"`
	// Strengths are the least strengths that the sensitivities −5, −4 … 5 accept. They fall.
	Strengths []float64 `json:"strengths"`
	// Stops are the named settings of the sensitivity.
	Stops []Stop `json:"stops"`
	// Wrong is the share of wrong findings by score: linear between its points, constant beyond them; empty if it was
	// not measured.
	Wrong []WrongShare `json:"wrong"`
}

// DecisionVersion is the version of the format of a Decision.
const DecisionVersion = 2

// Stop is a named sensitivity. What it finds was measured on those crops if Bright is not 0.
type Stop struct {
	ID          string  `json:"id"`
	Sensitivity float64 `json:"sensitivity"`
	// Bright and Dim are the shares found of glints whose darkest channel peaks at 120 or more, and of the others.
	// False is the number of false findings per megapixel without glare.
	Bright float64 `json:"bright,omitempty"`
	Dim    float64 `json:"dim,omitempty"`
	False  float64 `json:"false,omitempty"`
}

// WrongShare is the expected share, 0…1, of wrong findings among those with a score.
type WrongShare struct {
	Score float64 `json:"score"`
	Wrong float64 `json:"wrong"`
}

//go:embed decision.json
var decisionFile []byte

// DefaultDecision returns the decision that the program was built with. Callers must not change it.
var DefaultDecision = sync.OnceValues(func() (*Decision, error) { return ReadDecision(decisionFile) })

// ReadDecision reads a decision from JSON. It refuses other versions and tables that are out of order.
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
	if n := 2*mostSensitivity + 1; len(d.Strengths) != n {
		return fmt.Errorf("decision: %d strengths, must be %d", len(d.Strengths), n)
	}
	for i, s := range d.Strengths {
		if !(s > 0 && s < math.MaxFloat32) || i > 0 && s >= d.Strengths[i-1] {
			return fmt.Errorf("decision: strength %d is %g, but they must fall and stay above 0", i+1, s)
		}
	}
	for i, w := range d.Wrong {
		if !(w.Wrong >= 0 && w.Wrong <= 1) || math.IsNaN(w.Score) || i > 0 && w.Score <= d.Wrong[i-1].Score {
			return fmt.Errorf("decision: row %d of the shares of wrong findings is not valid", i+1)
		}
	}
	return nil
}

// Score returns the score of a strength: a finding is accepted if its score plus the sensitivity is at least 0. It is
// linear in the logarithm of the strength between the strengths of the table, and beyond them.
func (d *Decision) Score(strength float64) float64 {
	i := sort.Search(len(d.Strengths), func(i int) bool { return d.Strengths[i] <= strength })
	i = min(max(i, 1), len(d.Strengths)-1)
	a, b := math.Log(d.Strengths[i-1]), math.Log(d.Strengths[i])
	return float64(mostSensitivity-i+1) - (a-math.Log(strength))/(a-b)
}

// Certainty returns the expected probability, 0…1, that a finding with a score is right; 0 if that was not measured.
func (d *Decision) Certainty(score float64) float64 {
	n := len(d.Wrong)
	if n == 0 {
		return 0
	}
	i := sort.Search(n, func(i int) bool { return d.Wrong[i].Score > score })
	switch i {
	case 0:
		return 1 - d.Wrong[0].Wrong
	case n:
		return 1 - d.Wrong[n-1].Wrong
	}
	a, b := d.Wrong[i-1], d.Wrong[i]
	return 1 - a.Wrong - float64((b.Wrong-a.Wrong)*(score-a.Score)/(b.Score-a.Score))
}
