package network

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
)

// vectors holds the tensors of testdata/glints-vectors.gz, which training/integer.py computed with the embedded model.
type vectors struct {
	Model   string `json:"model_sha256"`
	Tensors []struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Shape []int  `json:"shape"`
	} `json:"tensors"`
	values map[string][]int32
	shapes map[string][]int
}

func readVectors(t *testing.T) *vectors {
	t.Helper()
	f, err := os.Open("testdata/glints-vectors.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	data, ok := bytes.CutPrefix(data, []byte("BLIKVEC2"))
	if !ok {
		t.Fatal("not a file of vectors")
	}
	size := binary.LittleEndian.Uint32(data)
	v := &vectors{values: map[string][]int32{}, shapes: map[string][]int{}}
	if err := json.Unmarshal(data[4:4+size], v); err != nil {
		t.Fatal(err)
	}
	data = data[4+size:]
	for _, tensor := range v.Tensors {
		n := 1
		for _, side := range tensor.Shape {
			n *= side
		}
		values := make([]int32, n)
		width := map[string]int{"u1": 1, "<i4": 4}[tensor.Type]
		for i := range values {
			switch b := data[i*width:]; width {
			case 1:
				values[i] = int32(b[0])
			case 4:
				values[i] = int32(binary.LittleEndian.Uint32(b))
			default:
				t.Fatalf("type %q", tensor.Type)
			}
		}
		data = data[n*width:]
		v.values[tensor.Name], v.shapes[tensor.Name] = values, tensor.Shape
	}
	if len(data) != 0 {
		t.Fatalf("%d bytes are left", len(data))
	}
	return v
}

// picture returns the channels of the test picture.
func (v *vectors) picture() (red, green, blue []uint8, w, h int) {
	for i, s := range v.values["picture"] {
		c := []*[]uint8{&red, &green, &blue}[i%3]
		*c = append(*c, uint8(s))
	}
	return red, green, blue, v.shapes["picture"][1], v.shapes["picture"][0]
}

func widened(s []uint8) []int32 {
	out := make([]int32, len(s))
	for i, x := range s {
		out[i] = int32(x)
	}
	return out
}

// wantSame compares a tensor with the reference's tensor of that name.
func (v *vectors) wantSame(t *testing.T, name string, got []int32) {
	t.Helper()
	want := v.values[name]
	if want == nil || len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: value %d is %d, want %d", name, i, got[i], want[i])
		}
	}
}

// Every layer gives the sums of the Python reference.
func TestReference(t *testing.T) {
	t.Parallel()
	v := readVectors(t)
	m := defaultModel(t)
	if sum := sha256.Sum256(embedded); hex.EncodeToString(sum[:]) != v.Model {
		t.Fatalf("the vectors are those of the model %s; training/README.md says how to renew them", v.Model)
	}
	red, green, blue, w, h := v.picture()
	if w%2 == 0 || h%2 == 0 {
		t.Errorf("the picture of %d × %d pixels has no odd sides", w, h)
	}
	input := Planes(red, green, blue, w, h)
	v.wantSame(t, "planes", widened(input.V))
	var activations []Tensor[uint8]
	for i := range m.Layers {
		name := fmt.Sprintf("sums %d", i)
		if m.Layers[i].Kind == Pool {
			x := pooled(m.joined(&m.Layers[i], input, activations))
			v.wantSame(t, name, widened(x.V))
			activations = append(activations, x)
			continue
		}
		s := m.sums(i, input, activations)
		v.wantSame(t, name, s.V)
		if shape := []int{s.C, s.H, s.W}; !slices.Equal(shape, v.shapes[name]) {
			t.Errorf("%s: shape %v, want %v", name, shape, v.shapes[name])
		}
		if i < len(m.Layers)-1 {
			activations = append(activations, m.Layers[i].activate(s))
		}
	}
	_, logits := m.Run(red, green, blue, w, h)
	v.wantSame(t, "logits", logits.V)
	kinds := make([]uint8, w*h)
	for i := range kinds {
		kinds[i] = KindOf([Outputs]int32{0, logits.V[w*h+i], logits.V[2*w*h+i], logits.V[3*w*h+i]})
	}
	v.wantSame(t, "kinds", widened(kinds))
}

func defaultModel(t testing.TB) *Model {
	t.Helper()
	m, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
