package processing

import "context"

// Element is a flat structuring element: a rectangle of Width × Height pixels, both odd, with its origin in the middle.
type Element struct{ Width, Height int }

// Square returns the (2r+1) × (2r+1) rectangle.
func Square(r int) Element { return Element{2*r + 1, 2*r + 1} }

// rows is how many rows the element extends above and below its origin.
func (e Element) rows() int { return e.Height / 2 }

// MorphOp is a grey-scale morphological operation with a flat structuring element.
type MorphOp uint8

// Pixels outside the picture never win: they count as the highest value for Erode and as the lowest for Dilate, in
// every step of the composed operations.
const (
	Erode MorphOp = iota
	Dilate
	Open
	Close
)

// Morph applies Op with Element; U8 and U16 planes. Dst may be Src. The time per pixel does not depend on the size
// of the element (van Herk 1992; Gil & Werman 1993).
type Morph struct {
	Dst, Src Plane
	Op       MorphOp
	Element  Element
}

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
	a.writes("destination", &o.Dst, integers)
	a.reads("source", &o.Src, integers)
	a.alike(o.Dst, o.Src)
	if e := o.Element; e.Width < 1 || e.Width%2 == 0 || e.Height < 1 || e.Height%2 == 0 {
		a.failf("element of %d × %d pixels: sides must be odd and at least 1", e.Width, e.Height)
	}
	if o.Op > Close {
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
