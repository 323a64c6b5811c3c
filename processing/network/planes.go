package network

import "math"

// The input is defined in training/planes.py.
const (
	// radius is the radius of the surroundings in cells.
	radius = 8
	// ease is added to the deviation, in levels, so that noise on flat paint is not amplified.
	ease = 8
	// gainBits is the number of fractional bits of a quotient.
	gainBits = 20
	// zero stands for no difference from the surroundings.
	zero = 32
)

// Tensor holds channels in rows: channel c of cell (x, y) is V[(c·H+y)·W+x].
type Tensor[T uint8 | int32] struct {
	C, H, W int
	V       []T
}

func newTensor[T uint8 | int32](c, h, w int) Tensor[T] { return Tensor[T]{c, h, w, make([]T, c*h*w)} }

// row returns a row of a channel.
func (t *Tensor[T]) row(c, y int) []T {
	i := (c*t.H + y) * t.W
	return t.V[i : i+t.W : i+t.W]
}

// Planes returns the input for a picture of w × h pixels: red, green and blue, 8 bits, coded for display by the curve
// of sRGB. Every cell of 2 × 2 pixels (an odd side is extended by its last row or column) has 24 values:
//
//	 0–15  each pixel's red, green, blue and darkest channel against its surroundings: difference from the mean over
//	       the deviation plus 8 levels, in eighths, 32 meaning 0; plane 4·channel + 2·row + column of the pixel
//	16–19  half the cell's mean of these four
//	20–22  half the mean of red, green and blue over the surroundings
//	   23  twice the deviation of the lightness (R + 2G + B)/4 over the surroundings
//
// The surroundings are the 17 × 17 cells about the cell, as far as they lie inside the picture.
func Planes(red, green, blue []uint8, w, h int) Tensor[uint8] {
	ch, cw := (h+1)/2, (w+1)/2
	out := newTensor[uint8](Inputs, ch, cw)
	// pixel returns the four channels and the lightness of a pixel of a cell.
	pixel := func(y, x int) (v [4]int, light int) {
		i := min(y, h-1)*w + min(x, w-1)
		r, g, b := int(red[i]), int(green[i]), int(blue[i])
		return [4]int{r, g, b, min(r, g, b)}, (r + 2*g + b + 2) >> 2
	}
	// Sums of each cell: the channels, the lightness and its square.
	const figures = 6
	cells := make([][figures]int, ch*cw)
	for y := range ch {
		for x := range cw {
			s := &cells[y*cw+x]
			for k := range 4 {
				v, light := pixel(2*y+k/2, 2*x+k%2)
				for c := range v {
					s[c] += v[c]
				}
				s[4] += light
				s[5] += light * light
			}
		}
	}
	for y := range ch {
		for x := range cw {
			var s [figures]int
			n := 0
			for j := max(0, y-radius); j < min(ch, y+radius+1); j++ {
				for i := max(0, x-radius); i < min(cw, x+radius+1); i++ {
					for f, v := range cells[j*cw+i] {
						s[f] += v
					}
					n += 4
				}
			}
			deviation := int(math.Sqrt(float64(n*s[5] - s[4]*s[4])))
			gain := (8 << gainBits) / (deviation + ease*n)
			at := y*cw + x
			plane := func(p int) *uint8 { return &out.V[p*ch*cw+at] }
			for k := range 4 {
				v, _ := pixel(2*y+k/2, 2*x+k%2)
				for c := range v {
					normal := ((v[c]*n-s[c])*gain + 1<<(gainBits-1)) >> gainBits
					*plane(4*c + k) = uint8(min(max(zero+normal, 0), Top))
				}
			}
			for c := range 4 {
				*plane(16 + c) = uint8(cells[at][c] >> 3)
			}
			for c := range 3 {
				*plane(20 + c) = uint8(s[c] / (2 * n))
			}
			*plane(23) = uint8(min(2*deviation/n, Top))
		}
	}
	return out
}
