// Package tones converts windows of pictures to linear light and sums them.
package tones

import (
	"blik/internal/simd"
)

// The luminance weights of linear sRGB (Rec. 709) in 1/65536; they add up to 65536.
const (
	Red   = 13933
	Green = 46871
	Blue  = 4732
)

// Tone packs luminance and darkest channel of a pixel in 16-bit linear light into the upper and lower half.
type Tone uint32

// Of returns the Tone with the given luminance and darkest channel.
func Of(y, dark uint16) Tone { return Tone(y)<<16 | Tone(dark) }

// Y is the luminance.
func (t Tone) Y() uint16 { return uint16(t >> 16) }

// Dark is the darkest channel.
func (t Tone) Dark() uint16 { return uint16(t) }

// Sum holds sums over pixels: their number, colours, luminances, darkest channels and squared luminances.
type Sum struct{ N, R, G, B, Y, Dark, Squares uint64 }

// Join adds another sum.
func (s *Sum) Join(o *Sum) {
	s.N += o.N
	s.R += o.R
	s.G += o.G
	s.B += o.B
	s.Y += o.Y
	s.Dark += o.Dark
	s.Squares += o.Squares
}

// Sample is a sample of a picture.
type Sample interface{ uint8 | uint16 }

// Window is a part of a picture of three channels.
type Window[S Sample] struct {
	// Pix holds the picture's samples from the first of the window on; Stride is the number of samples in a row of the
	// picture.
	Pix    []S
	Stride int
	W, H   int
	// Free has a bit for each pixel to be summed, in (W + 63) / 64 words per row.
	Free []uint64
	// Linear is the linear light of each value of a sample.
	Linear []uint16
}

// words is the number of words of Free per row.
func (v *Window[S]) words() int { return (v.W + 63) / 64 }

// Slack is the extra capacity needed for tones because kernels write beyond the end of rows.
const Slack = 32

// Reader reads windows. One goroutine uses it at a time. The zero value is ready for use.
type Reader struct {
	lanes lanes
	read  reading
	count counting
}

// reading and counting are the kernels of Read and Count.
type (
	reading  func(l *lanes, dst []Tone, v *Window[uint8], sum *Sum)
	counting func(own []uint8, tones []Tone, half, from int) (crowd, around int)
)

// lanes holds the sums of a kernel.
type lanes [7][16]uint32

func (r *Reader) choose() {
	if r.read == nil {
		r.read, r.count = kernelsOf(simd.Chosen())
	}
}

// Read writes the tones of a window into dst, which needs Slack more capacity, and returns the sum of the free pixels.
func (r *Reader) Read(dst []Tone, v *Window[uint8]) Sum {
	r.choose()
	var sum Sum
	r.read(&r.lanes, dst, v, &sum)
	return sum
}

// Read16 is Read for 16-bit samples.
func (r *Reader) Read16(dst []Tone, v *Window[uint16]) Sum {
	var sum Sum
	readPlain(nil, dst, v, &sum)
	return sum
}

// Count returns how many bytes of own are 0, and how many of their tones are at least from, 0 … 65536, in the half
// selected by the shift half: 16 for the luminance, 0 for the darkest channel. There are as many tones as bytes.
func (r *Reader) Count(own []uint8, tones []Tone, half, from int) (crowd, around int) {
	r.choose()
	return r.count(own, tones, half, from)
}

func readPlain[S Sample](_ *lanes, dst []Tone, v *Window[S], sum *Sum) {
	for y := range v.H {
		for x := 0; x < v.W; x += 64 {
			row := dst[y*v.W+x : y*v.W+min(x+64, v.W)]
			readPiece(row, v.Pix[y*v.Stride+3*x:], v.Free[y*v.words()+x/64], v.Linear, sum)
		}
	}
}

// readPiece reads up to 64 pixels.
func readPiece[S Sample](dst []Tone, src []S, free uint64, linear []uint16, into *Sum) {
	var s Sum
	src, linear = src[:3*len(dst)], linear[:int(^S(0))+1]
	for i := range dst {
		c := src[3*i : 3*i+3 : 3*i+3]
		r, g, b := uint64(linear[c[0]]), uint64(linear[c[1]]), uint64(linear[c[2]])
		y := (Red*r + Green*g + Blue*b + 32768) >> 16
		dark := min(r, g, b)
		dst[i] = Tone(y<<16 | dark)
		if free>>(i&63)&1 != 0 {
			s.N++
			s.R += r
			s.G += g
			s.B += b
			s.Y += y
			s.Dark += dark
			s.Squares += y * y
		}
	}
	into.Join(&s)
}

func countPlain(own []uint8, tones []Tone, half, from int) (crowd, around int) {
	tones = tones[:len(own)]
	for i, o := range own {
		// Branch-free: 1 where the condition holds.
		free := int((uint32(o) - 1) >> 31)
		around += free
		crowd += free & int(uint64(from-1-int(uint16(tones[i]>>half)))>>63)
	}
	return crowd, around
}
