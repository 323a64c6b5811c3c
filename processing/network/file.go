package network

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"

	"blik/internal/message"
)

// A model file consists of "BLIKNET2", the length of the header (uint32, little endian like all numbers), the header as
// JSON, the numbers that the header refers to, and the SHA-256 of everything before it.
const (
	family, version = "BLIKNET", "2"
	preface         = len(family) + len(version) + 4
)

// The limits of a model; real models are far below them.
const (
	maxFile       = 64 << 20
	maxLayers     = 256
	maxChannels   = 1024
	maxDilation   = 64
	maxResolution = 16
	maxShift      = 20
)

// header is the JSON part of a model file. Other fields are ignored.
type header struct {
	Unit   int            `json:"unit"`
	Planes int            `json:"planes"`
	Layers []layerHeading `json:"layers"`
}

type layerHeading struct {
	From       []int  `json:"from"`
	Kind       string `json:"kind"`
	In         int    `json:"in"`
	Out        int    `json:"out"`
	Dilation   int    `json:"dilation"`
	Resolution int    `json:"resolution"`
	// Weights, Bias and Shift are the offsets of the numbers from the end of the header; a pool has none.
	Weights int `json:"weights"`
	Bias    int `json:"bias"`
	Shift   int `json:"shift"`
}

// Parse reads a model file. If the file is not a model, has a newer version, is damaged or exceeds the limits of the
// inference, the error says so in one sentence.
func Parse(file []byte) (*Model, error) {
	switch {
	case len(file) < len(family)+len(version) || !bytes.HasPrefix(file, []byte(family)):
		return nil, message.Errorf("this is not a model of the network that finds glints")
	case string(file[len(family):len(family)+len(version)]) != version:
		return nil, message.Errorf("the model has version %q, this program reads version %s",
			file[len(family):len(family)+len(version)], version)
	case len(file) > maxFile:
		return nil, message.Errorf("the model has %d bytes, more than the %d that are allowed", len(file), maxFile)
	case len(file) < preface+sha256.Size:
		return nil, message.Errorf("the model is damaged: it ends after %d bytes", len(file))
	}
	body, sum := file[:len(file)-sha256.Size], file[len(file)-sha256.Size:]
	m := &Model{Checksum: sha256.Sum256(body)}
	if !bytes.Equal(m.Checksum[:], sum) {
		return nil, message.Errorf("the model is damaged: its checksum does not match")
	}
	m.Checksum = sha256.Sum256(file)
	size := uint64(binary.LittleEndian.Uint32(body[preface-4:]))
	if size > uint64(len(body)-preface) {
		return nil, message.Errorf("the model is damaged: its header ends past the end of the file")
	}
	var h header
	if err := json.Unmarshal(body[preface:preface+int(size)], &h); err != nil {
		return nil, message.Errorf("the model is damaged: its header is not valid (%v)", err)
	}
	if h.Unit != Unit || h.Planes != Inputs {
		return nil, message.Errorf("the model takes %d planes in units of 1/%d, this program has %d in units of 1/%d",
			h.Planes, h.Unit, Inputs, Unit)
	}
	if n := len(h.Layers); n < 1 || n > maxLayers {
		return nil, message.Errorf("the model has %d layers, must have 1 to %d", n, maxLayers)
	}
	numbers := body[preface+int(size):]
	for i := range h.Layers {
		if !m.add(&h.Layers[i], numbers) {
			return nil, message.Errorf("layer %d of the model is not valid", i+1)
		}
	}
	if last := &m.Layers[len(m.Layers)-1]; last.Out != Outputs || last.Resolution != 1 || last.Kind == Pool {
		return nil, message.Errorf("the last layer of the model has %d channels for cells of %d pixels, "+
			"must be a convolution with %d for each pixel", last.Out, last.Resolution, Outputs)
	}
	return m, nil
}

// add appends a layer and reports whether it is valid.
func (m *Model) add(h *layerHeading, numbers []byte) bool {
	kinds := map[string]Kind{"conv1": Conv1, "conv3": Conv3, "pool": Pool}
	kind, known := kinds[h.Kind]
	l := Layer{From: h.From, Kind: kind, In: h.In, Out: h.Out, Dilation: h.Dilation, Resolution: h.Resolution}
	if !known || len(h.From) == 0 || len(h.From) > maxLayers || h.Out < 1 || h.Out > maxChannels || h.Dilation < 1 ||
		h.Dilation > maxDilation || h.Resolution < 1 || h.Resolution > maxResolution {
		return false
	}
	in, fine := 0, math.MaxInt
	for _, s := range h.From {
		if s < Input || s >= len(m.Layers) {
			return false
		}
		in += m.channels(s)
		fine = min(fine, m.resolution(s))
	}
	for _, s := range h.From {
		if m.resolution(s)%fine != 0 {
			return false
		}
	}
	if in != h.In || in > maxChannels || fine != l.fine() {
		return false
	}
	if kind == Pool {
		m.Layers = append(m.Layers, l)
		return len(h.From) == 1 && h.In == h.Out && h.Resolution%2 == 0
	}
	weights, ok1 := sliceOf(numbers, h.Weights, h.Out*h.In*kind.Side()*kind.Side())
	bias, ok2 := sliceOf(numbers, h.Bias, 4*h.Out)
	shift, ok3 := sliceOf(numbers, h.Shift, h.Out)
	if !ok1 || !ok2 || !ok3 {
		return false
	}
	for _, w := range weights {
		l.Weights = append(l.Weights, int8(w))
	}
	for i := range h.Out {
		l.Bias = append(l.Bias, int32(binary.LittleEndian.Uint32(bias[4*i:])))
	}
	l.Shift = bytes.Clone(shift)
	m.Layers = append(m.Layers, l)
	return l.fits()
}

// sliceOf returns n bytes of numbers, starting at an offset.
func sliceOf(numbers []byte, from, n int) ([]byte, bool) {
	if from < 0 || from > len(numbers) || n > len(numbers)-from {
		return nil, false
	}
	return numbers[from : from+n], true
}

// fits reports whether weights and shifts are in range and no partial sum, in any order of summation, exceeds 32 bits,
// given that activations are at most Top; nor does it with an offset of up to 255 added to the result.
func (l *Layer) fits() bool {
	n := len(l.Weights) / l.Out
	for o := range l.Out {
		if l.Shift[o] > maxShift {
			return false
		}
		most := int64(l.Bias[o])
		if most < 0 {
			most = -most
		}
		for _, w := range l.Weights[o*n : (o+1)*n] {
			if w == math.MinInt8 {
				return false
			}
			most += Top * max(int64(w), -int64(w))
		}
		if most+int64(256)<<l.Shift[o] > math.MaxInt32 {
			return false
		}
	}
	return true
}
