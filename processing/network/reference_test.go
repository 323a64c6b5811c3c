package network

import "math"

// This is the network in plain loops, the reference for the engine.

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

// Planes returns the input for a picture of w × h pixels, as planes.go describes it.
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

// Run computes all layers for a picture of w × h pixels in plain loops. It returns the activations of all layers except the last, and the logits of the last one in sixteenths: Outputs planes.
func (m *Model) Run(red, green, blue []uint8, w, h int) (activations []Tensor[uint8], logits Tensor[int32]) {
	input := Planes(red, green, blue, w, h)
	last := len(m.Layers) - 1
	for i := range last {
		l := &m.Layers[i]
		if l.Kind == Pool {
			activations = append(activations, pooled(m.joined(l, input, activations)))
		} else {
			activations = append(activations, l.activate(m.sums(i, input, activations)))
		}
	}
	l := &m.Layers[last]
	logits = m.sums(last, input, activations)
	for c := range logits.C {
		for y := range h {
			row := logits.row(c, y)
			for x, s := range row {
				row[x] = l.scale(c, s)
			}
		}
	}
	return activations, logits
}

// pooled returns the rounded means of 2 × 2 cells.
func pooled(x Tensor[uint8]) Tensor[uint8] {
	t := newTensor[uint8](x.C, (x.H+1)/2, (x.W+1)/2)
	for c := range t.C {
		for y := range t.H {
			row, upper, lower := t.row(c, y), x.row(c, 2*y), x.row(c, min(2*y+1, x.H-1))
			for i := range row {
				j := min(2*i+1, x.W-1)
				row[i] = uint8((int(upper[2*i]) + int(upper[j]) + int(lower[2*i]) + int(lower[j]) + 2) >> 2)
			}
		}
	}
	return t
}

// scale divides a sum of an output channel by 2^Shift, rounded to nearest.
func (l *Layer) scale(channel int, sum int32) int32 {
	s := l.Shift[channel]
	return (sum + int32(1)<<s>>1) >> s
}

// activate converts the sums of a layer to activations.
func (l *Layer) activate(sums Tensor[int32]) Tensor[uint8] {
	t := newTensor[uint8](sums.C, sums.H, sums.W)
	for c := range t.C {
		for y := range t.H {
			row := t.row(c, y)
			for x, s := range sums.row(c, y) {
				row[x] = uint8(min(max(l.scale(c, s), 0), Top))
			}
		}
	}
	return t
}

// sums returns the sums of a layer before scaling; activations are those of the previous layers.
func (m *Model) sums(layer int, input Tensor[uint8], activations []Tensor[uint8]) Tensor[int32] {
	l := &m.Layers[layer]
	x := m.joined(l, input, activations)
	side, reach := l.Kind.Side(), l.reach()
	out := newTensor[int32](l.Out, x.H, x.W)
	weights := l.Weights
	for o := range l.Out {
		for y := range out.H {
			row := out.row(o, y)
			for i := range row {
				row[i] = l.Bias[o]
			}
			k := 0
			for c := range l.In {
				for j := range side {
					at := y + j*l.Dilation - reach
					for i := range side {
						if at >= 0 && at < x.H {
							addRow(row, x.row(c, at), int32(weights[k]), i*l.Dilation-reach)
						}
						k++
					}
				}
			}
		}
		weights = weights[l.In*side*side:]
	}
	return out
}

// addRow adds weight · src[x+shift] to each dst[x] for which that element exists.
func addRow(dst []int32, src []uint8, weight int32, shift int) {
	for x := max(0, -shift); x < len(dst) && x+shift < len(src); x++ {
		dst[x] += weight * int32(src[x+shift])
	}
}

// joined returns the input of a layer: all channels of its sources, at the finest of their resolutions.
func (m *Model) joined(l *Layer, input Tensor[uint8], activations []Tensor[uint8]) Tensor[uint8] {
	of := func(s int) *Tensor[uint8] {
		if s == Input {
			return &input
		}
		return &activations[s]
	}
	if len(l.From) == 1 {
		return *of(l.From[0])
	}
	var x Tensor[uint8]
	for _, s := range l.From {
		if m.repeat(l, s) == 1 {
			x.H, x.W = of(s).H, of(s).W
		}
	}
	for _, s := range l.From {
		t, n := of(s), m.repeat(l, s)
		for c := range t.C {
			for y := range x.H {
				row := t.row(c, y/n)
				for i := range x.W {
					x.V = append(x.V, row[i/n])
				}
			}
		}
		x.C += t.C
	}
	return x
}

// MultiplyAdds returns the number of multiply-adds per pixel of a large picture.
func (m *Model) MultiplyAdds() float64 {
	sum := 0.0
	for i := range m.Layers {
		l := &m.Layers[i]
		sum += float64(len(l.Weights)) / float64(l.Resolution*l.Resolution)
	}
	return sum
}
