package processing

import (
	"context"

	"blik/internal/parallel"
)

// Frugal is a Backend that detects in little memory: it takes several operations together, part by part of the picture,
// so that what lies between them needs no planes of its own, and it keeps the samples of some pixels only. Results are
// those of the operations.
type Frugal interface {
	Backend

	// FirstEstimate carries out op, whose Exclude is a plane of AllocMarks.
	FirstEstimate(ctx context.Context, op FirstEstimate) error
	// Classify carries out op and returns the background of the pixels with ClassCore or ClassGrow.
	Classify(ctx context.Context, op Classify) (background Plane, err error)
	// AllocAt returns a plane (U16) with samples for the pixels of where only, which are in reading order: for the
	// destinations of Deviation, StarletBand and BoxCount with that Where, as sources of MeasureRegions and Gather.
	AllocAt(w, h int, where []Span) (Plane, error)
	// AllocMarks returns a plane (U8) whose samples are 0 or 255, held as a bit each: for Exclude of FirstEstimate,
	// Classify, Background and Deviation, Member of MeasureRegions, and Class of BoxCount.
	AllocMarks(w, h int) (Plane, error)
	// Mark writes 255 into a plane of AllocMarks where spans, which are in reading order, are or are no more than
	// margin pixels away, across corners, too; 0 elsewhere.
	Mark(ctx context.Context, dst Plane, spans []Span, margin int) error
	// Borrow returns planes (U8) in the memory of p, one where p is U8, two where it is U16, with undefined content.
	// Until p is written again they hold what is written into them; to release them leaves p as it is.
	Borrow(p Plane) ([]Plane, error)
	// Colours writes Red, Green and Blue of op only; Y and V may be nil.
	Colours(ctx context.Context, op Luminance) error
	// Trim gives the memory back that operations keep for those that follow.
	Trim()
	// TakeBytes releases a plane (U8) and gives its memory, with undefined content, to the caller.
	TakeBytes(p Plane) ([]uint8, error)
}

// Remote is a Backend with memory of its own, which takes lists sooner than planes.
type Remote interface {
	Backend

	// LuminanceGlints carries out both operations, of which the second one reads what the first one writes; its time is
	// that of the named stage. It looks at parts of the picture while it is being sent the others.
	LuminanceGlints(ctx context.Context, l Luminance, g Glints, stage string) error
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

// emptyMask returns the mask for the result: where possible in the memory of V, which nothing needs any more.
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

// at returns a plane for the pixels of where, or of all where the backend keeps whole planes only.
func (d *detector) at(where []Span) (Plane, error) {
	if d.frugal != nil {
		return d.frugal.AllocAt(d.w, d.h, where)
	}
	return d.be.Alloc(U16, d.w, d.h)
}
