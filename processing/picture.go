package processing

import (
	"fmt"
	"slices"
)

// Picture is a decoded raster: interleaved colour samples in rows, without padding and without alpha.
// Exactly one of U8, U16 and F32 is set and holds Width·Height·Channels samples.
type Picture struct {
	Width, Height int
	// Channels is 1 (grey), 3 (red, green, blue) or 4 (cyan, magenta, yellow, black; 0 is no ink).
	Channels int
	// U8 holds 8-bit samples, 0…255.
	U8 []uint8
	// U16 holds 16-bit samples, 0…65535.
	U16 []uint16
	// F32 holds samples whose white is 1; values outside 0…1 are clipped for detection.
	F32 []float32
	// Transfer is the curve the samples are encoded with.
	Transfer Transfer
	// Curve, if not nil, replaces Transfer: linear light, 0…1, at equal steps of the encoded sample from 0 to 1, and
	// linear in between. It has at least two values and does not decrease.
	Curve []float32
	// ToSRGB, if not nil, converts linear light from the primaries of the samples (red, green, blue) to those of sRGB:
	// a matrix in rows. Detection works in sRGB; correction in the samples as they are.
	ToSRGB *[9]float64
	// Hidden, if not nil, says which pixels are wholly transparent. Detection and correction are given Visible.
	Hidden *Hidden
}

// Depth returns the bits of a sample: 8, 16 or 32.
func (p *Picture) Depth() int {
	switch {
	case p.U8 != nil:
		return 8
	case p.U16 != nil:
		return 16
	default:
		return 32
	}
}

// Validate returns an error if size, channels and samples of p do not fit together.
func (p *Picture) Validate() error {
	if p.Width < 1 || p.Height < 1 {
		return fmt.Errorf("picture of %d × %d pixels: both sides must be at least 1", p.Width, p.Height)
	}
	if p.Channels != 1 && p.Channels != 3 && p.Channels != 4 {
		return fmt.Errorf("picture with %d channels: 1 (grey), 3 (RGB) or 4 (CMYK) expected", p.Channels)
	}
	if p.Curve != nil {
		if len(p.Curve) < 2 {
			return fmt.Errorf("transfer curve of %d values: at least 2 expected", len(p.Curve))
		}
		for i, v := range p.Curve {
			if !(v >= 0 && v <= 1) || i > 0 && v < p.Curve[i-1] {
				return fmt.Errorf("transfer curve: value %d is %g, but they must rise from 0 to 1", i, v)
			}
		}
	}
	if err := p.validatePrimaries(); err != nil {
		return err
	}
	set, n := 0, len(p.U8)+len(p.U16)+len(p.F32)
	for _, given := range []bool{p.U8 != nil, p.U16 != nil, p.F32 != nil} {
		if given {
			set++
		}
	}
	if want := p.Width * p.Height * p.Channels; set != 1 || n != want {
		return fmt.Errorf("picture of %d × %d pixels and %d channels needs %d samples of one type, has %d of %d types",
			p.Width, p.Height, p.Channels, want, n, set)
	}
	return nil
}

// Linear decodes an encoded sample in 0…1 to linear light in 0…1, by Curve or else by Transfer.
func (p *Picture) Linear(x float64) float64 {
	if p.Curve == nil {
		return p.Transfer.Linear(x)
	}
	last := len(p.Curve) - 1
	at := float64(min(max(x, 0), 1) * float64(last))
	i := min(int(at), last-1)
	a, b := float64(p.Curve[i]), float64(p.Curve[i+1])
	return a + float64((b-a)*(at-float64(i)))
}

// Part returns a copy of the w × h pixels that begin at column left and row top. They must lie in the picture.
func (p *Picture) Part(left, top, w, h int) *Picture {
	part := &Picture{
		Width: w, Height: h, Channels: p.Channels, Transfer: p.Transfer, Curve: p.Curve, ToSRGB: p.ToSRGB,
	}
	if part.Hidden = p.Hidden.part(left, top, w, h, p.Width); part.Hidden != nil {
		part.Hidden.Seen = part
		if seen := p.Visible(); seen != p {
			part.Hidden.Seen = seen.Part(left, top, w, h)
		}
	}
	s := NewSamples(p.Depth(), w*h*p.Channels)
	part.U8, part.U16, part.F32 = s.U8, s.U16, s.F32
	for y := top; y < top+h; y++ {
		s.Copy((y-top)*w*p.Channels, p.Samples(), (y*p.Width+left)*p.Channels, w*p.Channels)
	}
	return part
}

// Samples returns the samples of the picture, in its memory.
func (p *Picture) Samples() Samples { return Samples{U8: p.U8, U16: p.U16, F32: p.F32} }

// Tables returns the tables that turn the picture's samples into the planes of detection.
func (p *Picture) Tables() *LuminanceTables {
	if p.Curve == nil {
		return NewLuminanceTables(p.Depth(), p.Transfer)
	}
	return newLuminanceTables(p.Depth(), p.Linear)
}

// Mask marks glare: one byte per pixel, 0 outside, 255 inside, values between at a soft edge. A pixel counts as glare
// if its value is at least MaskLevel.
type Mask struct {
	Width, Height int
	Pix           []uint8
}

// MaskLevel is the smallest mask value that counts as glare.
const MaskLevel = 128

// NewMask returns an empty mask of w × h pixels.
func NewMask(w, h int) *Mask {
	return &Mask{Width: w, Height: h, Pix: make([]uint8, w*h)}
}

// Area returns the number of pixels that count as glare.
func (m *Mask) Area() int {
	n := 0
	for _, v := range m.Pix {
		if v >= MaskLevel {
			n++
		}
	}
	return n
}

// Run is a horizontal line of pixels: row Y, columns X0 up to but not including X1.
type Run struct{ Y, X0, X1 int }

// AppendRun adds a run to runs in reading order; one that continues the last of them makes that longer.
func AppendRun(runs []Run, r Run) []Run {
	if last := len(runs) - 1; last >= 0 && runs[last].Y == r.Y && runs[last].X1 == r.X0 {
		runs[last].X1 = r.X1
		return runs
	}
	return append(runs, r)
}

// Pixels returns the number of pixels of runs.
func Pixels(runs []Run) int {
	n := 0
	for _, r := range runs {
		n += r.X1 - r.X0
	}
	return n
}

// Hidden says which pixels of a picture are wholly transparent. Their samples are stored but show nothing.
type Hidden struct {
	// Pixels are those of the picture, in rows.
	Pixels []bool
	// Seen is the picture in which visible paint continues into the hidden pixels, so that their samples influence
	// nothing. Its own Hidden is this one.
	Seen *Picture
}

// Visible returns the picture for detection and correction: p itself unless pixels of it are hidden.
func (p *Picture) Visible() *Picture {
	if p.Hidden == nil {
		return p
	}
	return p.Hidden.Seen
}

// part returns the hidden pixels of a part of a picture of the given width; nil if there are none.
func (h *Hidden) part(left, top, w, height, width int) *Hidden {
	if h == nil {
		return nil
	}
	part := &Hidden{Pixels: make([]bool, 0, w*height)}
	for y := top; y < top+height; y++ {
		part.Pixels = append(part.Pixels, h.Pixels[y*width+left:][:w]...)
	}
	if !slices.Contains(part.Pixels, true) {
		return nil
	}
	return part
}
