package network

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"slices"
	"sync"
)

// Unit is the activation or logit that stands for 1.
const Unit = 16

// Inputs is the number of input planes.
const Inputs = 24

// Input stands for the input planes in Layer.From.
const Input = -1

// inputResolution is the resolution of the input planes: each cell covers 2 × 2 pixels.
const inputResolution = 2

// Top is the largest activation. The sum of two products of it with weights fits into 16 bits.
const Top = 127

// Kind is the kind of a layer.
type Kind uint8

// The kinds of layers.
const (
	// Conv1 is a convolution of 1 × 1.
	Conv1 Kind = iota
	// Conv3 is a convolution of 3 × 3.
	Conv3
	// Depth3 is a depthwise convolution of 3 × 3.
	Depth3
)

// Side returns the number of rows, and of columns, of the weights.
func (k Kind) Side() int {
	if k == Conv1 {
		return 1
	}
	return 3
}

// Layer is a convolution. Its input is 0 outside the picture.
type Layer struct {
	// From lists the source layers by number, with Input for the planes; their channels are concatenated. Sources of
	// coarser resolution are repeated to match the finest.
	From []int
	Kind Kind
	// In and Out are the numbers of channels.
	In, Out int
	// Dilation is the distance between rows, and columns, of weights, Stride the distance between results, both in
	// cells of the input.
	Dilation, Stride int
	// Resolution is the side of a cell of the result in pixels of the picture.
	Resolution int
	// Weights are −127…127 in the order output, input, row, column, with a single input for Depth3.
	Weights []int8
	// Bias and Shift have one value for each output channel.
	Bias  []int32
	Shift []uint8
}

// inputs returns the number of input channels that each output channel has weights for.
func (l *Layer) inputs() int {
	if l.Kind == Depth3 {
		return 1
	}
	return l.In
}

// Model is a network. It is immutable, so several goroutines may use it.
type Model struct {
	// Layers are in the order of computation. The last one has four channels at half resolution: the logits of a cell's
	// pixels, row by row.
	Layers []Layer
	// Checksum is the SHA-256 of the model file.
	Checksum [32]byte
}

//go:embed glints.blik
var embedded []byte

// Default returns the model embedded in the program.
var Default = sync.OnceValues(func() (*Model, error) { return Parse(embedded) })

// Hidden returns the number of channels of the last hidden layer, provided that the last layer reads only this one, by
// 1 × 1 convolution; otherwise 0.
func (m *Model) Hidden() int {
	n := len(m.Layers)
	if l := &m.Layers[n-1]; n < 2 || l.Kind != Conv1 || l.Stride != 1 || !slices.Equal(l.From, []int{n - 2}) {
		return 0
	}
	return m.Layers[n-2].Out
}

// Grain returns the side of the coarsest cells in pixels. A part of a picture gives the same results as the whole if
// its first row and column are multiples of it.
func (m *Model) Grain() int {
	grain := inputResolution
	for i := range m.Layers {
		grain = max(grain, m.Layers[i].Resolution)
	}
	return grain
}

// Reach returns the largest distance in pixels, along rows or columns, of a pixel that a logit depends on.
func (m *Model) Reach() int {
	// Far from any border; the result depends on the position within the coarsest cell.
	const origin = 1 << 20
	reach := 0
	for p := origin; p < origin+m.Grain(); p++ {
		first, last := m.field(p)
		reach = max(reach, p-first, last-p)
	}
	return reach
}

// field returns the first and the last pixel, along rows or columns, that the logit of pixel p depends on.
func (m *Model) field(p int) (first, last int) {
	// extent is the range of cells from … to that is needed of a layer.
	type extent struct{ from, to int }
	needed := map[int]extent{len(m.Layers) - 1: {p / inputResolution, p / inputResolution}}
	for i, l := range slices.Backward(m.Layers) {
		e, ok := needed[i]
		if !ok {
			continue
		}
		side := l.Dilation * (l.Kind.Side() / 2)
		e = extent{e.from*l.Stride - side, e.to*l.Stride + side}
		for _, s := range l.From {
			n := m.repeat(&l, s)
			part := extent{e.from / n, e.to / n}
			if old, ok := needed[s]; ok {
				part = extent{min(part.from, old.from), max(part.to, old.to)}
			}
			needed[s] = part
		}
	}
	e, ok := needed[Input]
	if !ok {
		return p, p
	}
	return inputResolution * (e.from - radius), inputResolution*(e.to+radius+1) - 1
}

// repeat returns how often a cell of a source of l is repeated in each direction.
func (m *Model) repeat(l *Layer, from int) int {
	return m.resolution(from) / (l.Resolution / l.Stride)
}

// resolution returns the resolution of a layer, or of the input.
func (m *Model) resolution(layer int) int {
	if layer == Input {
		return inputResolution
	}
	return m.Layers[layer].Resolution
}

// channels returns the number of channels of a layer, or of the input.
func (m *Model) channels(layer int) int {
	if layer == Input {
		return Inputs
	}
	return m.Layers[layer].Out
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

// SHA256 returns the SHA-256 of the embedded model file in hexadecimal.
func SHA256() string {
	sum := sha256.Sum256(embedded)
	return hex.EncodeToString(sum[:])
}
