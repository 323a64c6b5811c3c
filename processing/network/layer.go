package network

import "math"

// Run computes all layers for a picture of w × h pixels in plain loops, as the reference for faster implementations. It
// returns the activations of all layers except the last, and the logits of the pixels in sixteenths, clamped to 16
// bits.
func (m *Model) Run(red, green, blue []uint8, w, h int) (activations []Tensor[uint8], logits []int16) {
	input := Planes(red, green, blue, w, h)
	last := len(m.Layers) - 1
	for i := range last {
		activations = append(activations, m.Layers[i].activate(m.sums(i, input, activations)))
	}
	l, s := &m.Layers[last], m.sums(last, input, activations)
	logits = make([]int16, w*h)
	for y := range h {
		for x := range w {
			c := 2*(y%2) + x%2
			v := l.scale(c, s.row(c, y/2)[x/2])
			logits[y*w+x] = int16(min(max(v, math.MinInt16), math.MaxInt16))
		}
	}
	return activations, logits
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
	side, reach := l.Kind.Side(), l.Dilation*(l.Kind.Side()/2)
	out := newTensor[int32](l.Out, (x.H-1)/l.Stride+1, (x.W-1)/l.Stride+1)
	weights := l.Weights
	for o := range l.Out {
		first, n := 0, l.In
		if l.Kind == Depth3 {
			first, n = o, 1
		}
		for y := range out.H {
			row := out.row(o, y)
			for i := range row {
				row[i] = l.Bias[o]
			}
			k := 0
			for c := first; c < first+n; c++ {
				for j := range side {
					at := y*l.Stride + j*l.Dilation - reach
					for i := range side {
						if at >= 0 && at < x.H {
							addRow(row, x.row(c, at), int32(weights[k]), l.Stride, i*l.Dilation-reach)
						}
						k++
					}
				}
			}
		}
		weights = weights[n*side*side:]
	}
	return out
}

// addRow adds weight · src[x·stride+shift] to each dst[x] for which that element exists.
func addRow(dst []int32, src []uint8, weight int32, stride, shift int) {
	first := 0
	if shift < 0 {
		first = (-shift + stride - 1) / stride
	}
	for x := first; x < len(dst) && x*stride+shift < len(src); x++ {
		dst[x] += weight * int32(src[x*stride+shift])
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
