package view

import (
	"image/color"

	"blik/processing"
)

// ComparedColours returns the colours for comparing two masks: of what only the first marks, only the second marks, and
// both mark. They are white and, from the palette of Okabe and Ito (2008), orange and sky blue, which people with any
// colour vision can distinguish.
func ComparedColours() (first, second, both color.RGBA) {
	return color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{255, 255, 255, 255}
}

// ChangedColours returns the colours of changed pixels: of those that were marked, of the halo, and of the veil. They
// come from the palette of Okabe and Ito (2008).
func ChangedColours() (marked, halo, veil color.RGBA) {
	return color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{204, 121, 167, 255}
}

// Inks returns the colours of the numbers in overlays of two masks, of which 0 has none.
func Inks(changed bool) (inks [4]color.RGBA) {
	if changed {
		inks[3], inks[2], inks[1] = ChangedColours()
	} else {
		inks[1], inks[2], inks[3] = ComparedColours()
	}
	return inks
}

// inkNumbers writes the numbers of the colours of pixels of two masks. changed means that the second one holds the
// values of document.Corrections.Changed, and that the first one has no effect.
func inkNumbers(out, mask, other []uint8, changed bool) {
	for i, v := range other[:len(out)] {
		if changed {
			out[i] = v / 85
		} else {
			out[i] = mask[i]/processing.MaskLevel | v/processing.MaskLevel<<1
		}
	}
}

// inkRow blends row y of two masks into a row of device pixels.
func (f *frame) inkRow(w *worker, out []uint8, y int) {
	if f.other.pix == nil {
		return
	}
	changed, row := f.o.Mode == Changed, y*f.overlay.w
	w.numbers = grow(w.numbers, f.mask1-f.mask0)
	inkNumbers(w.numbers, f.overlay.pix[row+f.mask0:], f.other.pix[row+f.mask0:], changed)
	inks := Inks(changed)
	f.tintRow(out, w.numbers, func(number uint8) (lanes, lanes) { return inkOf(inks[number]), f.share[255] })
}

func inkOf(c color.RGBA) lanes {
	return unpack(packed(c.R) | packed(c.G)<<8 | packed(c.B)<<16 | opaque)
}
