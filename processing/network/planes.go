package network

// The input is made of red, green and blue, 8 bits, coded for display by the curve of sRGB. Every pixel has 16 values,
// with m its darkest channel and l the lightness (R + 2G + B + 2) >> 2; means and the deviation of the lightness are
// over the surroundings. Exposure hardly changes the first 12:
//
//	 0–3  R, G, B and m against their means: difference over the deviation plus 5/64 of the mean lightness plus 3
//	      levels, in eighths, 32 meaning 0
//	 4–7  R, G, B and m over the mean lightness plus 10 levels, in 32nds
//	   8  the deviation over the mean lightness plus 10 levels, in 64ths
//	9–11  the means of R, B and m over the mean lightness plus 10 levels, in 32nds
//	12–15 R, G, B and m, halved
//
// The surroundings of a pixel are the 17 × 17 cells about its cell of 2 × 2 pixels, as far as they lie inside the
// picture; an odd side is extended by its last row or column.
// training/planes.py makes the same.
const (
	// cellSide is the side of a cell in pixels: the surroundings of a pixel are those of its cell.
	cellSide = 2
	// radius is the radius of the surroundings in cells.
	radius = 8
	// fraction is the number of fractional bits of a quotient.
	fraction = 20
	// zero stands for no difference from the surroundings.
	zero = 32
)
