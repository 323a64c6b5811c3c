package processing

import (
	"fmt"

	"blik/internal/span"
)

// Spot is a piece of the mask that is corrected as a whole: an 8-connected component.
type Spot struct {
	// ID counts from 1 in reading order of the topmost, leftmost pixel.
	ID int
	// Method is used instead of Params.Method where it is not MethodAuto.
	Method Method
	// Runs are its pixels in reading order.
	Runs []Run
}

// Patch is the correction of one spot.
type Patch struct {
	// Spot is the ID of the spot.
	Spot int
	// Method is the method that was used, never MethodAuto.
	Method Method
	// Runs are the pixels that may differ from the source, in reading order: the spot, its halo, and the pixels from
	// which the veil of a large spot is subtracted. Patches of one mask never overlap: a halo pixel belongs to the
	// nearest spot, a pixel under several veils to the spot with the strongest.
	Runs []Run
	// Exactly one is set, as in Picture: the new samples of the pixels of Runs, in order, Channels each. Where nothing
	// had to change they are those of the source, bit for bit.
	U8  []uint8
	U16 []uint16
	F32 []float32
}

// Spots returns the pieces of the mask: the 8-connected components of the pixels that count as glare.
func Spots(m *Mask) []Spot {
	if m.Width < 1 || m.Height < 1 {
		return nil
	}
	spans := span.Append(nil, m.Pix, m.Width, 0, m.Height, MaskLevel)
	return SpotsOf(spans, span.Connect(spans, span.Eight))
}

// SpotsOf collects spans into n spots by their labels.
func SpotsOf(spans []Span, n int) []Spot {
	spots, runs := make([]Spot, n), make([]Run, 0, len(spans))
	for i, part := range span.Group(spans, n, func(i int) int { return int(spans[i].Label) }) {
		first := len(runs)
		for _, s := range part {
			runs = append(runs, Run{int(s.Y), int(s.X0), int(s.X1)})
		}
		spots[i] = Spot{ID: i + 1, Runs: runs[first:len(runs):len(runs)]}
	}
	return spots
}

// Samples returns the samples of the patch, in its memory.
func (p *Patch) Samples() Samples { return Samples{U8: p.U8, U16: p.U16, F32: p.F32} }

// Append appends samples a … b−1 of a picture or a patch.
func (p *Patch) Append(s Samples, a, b int) {
	switch {
	case s.U8 != nil:
		p.U8 = append(p.U8, s.U8[a:b]...)
	case s.U16 != nil:
		p.U16 = append(p.U16, s.U16[a:b]...)
	default:
		p.F32 = append(p.F32, s.F32[a:b]...)
	}
}

// Apply writes the patch into pic, which has the size, depth and channels of the source.
func (p *Patch) Apply(pic *Picture) { p.ApplyWithin(pic, 0, 0) }

// ApplyWithin writes what it can of the patch into a part of the source, whose first pixel is that at (x, y).
func (p *Patch) ApplyWithin(part *Picture, x, y int) {
	at, n := 0, part.Channels
	for _, r := range p.Runs {
		x0, x1, row := max(r.X0-x, 0), min(r.X1-x, part.Width), r.Y-y
		if row >= 0 && row < part.Height && x0 < x1 {
			part.Samples().Copy((row*part.Width+x0)*n, p.Samples(), (at+x0+x-r.X0)*n, (x1-x0)*n)
		}
		at += r.X1 - r.X0
	}
}

// CheckPatches returns an error unless the runs of the patches lie within a picture and the patches have samples of its
// depth for all of their pixels.
func CheckPatches(width, height, channels, depth int, patches []Patch) error {
	for i := range patches {
		p := &patches[i]
		want := 0
		for _, r := range p.Runs {
			if r.Y < 0 || r.Y >= height || r.X0 < 0 || r.X0 >= r.X1 || r.X1 > width {
				return fmt.Errorf("the patch of spot %d reaches out of the picture: row %d, columns %d to %d",
					p.Spot, r.Y, r.X0, r.X1)
			}
			want += (r.X1 - r.X0) * channels
		}
		have := map[int]int{8: len(p.U8), 16: len(p.U16), 32: len(p.F32)}[depth]
		if have != want || len(p.U8)+len(p.U16)+len(p.F32) != have {
			return fmt.Errorf(
				"the patch of spot %d has %d samples of the picture's kind, %d expected", p.Spot, have, want)
		}
	}
	return nil
}
