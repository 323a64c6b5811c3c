package correct

import (
	"context"

	"blik/internal/message"

	"blik/processing"
)

// methods returns the table of the methods: a row for each, described in the file of the method.
func methods() []method {
	return []method{
		processing.MethodAuto:     {},
		processing.MethodSubtract: subtractMethod(),
		processing.MethodHarmonic: harmonicMethod(),
		processing.MethodExemplar: exemplarMethod(),
	}
}

// method describes how a Method fills.
type method struct {
	// light: the method separates light from paint, on roots of linear light; the others work on the samples.
	light bool
	// passes are what the backend computes for the method.
	passes []pass
	// fill then works on one spot, on a single thread; nil if nothing is left to do.
	fill func(s *site, ctx context.Context)
}

// pass is a step that the backend takes for all spots of a batch whose methods need it.
type pass uint8

// The passes in the order in which they are taken.
const (
	passLight pass = iota
	passHarmonic
	passCount
)

// passes returns the name of each pass and what computes it.
func passes() [passCount]struct {
	name message.Message
	run  func(*corrector, *atlas) error
} {
	return [passCount]struct {
		name message.Message
		run  func(*corrector, *atlas) error
	}{
		passLight:    {message.Of("light"), (*corrector).lookThrough},
		passHarmonic: {message.Of("harmonic").Context("stage"), (*corrector).harmonic},
	}
}
