package processing

import (
	"context"
	"math"
)

// Luminance converts a picture to the planes that are given. Y (U16) and V (U8), both or none, are those that the
// classical detector works on: the linear-light luminance in 1/65535 of white, and (Y re-encoded to 8-bit sRGB +
// smallest channel re-encoded to 8-bit sRGB) / 2, rounded down. See LuminanceTables for the arithmetic. Red, Green and
// Blue (U8), all three or none, are the network's input: each channel re-encoded to 8-bit sRGB. The picture is read
// before Do returns.
type Luminance struct {
	perPixel

	Y, V             Plane
	Red, Green, Blue Plane
	Picture          *Picture
	Tables           *LuminanceTables
}

func (o Luminance) run(ctx context.Context, e Executor) error { return e.Luminance(ctx, o) }

func (o Luminance) describe(a *arguments) Op {
	if o.Lit() {
		a.writes("luminance", &o.Y, u16)
		a.writes("level", &o.V, u8)
	}
	if o.Coloured() {
		a.writes("red", &o.Red, u8)
		a.writes("green", &o.Green, u8)
		a.writes("blue", &o.Blue, u8)
		a.apart()
	}
	a.picture(o.Picture)
	if o.Picture == nil || o.Tables == nil {
		a.failf("no picture or no tables given")
	}
	if a.valid() {
		o.check(a)
	}
	return o
}

// Lit reports whether the planes for the classical detector are needed: they are given, or no others are.
func (o Luminance) Lit() bool { return o.Y != nil || o.V != nil || !o.Coloured() }

// Coloured reports whether the planes for the network are given.
func (o Luminance) Coloured() bool { return o.Red != nil || o.Green != nil || o.Blue != nil }

func (o Luminance) check(a *arguments) {
	pic, t := o.Picture, o.Tables
	if err := pic.Validate(); err != nil {
		a.failf("%w", err)
	}
	if w, h := a.check.w, a.check.h; pic.Width != w || pic.Height != h {
		a.failf("the picture is %d × %d pixels, the planes are %d × %d", pic.Width, pic.Height, w, h)
	}
	switch eight := pic.Depth() == 8; {
	case len(t.Encode8) != 1<<16:
		a.failf("the encoding table has %d entries, must have %d", len(t.Encode8), 1<<16)
	case eight && len(t.Linear8) != 1<<8:
		a.failf("the 8-bit linear table has %d entries, must have %d", len(t.Linear8), 1<<8)
	case !eight && len(t.Linear16) != 1<<16:
		a.failf("the 16-bit linear table has %d entries, must have %d", len(t.Linear16), 1<<16)
	case o.Coloured() && len(t.Display) != max(len(t.Linear8), len(t.Linear16)):
		a.failf("the display table has %d entries, must have %d", len(t.Display), max(len(t.Linear8), len(t.Linear16)))
	}
}

// BoxMean writes the mean over the window of Radius ≥ 0, rounded to nearest ((S + n/2)/n); U8→U8, U16→U16.
type BoxMean struct {
	Dst, Src Plane
	Radius   int
}

func (o BoxMean) Footprint() Footprint                      { return Footprint{Rows: o.Radius} }
func (o BoxMean) run(ctx context.Context, e Executor) error { return e.BoxMean(ctx, o) }

func (o BoxMean) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, integers)
	a.reads("source", &o.Src, integers)
	a.alike(o.Dst, o.Src)
	a.apart()
	a.radius(o.Radius, math.MaxInt32)
	return o
}

// Background writes B (U16): the mean of Y (U16) over the pixels of a window where Exclude (U8) is 0, rounded to
// nearest ((S + n/2)/n). The window is the first of Radii (ascending, 0…2047) with 4·n ≥ (2r+1)², else the last one; if
// even that holds no pixel, B = Y.
type Background struct {
	Dst, Y, Exclude Plane
	Radii           []int
}

func (o Background) Footprint() Footprint { return Footprint{Rows: o.Radii[len(o.Radii)-1]} }

// maxOpenRadius is the largest radius at which the sum of a window and the number of its pixels fit one word of 64
// bits.
const maxOpenRadius = 2047

func (o Background) run(ctx context.Context, e Executor) error { return e.Background(ctx, o) }

func (o Background) describe(a *arguments) Op {
	a.writes("destination", &o.Dst, u16)
	a.reads("luminance", &o.Y, u16)
	a.reads("exclusion", &o.Exclude, u8)
	a.apart()
	if len(o.Radii) == 0 {
		a.failf("no radius given")
	}
	for i, r := range o.Radii {
		a.radius(r, maxOpenRadius)
		if i > 0 && r < o.Radii[i-1] {
			a.failf("radius %d after %d: must ascend", r, o.Radii[i-1])
		}
	}
	return o
}
