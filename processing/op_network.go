package processing

import (
	"context"
	"math"

	"blik/processing/network"
)

// Glints writes the network's logit of glare for each pixel into Dst (U8): in sixteenths, plus Offset (0…255), clamped
// to 0…255. Pixels above Offset are more likely glare than not. Kinds (U8, may be nil) gets what glare at a pixel
// would be: KindGlare, or what else looks like it. Red, Green and Blue (U8) are the picture as Luminance writes it.
// Backends in main memory tell Progress (may be nil) the share that is done. docs/network.md describes the method.
type Glints struct {
	Dst, Kinds, Red, Green, Blue Plane
	Model                        *network.Model
	Offset                       int
	Progress                     func(done float64)
}

// The kinds of what the network finds.
const (
	KindGlare = iota
	// KindPaint is painted light.
	KindPaint
	// KindEdge is the edge of the painting, its frame or support.
	KindEdge
	// KindOther is canvas, paper, grain, or nothing that one can see.
	KindOther
)

func (o Glints) Footprint() Footprint {
	return Footprint{Rows: o.Model.Reach(), Align: o.Model.Grain()}
}

func (o Glints) run(ctx context.Context, e Executor) error { return e.Glints(ctx, o) }

func (o Glints) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, u8)
	if o.Kinds != nil {
		a.writes("kinds", &o.Kinds, u8)
	}
	a.readsColours(&o.Red, &o.Green, &o.Blue)
	a.apart()
	if o.Model == nil {
		a.failf("no model given")
	}
	if o.Offset < 0 || o.Offset > math.MaxUint8 {
		a.failf("offset %d: must be between 0 and %d", o.Offset, math.MaxUint8)
	}
	return o
}

// GlintChannels returns the activations of the network's last hidden layer at the pixels of Index (row·width + column),
// Model.Hidden() of them for each: the network's description of a pixel's surroundings. Red, Green and Blue (U8) are
// the picture as Luminance writes it.
type GlintChannels struct {
	wholePicture

	Red, Green, Blue Plane
	Model            *network.Model
	Index            []uint32
	Out              *[]uint8
}

func (o GlintChannels) Into(out *[]uint8) Op { o.Out = out; return o }

func (o GlintChannels) run(ctx context.Context, e Executor) error {
	return answer(ctx, o, o.Out, e.GlintChannels)
}

func (o GlintChannels) describe(a *arguments) Op {
	a.readsColours(&o.Red, &o.Green, &o.Blue)
	switch {
	case o.Model == nil:
		a.failf("no model given")
	case o.Model.Hidden() == 0:
		a.failf("the model has no hidden layer")
	}
	a.indices(o.Index)
	a.result(o.Out != nil)
	return o
}

// MeasureGlints measures each component of the pixels above 0 of Logits (U8), which are in sixteenths as Glints writes
// them without an offset, in the order of labels. Kinds, Red, Green and Blue (U8) are as for Glints.
type MeasureGlints struct {
	wholePicture

	Components                      Components
	Logits, Kinds, Red, Green, Blue Plane
	Out                             *[]GlintProps
}

// GlintProps are the exact measures of one component. The lightness of a pixel is (R + 2G + B + 2) >> 2.
type GlintProps struct {
	// Sums holds the sum of the logits, in sixteenths, of the pixels of each kind.
	Sums [4]uint64
	// Area is the number of pixels; all other fields of an empty component are 0.
	Area uint32
	// X and Y are the pixel with the largest lightness, the first one in reading order of several.
	X, Y int32
	// Peak is that lightness. Ground is the median (of n values in ascending order that with index (n−1)/2) of those
	// within GroundRadius of that pixel in either direction, inside the picture, with a logit of 0, or of all of them
	// if those are fewer than GroundLeast.
	Peak, Ground uint8
	// DarkPeak is the darkest channel of that pixel, DarkGround the median of the darkest channels around it.
	DarkPeak, DarkGround uint8
}

// These define the ground of a component: see GlintProps.
const (
	GroundRadius = 12
	GroundLeast  = 50
)

// LowerMedian returns element (n−1)/2 of n sorted values, given how often each occurs.
func LowerMedian(counts *[256]int32, n int32) (v uint8) {
	for before := counts[0]; before <= (n-1)/2; before += counts[v] {
		v++
	}
	return v
}

// Rise returns the ground of the component and how far it rises over it, in levels: in lightness, or, if that is more,
// in its darkest channel, which rises most on coloured paint.
func (p *GlintProps) Rise() (ground, rise int, dark bool) {
	light, low := int(p.Peak)-int(p.Ground), int(p.DarkPeak)-int(p.DarkGround)
	if low > light {
		return int(p.DarkGround), low, true
	}
	return int(p.Ground), light, false
}

func (o MeasureGlints) Into(out *[]GlintProps) Op { o.Out = out; return o }

func (o MeasureGlints) run(ctx context.Context, e Executor) error {
	return answer(ctx, o, o.Out, e.MeasureGlints)
}

func (o MeasureGlints) describe(a *arguments) Op {
	a.reads("logits", &o.Logits, u8)
	a.reads("kinds", &o.Kinds, u8)
	a.readsColours(&o.Red, &o.Green, &o.Blue)
	a.components(o.Components)
	a.result(o.Out != nil)
	return o
}

// GlintFinder is a Backend with memory of its own that goes from a picture to measured components at once.
type GlintFinder interface {
	Backend

	// FindGlints carries out l and g, labels the pixels of its logits that are not 0, and measures them
	// (MeasureGlints). It returns the spans of the components and their measures, and records the time of g as the
	// named stage. It works on parts of the picture while others are uploaded.
	FindGlints(ctx context.Context, l Luminance, g Glints, stage string) ([]Span, []GlintProps, error)
}
