package processing

import (
	"context"

	"blik/internal/parallel"
)

// Frugal is a Backend that detects in little memory: it fuses operations, part by part of the picture, so that their
// intermediate results need no planes, and stores the samples of selected pixels only. The results equal those of the
// operations.
type Frugal interface {
	Backend

	// FirstEstimate carries out op, whose Exclude is a plane of AllocMarks.
	FirstEstimate(ctx context.Context, op FirstEstimate) error
	// Classify carries out op and returns the background of the pixels with ClassCore or ClassGrow.
	Classify(ctx context.Context, op Classify) (background Plane, err error)
	// AllocAt returns a plane (U16) that stores only the pixels of where, which are in reading order. It serves as
	// destination of Deviation, StarletBand and BoxCount with that Where, and as source of MeasureRegions and Gather.
	AllocAt(w, h int, where []Span) (Plane, error)
	// AllocMarks returns a plane (U8) of samples 0 or 255 that stores them as bits. It serves as Exclude of
	// FirstEstimate, Classify, Background and Deviation, Member of MeasureRegions, and Class of BoxCount.
	AllocMarks(w, h int) (Plane, error)
	// Mark writes 255 into a plane of AllocMarks on the spans, which are in reading order, and within a chessboard
	// distance of margin pixels; 0 elsewhere.
	Mark(ctx context.Context, dst Plane, spans []Span, margin int) error
	// Borrow returns planes (U8) in the memory of p: one if p is U8, two if it is U16, with undefined content. They are
	// valid until p is written again; releasing them does not release p.
	Borrow(p Plane) ([]Plane, error)
	// Colours writes only Red, Green and Blue of op; Y and V may be nil.
	Colours(ctx context.Context, op Luminance) error
	// Trim frees the memory that operations keep for later ones.
	Trim()
	// TakeBytes releases a plane (U8) and hands its memory, with undefined content, to the caller.
	TakeBytes(p Plane) ([]uint8, error)
}

// Remote is a Backend with memory of its own: lists reach it faster than planes.
type Remote interface {
	Backend

	// LuminanceGlints carries out both operations, of which the second reads what the first writes, and records the
	// time of the second as the named stage. It works on parts of the picture while others are uploaded.
	LuminanceGlints(ctx context.Context, l Luminance, g Glints, stage string) error
	// FindGlints carries out l and g, labels the pixels of its logits that are not 0, and measures them (MeasureGlints). It
	// returns the spans of the components and their measures. For the stage see LuminanceGlints.
	FindGlints(ctx context.Context, l Luminance, g Glints, stage string) ([]Span, []GlintProps, error)
	// Draw writes 255 into dst (U8) where the spans are, 0 elsewhere.
	Draw(ctx context.Context, dst Plane, spans []Span) error
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

// firstEstimateBySteps carries out op one operation after the other.
func (d *detector) firstEstimateBySteps(op FirstEstimate) error {
	if err := d.do(Morph{Dst: d.b, Src: op.Y, Op: Open, Element: Square(op.Radius)}); err != nil {
		return err
	}
	if err := d.do(BoxMean{Dst: d.seed, Src: d.b, Radius: op.Radius}); err != nil {
		return err
	}
	if err := d.do(DifferenceThreshold{
		Dst: op.Exclude, Y: op.Y, Background: d.seed, V: op.V, Over: op.Over, Level: op.Level,
	}); err != nil {
		return err
	}
	return d.do(Morph{Dst: op.Exclude, Src: op.Exclude, Op: Dilate, Element: Square(op.Margin)})
}

// classifyBySteps carries out op one operation after the other, and leaves the background in d.b.
func (d *detector) classifyBySteps(op Classify) error {
	if err := d.stage(stepBackground(), func() error {
		return d.do(Background{Dst: d.b, Y: op.Y, Exclude: op.Exclude, Radii: op.Radii})
	}); err != nil {
		return err
	}
	return d.stage(stepCores(), func() error {
		err := d.do(Contrast{Class: op.Class, Seed: d.seed, Y: op.Y, Background: d.b, V: op.V, Rule: op.Contrast})
		if err != nil {
			return err
		}
		if err := d.do(Morph{Dst: d.seed, Src: d.seed, Op: Dilate, Element: Square(op.PeakRadius)}); err != nil {
			return err
		}
		return d.do(Cores{Class: op.Class, Y: op.Y, Background: d.b, Peak: d.seed, Rule: op.Cores})
	})
}

// emptyMask returns the mask for the result; on a frugal backend in the memory of V, which is no longer read.
func (d *detector) emptyMask() (*Mask, error) {
	if d.frugal == nil {
		return <-d.mask, nil
	}
	pix, err := d.frugal.TakeBytes(d.v)
	if err != nil {
		return nil, err
	}
	m := &Mask{Width: d.w, Height: d.h, Pix: pix}
	parallel.Split(len(pix), 1<<20, func(a, b int) { clear(pix[a:b]) })
	return m, nil
}

// at returns a plane for the pixels of where; on a backend that is not frugal, a whole plane.
func (d *detector) at(where []Span) (Plane, error) {
	if d.frugal != nil {
		return d.frugal.AllocAt(d.w, d.h, where)
	}
	return d.be.Alloc(U16, d.w, d.h)
}
