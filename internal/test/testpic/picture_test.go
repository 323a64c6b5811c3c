package testpic

import (
	"image"
	"reflect"
	"testing"

	"blik/processing"
)

func TestFlood(t *testing.T) {
	t.Parallel()
	m := processing.NewMask(5, 3)
	for _, p := range []image.Point{{X: 0, Y: 1}, {X: 1, Y: 0}, {X: 4, Y: 0}, {X: 4, Y: 2}, {X: 3, Y: 2}} {
		m.Pix[p.Y*m.Width+p.X] = 255
	}
	want := [][]image.Point{
		{{X: 1, Y: 0}, {X: 0, Y: 1}},
		{{X: 4, Y: 0}},
		{{X: 3, Y: 2}, {X: 4, Y: 2}},
	}
	if got := Flood(m); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	for _, pic := range []*processing.Picture{
		Flat(3, 2, 3, 9), Noise(7, 5, 1, 8), Noise(7, 5, 3, 16), Noise(7, 5, 3, 32), Painted(7, 5, 4, 8), Painted(7, 5, 3, 16),
	} {
		if err := pic.Validate(); err != nil {
			t.Error(err)
		}
	}
}
