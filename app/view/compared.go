package view

import (
	"encoding/binary"
	"image/color"

	"blik/processing"
)

// ComparedColours returns the colours for comparing two masks: of what only the first marks, only the second marks, and
// both mark. They are white and, from the palette of Okabe and Ito (2008), orange and sky blue, which people with any
// colour vision can distinguish.
func ComparedColours() (first, second, both color.RGBA) {
	return color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{255, 255, 255, 255}
}

// compareRow blends row y of both masks into a row of device pixels, where they count as glare.
func (f *frame) compareRow(out []uint8, y int) {
	first, second, both := ComparedColours()
	ink := [4]lanes{1: inkOf(first), 2: inkOf(second), 3: inkOf(both)}
	a := f.overlay.pix[y*f.overlay.w:][f.mask0:f.mask1]
	b := f.other.pix[y*f.other.w:][f.mask0:f.mask1]
	side := func(m int) uint8 { return a[m]/processing.MaskLevel | b[m]/processing.MaskLevel<<1 }
	for m := 0; m < len(a); {
		if m+8 <= len(a) && binary.LittleEndian.Uint64(a[m:])|binary.LittleEndian.Uint64(b[m:]) == 0 {
			m += 8
			continue
		}
		s, n := side(m), m+1
		if s != 0 {
			for n < len(a) && side(n) == s {
				n++
			}
			tint(out[4*f.start[m]:4*f.start[n]], ink[s], f.share[255])
		}
		m = n
	}
}

func inkOf(c color.RGBA) lanes {
	return unpack(packed(c.R) | packed(c.G)<<8 | packed(c.B)<<16 | opaque)
}
