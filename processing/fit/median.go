package fit

import (
	"slices"

	"blik/processing"
)

// medianResidual marks pixels whose darkest channel exceeds its median over 21 × 21 pixels, fewer at the borders, by
// more than 80 levels. It is the simplest detector of glare, for comparison.
func medianResidual(pic *processing.Picture) *processing.Mask {
	const radius, over = 10, 80
	w, h := pic.Width, pic.Height
	dark := make([]uint8, w*h)
	for i := range dark {
		dark[i] = slices.Min(pic.U8[i*pic.Channels : (i+1)*pic.Channels])
	}
	m := processing.NewMask(w, h)
	for y := range h {
		top, base := max(y-radius, 0), min(y+radius+1, h)
		// counts is the histogram of the window, below the number of its pixels that are darker than median.
		var counts [256]int
		below, median, n := 0, 0, 0
		column := func(x, step int) {
			for v := top; v < base; v++ {
				d := dark[v*w+x]
				counts[d] += step
				if int(d) < median {
					below += step
				}
			}
			n += step * (base - top)
		}
		for x := range min(radius, w) {
			column(x, 1)
		}
		for x := range w {
			if x+radius < w {
				column(x+radius, 1)
			}
			if x > radius {
				column(x-radius-1, -1)
			}
			for below > n/2 {
				median--
				below -= counts[median]
			}
			for below+counts[median] <= n/2 {
				below += counts[median]
				median++
			}
			if int(dark[y*w+x])-median > over {
				m.Pix[y*w+x] = 255
			}
		}
	}
	return m
}
