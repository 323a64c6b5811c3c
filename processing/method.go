package processing

import "blik/internal/message"

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

// methodChoices are the IDs of the methods in flags, presets and reports, and their names in the window.
func methodChoices() [methodCount]Choice {
	return [methodCount]Choice{
		MethodAuto:     {"auto", message.Of("auto")},
		MethodSubtract: {"subtract", message.Of("subtract the light")},
		MethodHarmonic: {"harmonic", message.Of("harmonic")},
		MethodExemplar: {"exemplar", message.Of("exemplar")},
	}
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
func (m Method) ID() string { return methodChoices()[m].ID }

// Name returns the name of the method for the user.
func (m Method) Name() message.Message { return methodChoices()[m].Name }
