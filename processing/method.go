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

// methodRow describes a method.
type methodRow struct {
	// number stands for the method in files, and never changes.
	number uint8
	// id is its name in flags, presets and reports.
	id string
	// name is its name for the user, word a short one for lists, does what it does to a finding, and help more of it.
	name, word, does, help message.Message
}

// methodRows returns the table of the methods.
func methodRows() [methodCount]methodRow {
	return [methodCount]methodRow{
		MethodAuto: {
			number: 0, id: "auto", name: message.Of("auto"), word: message.Of("auto").Context("word"),
			does: message.Of("As others"), help: message.Of("By the method chosen for all findings."),
		},
		MethodSubtract: {
			number: 1, id: "subtract", name: message.Of("subtract the light"),
			word: message.Of("subtract").Context("word"), does: message.Of("Subtract light"),
			help: message.Of("Takes the light away and keeps the paint under it; suits glare that is not pure white."),
		},
		MethodHarmonic: {
			number: 4, id: "harmonic", name: message.Of("harmonic"), word: message.Of("harmonic").Context("word"),
			does: message.Of("Smooth over"),
			help: message.Of("Continues the colours of the edge inwards; suits small findings."),
		},
		MethodExemplar: {
			number: 7, id: "exemplar", name: message.Of("exemplar"), word: message.Of("exemplar").Context("word"),
			does: message.Of("Copy nearby"),
			help: message.Of("Copies brushwork from nearby; suits large findings that are pure white."),
		},
	}
}

// formerMethods maps the IDs of methods that no longer exist to the one that stands for them.
func formerMethods() map[string]string {
	const now = "harmonic"
	return map[string]string{"median": now, "convolution": now, "biharmonic": now, "telea": now}
}

// Methods returns all methods in their order.
func Methods() []Method {
	all := make([]Method, methodCount)
	for i := range all {
		all[i] = Method(i)
	}
	return all
}

// Number returns the number of the method in files, which never changes.
func (m Method) Number() uint8 { return methodRows()[m].number }

// MethodByNumber is the inverse of Number; harmonic stands for the methods 2, 3, 5 and 6, which no longer exist. ok is
// false for a number that never was one.
func MethodByNumber(number uint8) (m Method, ok bool) {
	for m, row := range methodRows() {
		if row.number == number {
			return Method(m), true
		}
	}
	return MethodHarmonic, number < 7
}

// ID returns the name of the method in flags, presets and reports.
func (m Method) ID() string { return methodRows()[m].id }

// Name returns the name of the method for the user.
func (m Method) Name() message.Message { return methodRows()[m].name }

// Word returns a short name for lists.
func (m Method) Word() message.Message { return methodRows()[m].word }

// Does says in two words what the method does to a finding.
func (m Method) Does() message.Message { return methodRows()[m].does }

// Help says what the method does to a finding, and what it suits.
func (m Method) Help() message.Message { return methodRows()[m].help }
