package detect

import (
	"fmt"
	"math"

	"blik/internal/message"

	"blik/processing"
)

// GlintKind is what the network says a component is.
type GlintKind uint8

// GlintKinds is the number of kinds: KindGlare, KindPaint, KindEdge and KindOther.
const GlintKinds = 4

// ID returns a short name of the kind.
func (k GlintKind) ID() string {
	return [GlintKinds]string{"glare", "paint", "edge", "other"}[k%GlintKinds]
}

// Name returns the kind in words.
func (k GlintKind) Name() message.Message {
	return [GlintKinds]message.Message{
		message.Of("glare"), message.Of("painted light"), message.Of("edge or support"), message.Of("canvas or grain"),
	}[k%GlintKinds]
}

// MarshalText writes the ID.
func (k GlintKind) MarshalText() ([]byte, error) { return []byte(k.ID()), nil }

// UnmarshalText is the inverse of MarshalText.
func (k *GlintKind) UnmarshalText(text []byte) error {
	for i := range GlintKind(GlintKinds) {
		if i.ID() == string(text) {
			*k = i
			return nil
		}
	}
	return fmt.Errorf("there is no kind %q", text)
}

// Evidence is what a finding was judged by. It is zero for one that was painted; Strength is 0 for one of the classical
// detector.
type Evidence struct {
	// Strength is √evidence, of the mean and the sum of the network's logits and of how far the outline rises for its
	// size, times a factor for the glints around.
	Strength float64 `json:"strength,omitempty"`
	// Rise is how far its peak rises above the ground around, in levels.
	Rise int `json:"rise,omitempty"`
	// Shares are the shares of the strength, 0…1, by kind; Kind is that of the largest.
	Shares [GlintKinds]float64 `json:"shares"`
	Kind   GlintKind           `json:"kind"`
	// Certainty is the expected probability, 0…1, that it is glare; 0 if that was not measured.
	Certainty float64 `json:"certainty,omitempty"`
	// Check: a person should look at it, because it is probably not glare, or large and not certain.
	Check bool `json:"check,omitempty"`
}

// Findings of more than largeArea pixels need a certainty of at least leastCertainty, or a person who looks at them.
const (
	largeArea      = 30
	leastCertainty = 0.9
)

// NeedsCheck reports whether a person should look at a finding of an area with that evidence of the network.
func (e *Evidence) NeedsCheck(area int) bool {
	return e.Kind != processing.KindGlare || area > largeArea && e.Certainty < leastCertainty
}

// Reason is one line of what a finding was judged by.
type Reason struct{ Name, Value message.Message }

// Reasons says in words what the finding was judged by; empty for one that was painted. The certainty is left out: it
// is that of a search rather than of a finding, because it hardly depends on the score.
func (f *Finding) Reasons() []Reason {
	e := &f.Evidence
	if e.Strength == 0 && e.Rise == 0 {
		return nil
	}
	whole := func(share float64) int { return int(math.Round(100 * share)) }
	var list []Reason
	// A network that knows no kinds calls everything glare.
	if e.Strength > 0 && e.Shares[processing.KindGlare] < 1 {
		list = append(list, Reason{message.Of("looks like"),
			message.Of("%s (%d %%)", e.Kind.Name(), whole(e.Shares[e.Kind]))})
	}
	list = append(list, Reason{message.Of("rises above its surroundings"), message.Of("%d levels", e.Rise)})
	if e.Strength > 0 {
		list = append(list, Reason{message.Of("strength"), message.Of("%.1f (score %+.1f)", e.Strength, f.Score)})
	}
	list = append(list, Reason{message.Of("size"), message.Of("%d px", f.Area)})
	if e.Check {
		why := message.Of("probably not glare")
		if e.Kind == processing.KindGlare {
			why = message.Of("large and not certain")
		}
		list = append(list, Reason{message.Of("look at it"), why})
	}
	return list
}

// Message returns the reason in one piece.
func (r Reason) Message() message.Message { return message.Of("%s: %s", r.Name, r.Value) }
