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

func TestView(t *testing.T) {
	pic := painting(t, 701, 503, 8)
	c, err := Compare(t.Context(), Request{Picture: pic, Params: processing.DefaultParams(), Devices: []string{"cpu", "cpu", "cuda"}, Repeat: 5})
	if err != nil {
		t.Fatal(err)
	}
	m := &c.Devices[1]
	m.Name = "cuda:0"
	m.Open = 700e6
	m.Upload.Warm = Spread{1e6, 9e5, 12e5, 8e5}
	m.Upload.Cold, m.Download.Cold = 5e6, 3e6
	m.Download.Warm = Spread{1e6, 9e5, 12e5, 8e5}
	m.Upload.Limit, m.Download.Limit, m.Limits.Up, m.Limits.Down = 55e9, 54e9, 55e9, 54e9
	for _, lang := range []string{"en", "ru"} {
		mm := machine()
		if _, err := c.Save(t.Context(), "/tmp/roomE/out_"+lang, mm, lang); err != nil {
			t.Fatal(err)
		}
	}
}
