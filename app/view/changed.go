package view

import (
	"encoding/binary"
	"image/color"
)

// ChangedColours returns the colours of changed pixels: of those that were marked, of the halo, and of the veil. They
// come from the palette of Okabe and Ito (2008).
func ChangedColours() (marked, halo, veil color.RGBA) {
	return color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{204, 121, 167, 255}
}

// changedRow blends row y of a mask of changed pixels, whose values are those of document.Corrections.Changed, into a
// row of device pixels.
func (f *frame) changedRow(out []uint8, y int) {
	if f.other.pix == nil {
		return
	}
	marked, halo, veil := ChangedColours()
	ink := [4]lanes{1: inkOf(veil), 2: inkOf(halo), 3: inkOf(marked)}
	row := f.other.pix[y*f.other.w:][f.mask0:f.mask1]
	for m := 0; m < len(row); m++ {
		if m+8 <= len(row) && binary.LittleEndian.Uint64(row[m:]) == 0 {
			m += 7
			continue
		}
		if kind := row[m] / 85; kind != 0 {
			tint(out[4*f.start[m]:4*f.start[m+1]], ink[kind], f.share[255])
		}
	}
}
