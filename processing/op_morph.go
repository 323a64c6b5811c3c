package processing

import "context"

// Element is a flat structuring element with its origin in the middle.
type Element struct {
	// Direction says what Size and Size2 mean.
	Direction Direction
	// Size is the length of a line in pixels, or the width of a rectangle; odd, at least 1.
	Size int
	// Size2 is the height of a rectangle; odd, at least 1; unused for lines.
	Size2 int
}

// Direction is the direction of a structuring element.
type Direction uint8

// Lines have length Size in pixels along their direction; the diagonals step one pixel in x and one in y.
const (
	Rectangle Direction = iota
	Horizontal
	Vertical
	// Rising is the diagonal from bottom left to top right.
	Rising
	// Falling is the diagonal from top left to bottom right.
	Falling
)

// Square returns the (2r+1) × (2r+1) rectangle.
func Square(r int) Element { return Element{Direction: Rectangle, Size: 2*r + 1, Size2: 2*r + 1} }

// rows is how many rows the element extends above and below its origin.
func (e Element) rows() int {
	switch e.Direction {
	case Rectangle:
		return e.Size2 / 2
	case Horizontal:
		return 0
	}
	return e.Size / 2
}

// MorphOp is a grey-scale morphological operation with a flat structuring element.
type MorphOp uint8

// Pixels outside the picture never win: they count as the highest value for Erode and as the lowest for Dilate, in
// every step of the composed operations.
const (
	Erode MorphOp = iota
	Dilate
	Open
	Close
	// TopHat is the white top-hat: the source minus its opening.
	TopHat
)

// Morph applies Op with Element; U8, U16 and F32 planes. Dst may be Src. The time per pixel does not depend on the size
// of the element (van Herk 1992; Gil & Werman 1993).
type Morph struct {
	Dst, Src Plane
	Op       MorphOp
	Element  Element
}

// Footprint implements Op.
func (o Morph) Footprint() Footprint {
	rows := o.Element.rows()
	if o.Op != Erode && o.Op != Dilate {
		// An erosion and a dilation, one after the other.
		rows *= 2
	}
	return Footprint{Rows: rows}
}

func (o Morph) run(ctx context.Context, e Executor) error { return e.Morph(ctx, o) }

func (o Morph) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, samples)
	a.reads("source", &o.Src, samples)
	a.alike(o.Dst, o.Src)
	e := o.Element
	if e.Direction > Falling {
		a.failf("unknown direction %d", e.Direction)
	}
	if e.Size < 1 || e.Size%2 == 0 {
		a.failf("element of size %d: must be odd and at least 1", e.Size)
	}
	if e.Direction == Rectangle && (e.Size2 < 1 || e.Size2%2 == 0) {
		a.failf("rectangle of height %d: must be odd and at least 1", e.Size2)
	}
	if o.Op > TopHat {
		a.failf("unknown operation %d", o.Op)
	}
	return o
}

// FillHoles writes 255 into the pixels of Dst (U8) that are 0 and are not connected to the picture's border through
// 4-connected pixels that are 0.
type FillHoles struct {
	wholePicture
	Dst Plane
}

func (o FillHoles) run(ctx context.Context, e Executor) error { return e.FillHoles(ctx, o) }

func (o FillHoles) describe(a *arguments) Op {
	a.updates("destination", &o.Dst, u8)
	return o
}
