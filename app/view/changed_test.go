package view

import (
	"image"
	"image/color"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// Changed pixels show in the colour of their kind, whatever the mask marks; all others show the picture.
func TestChangedColours(t *testing.T) {
	t.Parallel()
	full, kinds := processing.NewMask(20, 3), processing.NewMask(20, 3)
	for i := range full.Pix {
		full.Pix[i] = 255
	}
	copy(kinds.Pix[20+11:], []uint8{255, 170, 170, 85})
	picture, mask := pyramids(t, testpic.Flat(20, 3, 1, 50), full)
	r := NewRenderer()
	r.SetPicture(picture, mask)
	marked, halo, veil := ChangedColours()
	plain := color.RGBA{50, 50, 50, 255}
	want := map[int]color.RGBA{11: marked, 12: halo, 13: halo, 14: veil}
	for _, other := range []*MaskPyramid{NewMaskPyramid(kinds), nil} {
		out := image.NewRGBA(image.Rect(0, 0, 20, 3))
		r.Render(out, Transform{Zoom: 1}, Options{Mode: Changed, Opacity: 1, Other: other})
		for i := range kinds.Pix {
			x, y := i%20, i/20
			expected, ok := want[x]
			if !ok || y != 1 || other == nil {
				expected = plain
			}
			if got := out.RGBAAt(x, y); got != expected {
				t.Errorf("pixel %d, %d is %v, want %v", x, y, got, expected)
			}
		}
	}
}
