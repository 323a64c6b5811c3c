package processing

import "context"

// Frugal is a Backend that runs the classical detector in little memory: it fuses operations, part by part of the
// picture, so that their intermediate results need no planes. The results equal those of the operations.
type Frugal interface {
	Backend

	// FirstEstimate carries out op, whose Exclude is a plane of AllocMarks.
	FirstEstimate(ctx context.Context, op FirstEstimate) error
	// Classify carries out op, whose Exclude is a plane of AllocMarks.
	Classify(ctx context.Context, op Classify) error
	// AllocMarks returns a plane (U8) of samples 0 or 255 that stores them as bits.
	AllocMarks(w, h int) (Plane, error)
	// Mark writes 255 into a plane of AllocMarks on the spans, which are in reading order, and within a chessboard
	// distance of margin pixels; 0 elsewhere.
	Mark(ctx context.Context, dst Plane, spans []Span, margin int) error
}

// FirstEstimate writes 255 into Exclude (U8), 0 elsewhere, within Margin pixels of where Y (U16) exceeds its background
// by more than Over and V (U8) is at least Level. The background is the mean over the window of Radius of the opening
// by the square of that radius: Morph, BoxMean, DifferenceThreshold and Morph in one.
type FirstEstimate struct {
	Exclude, Y, V Plane
	Radius        int
	Over          uint16
	Level         uint8
	Margin        int
}

// Classify writes the class bits of Contrast and Cores into Class (U8), with Background over Radii, and as the peak of
// a pixel the strongest seed within PeakRadius.
type Classify struct {
	Class, Y, V, Exclude Plane
	Radii                []int
	Contrast             ContrastRule
	PeakRadius           int
	Cores                CoreRule
}
