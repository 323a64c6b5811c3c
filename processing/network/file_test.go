package network

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// encode returns a file with a header and its numbers.
func encode(t testing.TB, h any, numbers []byte) []byte {
	t.Helper()
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	file := binary.LittleEndian.AppendUint32([]byte("BLIKNET2"), uint32(len(text)))
	file = append(append(file, text...), numbers...)
	sum := sha256.Sum256(file)
	return append(file, sum[:]...)
}

// small is a model of two layers with its numbers.
func small() (header, []byte) {
	numbers := make([]byte, 1000)
	for i := range numbers[:512] {
		numbers[i] = byte(i%255) - 127
	}
	return header{Unit: Unit, Planes: Inputs, Layers: []layerHeading{
		{From: []int{-1}, Kind: "conv1", In: Inputs, Out: 8, Dilation: 1, Resolution: 1, Bias: 512, Shift: 600},
		{From: []int{0}, Kind: "conv3", In: 8, Out: 4, Dilation: 1, Resolution: 1, Weights: Inputs * 8, Bias: 512, Shift: 600},
	}}, numbers
}

func TestParse(t *testing.T) {
	t.Parallel()
	h, numbers := small()
	m, err := Parse(encode(t, h, numbers))
	if err != nil {
		t.Fatal(err)
	}
	l := m.Layers[1]
	if len(m.Layers) != 2 || l.Kind != Conv3 || l.In != 8 || l.Out != 4 || len(l.Weights) != 9*32 ||
		!slices.Equal(l.Weights[:3], []int8{1, 2, 3}) || len(l.Bias) != 4 || len(l.Shift) != 4 {
		t.Errorf("the second layer is %+v", l)
	}
}

// Every fault is described in one sentence.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	h, numbers := small()
	good := encode(t, h, numbers)
	cut := func(n int) []byte { return slices.Clone(good[:n]) }
	changed := func(change func(file []byte)) []byte {
		file := slices.Clone(good)
		change(file)
		return file
	}
	sealed := func(body string) []byte {
		sum := sha256.Sum256([]byte(body))
		return append([]byte(body), sum[:]...)
	}
	layer := func(change func(l *layerHeading)) []byte {
		h, numbers := small()
		change(&h.Layers[1])
		return encode(t, h, numbers)
	}
	number := func(at int, values ...byte) []byte {
		h, numbers := small()
		copy(numbers[at:], values)
		return encode(t, h, numbers)
	}
	tests := []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "this is not a model"},
		{"a picture", []byte("\x89PNG\r\n\x1a\n        "), "this is not a model"},
		{"newer", changed(func(f []byte) { f[7] = '3' }), `the model has version "3", this program reads version 2`},
		{"cut in the length", cut(10), "damaged: it ends after 10 bytes"},
		{"cut in the numbers", cut(len(good) - 50), "damaged: its checksum"},
		{"one bit", changed(func(f []byte) { f[len(f)/2] ^= 1 }), "damaged: its checksum"},
		{"long header", sealed("BLIKNET2\xff\xff\xff\xff{}"), "damaged: its header ends past"},
		{"no JSON", sealed("BLIKNET2\x02\x00\x00\x00[]"), "damaged: its header is not valid"},
		{"no layers", encode(t, header{Unit: 16, Planes: Inputs}, nil), "the model has 0 layers"},
		{"other unit", encode(t, header{Unit: 8, Planes: Inputs}, nil), "takes 16 planes in units of 1/8"},
		{"other planes", encode(t, header{Unit: 16, Planes: 8}, nil), "takes 8 planes"},
		{"last channels", layer(func(l *layerHeading) { l.Out = 3 }), "the last layer of the model has 3 channels"},
		{"last resolution", layer(func(l *layerHeading) {
			l.Kind, l.In, l.Out, l.Resolution = "pool", 8, 8, 2
		}), "for cells of 2 pixels"},
		{"pool of another width", layer(func(l *layerHeading) { l.Kind, l.Resolution = "pool", 2 }), "layer 2"},
		{"pool of the same size", layer(func(l *layerHeading) { l.Kind, l.Out = "pool", 8 }), "layer 2"},
		{"pool of two", layer(func(l *layerHeading) {
			l.Kind, l.From, l.In, l.Out, l.Resolution = "pool", []int{0, 0}, 16, 16, 2
		}), "layer 2"},
		{"kind", layer(func(l *layerHeading) { l.Kind = "conv5" }), "layer 2 of the model is not valid"},
		{"no input", layer(func(l *layerHeading) { l.From = nil }), "layer 2"},
		{"itself as input", layer(func(l *layerHeading) { l.From = []int{1} }), "layer 2"},
		{"pixels as input", layer(func(l *layerHeading) { l.From = []int{-2} }), "layer 2"},
		{"inputs", layer(func(l *layerHeading) { l.In = 9 }), "layer 2"},
		{"no outputs", layer(func(l *layerHeading) { l.Out = 0 }), "layer 2"},
		{"many outputs", layer(func(l *layerHeading) { l.Out = 1 << 40 }), "layer 2"},
		{"resolution", layer(func(l *layerHeading) { l.Resolution = 4 }), "layer 2"},
		{"no resolution", layer(func(l *layerHeading) { l.Resolution = 0 }), "layer 2"},
		{"dilation", layer(func(l *layerHeading) { l.Dilation = 65 }), "layer 2"},
		{"weights before", layer(func(l *layerHeading) { l.Weights = -1 }), "layer 2"},
		{"weights behind", layer(func(l *layerHeading) { l.Weights = 990 }), "layer 2"},
		{"bias behind", layer(func(l *layerHeading) { l.Bias = 1 << 62 }), "layer 2"},
		{"shift behind", layer(func(l *layerHeading) { l.Shift = 997 }), "layer 2"},
		{"weight of -128", number(3, 0x80), "layer 1"},
		{"shift of 21", number(601, 21), "layer 1"},
		{"bias beyond 32 bits", number(512, 0xff, 0xff, 0xff, 0x7f), "layer 1"},
		{"bias below 32 bits", number(512, 0, 0, 0, 0x80), "layer 1"},
	}
	for _, test := range tests {
		m, err := Parse(test.file)
		if err == nil || m != nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one with %q", test.name, err, test.want)
		}
	}
}

// For a file with a valid checksum, Parse returns an error or a model that can be run, and never panics.
func FuzzParse(f *testing.F) {
	h, numbers := small()
	text, err := json.Marshal(h)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, numbers)
	f.Add([]byte(`{"unit":16,"planes":16,"layers":[{"from":[-1],"kind":"pool","in":16,"out":16,"dilation":1,"resolution":2}]}`), numbers)
	f.Fuzz(func(t *testing.T, text, numbers []byte) {
		file := binary.LittleEndian.AppendUint32([]byte("BLIKNET2"), uint32(len(text)))
		file = append(append(file, text...), numbers...)
		sum := sha256.Sum256(file)
		m, err := Parse(append(file, sum[:]...))
		if err != nil {
			return
		}
		if m.Reach() < 2*radius || m.Grain() < 2 {
			t.Errorf("reach %d, grain %d", m.Reach(), m.Grain())
		}
		if m.MultiplyAdds() < 1e4 {
			m.Run([]uint8{1, 2}, []uint8{3, 4}, []uint8{5, 6}, 2, 1)
		}
	})
}

func TestDefault(t *testing.T) {
	t.Parallel()
	m := defaultModel(t)
	if grain, macs := m.Grain(), m.MultiplyAdds(); grain < 2 || grain > maxResolution || macs < 100 {
		t.Errorf("grain %d, %g multiply-adds", grain, macs)
	}
}
