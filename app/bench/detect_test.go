package bench

import (
	"testing"

	"blik/processing"
	"blik/processing/sample"
)

// painting is a generated painting with glare.
func painting(t testing.TB, w, h, depth int) *processing.Picture {
	t.Helper()
	glare, err := sample.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	pic, _, _, err := sample.Generate(t.Context(), w, h, depth, 3, sample.PaintOptions{}, glare)
	if err != nil {
		t.Fatal(err)
	}
	return pic
}

func TestCompareCPU(t *testing.T) {
	pic := painting(t, 301, 203, 8)
	c, err := Compare(t.Context(), Request{Picture: pic, Params: processing.DefaultParams(), Devices: []string{"cpu", "cpu"}, Repeat: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", c)
}
