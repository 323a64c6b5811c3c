package tool

import "blik/processing"

// Picker removes a finding from the mask on a click, and restores it on the next.
type Picker struct {
	idle
	// Toggle receives the position of the click and the distance within which a finding counts as hit.
	Toggle func(at processing.Point, slack float64)
	// Hit reports whether a click there would have an effect; it may be nil.
	Hit func(at processing.Point, slack float64) bool
}

// Press toggles the finding under the pointer.
func (p *Picker) Press(e Event) {
	if !e.Secondary {
		p.Toggle(e.At, e.Slack)
	}
}

// Pointer is a hand over a finding.
func (p *Picker) Pointer(e Event) Pointer {
	if p.Hit != nil && p.Hit(e.At, e.Slack) {
		return Hand
	}
	return Arrow
}

// Wand marks a glint at a click, or removes one that is marked.
type Wand struct {
	idle
	// Touch receives the position of the click and the distance within which a glint counts as hit.
	Touch func(at processing.Point, slack float64)
}

// Press marks or removes the glint under the pointer.
func (w *Wand) Press(e Event) {
	if !e.Secondary {
		w.Touch(e.At, e.Slack)
	}
}

func (*Wand) Pointer(Event) Pointer { return Cross }
