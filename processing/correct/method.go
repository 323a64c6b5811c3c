package correct

import (
	"context"

	"blik/processing"
)

// methods returns the table of the methods, each in a file of its own.
func methods() []method {
	return []method{
		processing.MethodAuto:     {},
		processing.MethodSubtract: {solve: stepLight},
		processing.MethodHarmonic: {solve: stepHarmonic},
		processing.MethodExemplar: {solve: stepLight, fill: (*site).exemplar},
	}
}

// method describes how a Method fills.
type method struct {
	// solve is the step that works on the spots of all sites together: stepLight separates light from paint, on roots
	// of linear light, stepHarmonic works on the samples.
	solve step
	// fill then works on one spot, on a single thread; nil if nothing is left to do.
	fill func(s *site, ctx context.Context)
}

// light reports whether the method separates light from paint.
func (m *method) light() bool { return m.solve == stepLight }
