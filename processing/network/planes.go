package network

import "math"

// The input is defined in training/planes.py.
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
// of sRGB. Every pixel has 16 values, with m its darkest channel and l the lightness (R + 2G + B + 2) >> 2; means and
// the deviation of the lightness are over the surroundings. Exposure hardly changes the first 12:
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
func Planes(red, green, blue []uint8, w, h int) Tensor[uint8] {
	ch, cw := (h+1)/2, (w+1)/2
	out := newTensor[uint8](Inputs, h, w)
	// pixel returns the four channels and the lightness of a pixel.
	pixel := func(y, x int) (v [4]int, light int) {
		i := min(y, h-1)*w + min(x, w-1)
		r, g, b := int(red[i]), int(green[i]), int(blue[i])
		return [4]int{r, g, b, min(r, g, b)}, (r + 2*g + b + 2) >> 2
	}
	// Sums of each cell: the channels, the lightness and its square.
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
	const half = 1 << (fraction - 1)
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
			gain := (8 << fraction) / (deviation + 5*s[4]>>6 + 3*n)
			share := (32 << fraction) / (s[4] + 10*n)
			around := [4]int{2 * deviation, s[0], s[2], s[3]}
			for k := range 4 {
				py, px := 2*y+k/2, 2*x+k%2
				if py >= h || px >= w {
					continue
				}
				v, _ := pixel(py, px)
				put := func(plane, value int) { out.row(plane, py)[px] = uint8(min(max(value, 0), Top)) }
				for c := range v {
					put(c, zero+((v[c]*n-s[c])*gain+half)>>fraction)
					put(4+c, (v[c]*n*share+half)>>fraction)
					put(8+c, (around[c]*share+half)>>fraction)
					put(12+c, v[c]/2)
				}
			}
		}
	}
	return out
}
