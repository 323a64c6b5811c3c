package editor

import (
	"image"
	"testing"

	"blik/processing"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	boxes := []image.Rectangle{image.Rect(0, 0, 100, 100), image.Rect(40, 40, 44, 44), image.Rect(200, 200, 201, 201)}
	for _, c := range []struct {
		x, y, slack float64
		want        int
	}{
		{42, 42, 5, 1}, {10, 10, 5, 0}, {198, 200.5, 5, 2}, {195.1, 200.5, 5, 2}, {194.9, 200.5, 5, -1}, {150, 150, 5,
			-1}, {104, 50, 5, 0},
	} {
		if got := nearest(boxes, processing.Point{X: c.x, Y: c.y}, c.slack); got != c.want {
			t.Errorf("nearest to (%g, %g) is %d, expected %d", c.x, c.y, got, c.want)
		}
	}
}
