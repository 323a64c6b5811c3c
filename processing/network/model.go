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
const Inputs = 16

// Input stands for the input planes in Layer.From.
const Input = -1

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
	// Pool halves the resolution: each result is the rounded mean of 2 × 2 cells of the only source. An odd side
	// repeats its last row or column. It has no weights.
	Pool
)

// Side returns the number of rows, and of columns, of the weights; 0 if there are none.
func (k Kind) Side() int { return [...]int{Conv1: 1, Conv3: 3, Pool: 0}[k] }

// Layer is a convolution, or halves the resolution. The input of a convolution is 0 outside the picture.
type Layer struct {
	// From lists the source layers by number, with Input for the planes; their channels are concatenated. Sources of
	// coarser resolution are repeated to match the finest.
	From []int
	Kind Kind
	// In and Out are the numbers of channels.
	In, Out int
	// Dilation is the distance between rows, and columns, of weights in cells.
	Dilation int
	// Resolution is the side of a cell of the result in pixels of the picture.
	Resolution int
	// Weights are −127…127 in the order output, input, row, column.
	Weights []int8
	// Bias and Shift have one value for each output channel.
	Bias  []int32
	Shift []uint8
}

// fine returns the resolution of a layer's input.
func (l *Layer) fine() int {
	if l.Kind == Pool {
		return l.Resolution / 2
	}
	return l.Resolution
}

// Model is a network. It is immutable, so several goroutines may use it.
type Model struct {
	// Layers are in the order of computation. The last one is a convolution with the channels of Outputs for each
	// pixel.
	Layers []Layer
	// Checksum is the SHA-256 of the model file.
	Checksum [32]byte
}

//go:embed glints.blik
var embedded []byte

// Default returns the model embedded in the program.
var Default = sync.OnceValues(func() (*Model, error) { return Parse(embedded) })

// Outputs is the number of channels of the last layer: the logit of glare, and those of its kinds: painted light, edge
// or support, other.
const Outputs = 4

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

// Hidden returns the number of channels of the last hidden layer, provided that the last layer reads only this one, by
// 1 × 1 convolution; otherwise 0.
func (m *Model) Hidden() int {
	n := len(m.Layers)
	if l := &m.Layers[n-1]; n < 2 || l.Kind != Conv1 || !slices.Equal(l.From, []int{n - 2}) {
		return 0
	}
	return m.Layers[n-2].Out
}

// Grain returns the side of the coarsest cells in pixels. A part of a picture gives the same results as the whole if
// its first row and column are multiples of it.
func (m *Model) Grain() int {
	grain := cellSide
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
	// The cells that are needed of a layer, here including the last.
	needed := map[int]span{len(m.Layers) - 1: {p, p}}
	for i, l := range slices.Backward(m.Layers) {
		e, ok := needed[i]
		if !ok {
			continue
		}
		if l.Kind == Pool {
			e = span{2 * e.from, 2*e.to + 1}
		}
		e = span{e.from - l.reach(), e.to + l.reach()}
		for _, s := range l.From {
			n := m.repeat(&l, s)
			part := span{e.from / n, e.to / n}
			if old, ok := needed[s]; ok {
				part = part.join(old)
			}
			needed[s] = part
		}
	}
	e := needed[Input]
	return cellSide * (e.from/cellSide - radius), cellSide*(e.to/cellSide+radius+1) - 1
}

// repeat returns how often a cell of a source of l is repeated in each direction.
func (m *Model) repeat(l *Layer, from int) int { return m.resolution(from) / l.fine() }

// resolution returns the resolution of a layer, or of the input.
func (m *Model) resolution(layer int) int {
	if layer == Input {
		return 1
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

// SHA256 returns the SHA-256 of the embedded model file in hexadecimal.
func SHA256() string {
	sum := sha256.Sum256(embedded)
	return hex.EncodeToString(sum[:])
}
