package network

// Run computes all layers for a picture of w × h pixels in plain loops, as the reference for faster implementations. It
// returns the activations of all layers except the last, and the logits of the last one in sixteenths: Outputs planes.
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

// KindOf returns the kind of a pixel from its logits: the index of the largest of 0 and those after the first, the
// lowest index of equal ones. Logits count as 255 sixteenths at most.
func KindOf(logits [Outputs]int32) uint8 {
	kind, most := uint8(0), int32(0)
	for k, v := range logits[1:] {
		if v = min(v, 255); v > most {
			kind, most = uint8(k+1), v
		}
	}
	return kind
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
