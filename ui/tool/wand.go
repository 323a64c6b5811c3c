package tool

import "blik/processing"

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
