package view

import (
	"bytes"
	"image"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/testpic"
	"blik/processing"
)

// Vector instructions draw the same pixels as plain Go, at every zoom that interpolates and for narrow pictures and
// viewports as well.
func TestVectorsDrawTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w, h := rapid.IntRange(1, 90).Draw(r, "w"), rapid.IntRange(1, 60).Draw(r, "h")
		depth := rapid.SampledFrom([]int{8, 16}).Draw(r, "depth")
		p, err := NewPyramid(t.Context(), testpic.Noise(w, h, 3, depth))
		if err != nil {
			r.Fatal(err)
		}
		view := image.Pt(rapid.IntRange(1, 120).Draw(r, "vw"), rapid.IntRange(1, 40).Draw(r, "vh"))
		at := processing.Point{X: rapid.Float64Range(0, 90).Draw(r, "x"), Y: rapid.Float64Range(0, 60).Draw(r, "y")}
		zoom := rapid.Float64Range(0.05, nearestZoom).Draw(r, "zoom")
		place := Transform{Zoom: zoom}.CentreOn(at, view)
		draw := func(vectors *blender) []uint8 {
			to := image.NewRGBA(image.Rectangle{Max: view})
			renderer := NewRenderer()
			renderer.vectors = vectors
			renderer.SetPicture(p, nil)
			renderer.Render(to, place, DefaultOptions())
			return to.Pix
		}
		if !bytes.Equal(draw(vectorBlender()), draw(nil)) {
			r.Fatal("the pixels differ")
		}
	})
}
