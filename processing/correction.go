package processing

import "blik/internal/message"

// Method is how a glint is corrected.
type Method uint8

// The methods. Where a method needs something that a spot does not have (unclipped light to subtract, room for
// exemplars), the next that can do it takes its place, and the patch says which did.
const (
	// MethodAuto chooses by the spot's size and by how much of it is clipped.
	MethodAuto Method = iota
	// MethodSubtract takes the light away along its colour and leaves the paint under it; what is clipped is filled.
	MethodSubtract
	// MethodMedian fills with the median of the ring around the spot.
	MethodMedian
	// MethodConvolution fills by normalised convolution (Knutsson & Westin 1993).
	MethodConvolution
	// MethodHarmonic solves Laplace's equation from the ring.
	MethodHarmonic
	// MethodBiharmonic solves the biharmonic equation from two rings.
	MethodBiharmonic
	// MethodTelea marches inwards (Telea 2004).
	MethodTelea
	// MethodExemplar copies patches from nearby and blends them (Criminisi, Pérez & Toyama 2004).
	MethodExemplar

	methodCount
)

// methodChoices names the methods, in their order.
func methodChoices() []Choice {
	return []Choice{
		{"auto", message.Of("auto")},
		{"subtract", message.Of("subtract the light")},
		{"median", message.Of("ring median")},
		{"convolution", message.Of("normalised convolution")},
		{"harmonic", message.Of("harmonic")},
		{"biharmonic", message.Of("biharmonic")},
		{"telea", message.Of("Telea")},
		{"exemplar", message.Of("exemplar")},
	}
}

// ID returns the name of the method as flags, presets and reports write it.
func (m Method) ID() string { return methodChoices()[m].ID }

// Name returns the name of the method as a person reads it.
func (m Method) Name() message.Message { return methodChoices()[m].Name }

// Spot is a piece of the mask that is corrected as one: an 8-connected component.
type Spot struct {
	// ID counts from 1 in reading order of the topmost, leftmost pixel.
	ID int
	// Method is used instead of Params.Method where it is not MethodAuto.
	Method Method
	// Runs are its pixels in reading order.
	Runs []Run
}

// Patch is what correction made of one spot.
type Patch struct {
	// Spot is the ID of the spot.
	Spot int
	// Method is the one that was really used.
	Method Method
	// Runs are the pixels that may differ from the source, in reading order: the spot and its halo. Patches of one mask
	// never overlap: a halo pixel belongs to the nearest spot.
	Runs []Run
	// Exactly one is set, as in Picture: the new samples of the pixels of Runs, in order, Channels each. Where nothing
	// needed to change they are those of the source, bit for bit.
	U8  []uint8
	U16 []uint16
	F32 []float32
}

// Correction is the result of Correct.
type Correction struct {
	// Patches are in the order of the spots.
	Patches []Patch
	// Timings are the stages of the backend.
	Timings []StageTime
	// Device is the name of the backend that ran it.
	Device string
}

// CorrectOptions are the options of Correct besides the parameters.
type CorrectOptions struct {
	// Spots limits the work to these pieces of the mask, each with its own method; nil is all of Spots(mask).
	Spots []Spot
	// Progress may be nil.
	Progress Progress
}
