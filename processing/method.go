package processing

import (
	"context"

	"blik/internal/message"
)

// Method is how a glint is corrected.
type Method uint8

// The methods. If a spot lacks what a method needs, such as room for exemplars, another one takes its place, and the
// patch reports which.
const (
	// MethodAuto chooses by the spot's size and by how much of it is clipped.
	MethodAuto Method = iota
	// MethodSubtract subtracts the light along its colour and keeps the paint under it; clipped pixels are filled.
	MethodSubtract
	// MethodHarmonic solves Laplace's equation from the ring.
	MethodHarmonic
	// MethodExemplar copies patches from nearby and blends them (Criminisi, Pérez & Toyama 2004).
	MethodExemplar

	methodCount
)

// methods returns the table of the methods: a row for each, described in the file of the method.
func methods() [methodCount]method {
	return [methodCount]method{
		MethodAuto:     {id: "auto", name: message.Of("auto")},
		MethodSubtract: subtractMethod(),
		MethodHarmonic: harmonicMethod(),
		MethodExemplar: exemplarMethod(),
	}
}

// method describes one Method.
type method struct {
	// id is used in flags, presets and reports, name in the window.
	id   string
	name message.Message
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

// methodChoices returns the methods as values of a parameter, in their order.
func methodChoices() []Choice {
	var list []Choice
	for _, m := range methods() {
		list = append(list, Choice{m.id, m.name})
	}
	return list
}

// formerMethods maps the IDs of methods that no longer exist to the one that stands for them.
func formerMethods() map[string]string {
	const now = "harmonic"
	return map[string]string{"median": now, "convolution": now, "biharmonic": now, "telea": now}
}

// Number returns the number of the method in files, which never changes. The numbers 2, 3, 5 and 6 belonged to methods
// that no longer exist.
func (m Method) Number() uint8 {
	return [methodCount]uint8{MethodAuto: 0, MethodSubtract: 1, MethodHarmonic: 4, MethodExemplar: 7}[m]
}

// MethodByNumber is the inverse of Number; harmonic stands for the methods that no longer exist. ok is false for a
// number that never was one.
func MethodByNumber(number uint8) (m Method, ok bool) {
	switch number {
	case 0:
		return MethodAuto, true
	case 1:
		return MethodSubtract, true
	case 7:
		return MethodExemplar, true
	}
	return MethodHarmonic, number < 7
}

// ID returns the name of the method in flags, presets and reports.
func (m Method) ID() string { return methods()[m].id }

// Name returns the name of the method for the user.
func (m Method) Name() message.Message { return methods()[m].name }
