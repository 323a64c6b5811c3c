package uitest

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"
	"testing"

	"blik/assets"
	"blik/internal/test/testpic"
)

// Tiled writes a PNG of the given size, filled with copies of the sample painting.
func Tiled(t testing.TB, w, h int) string {
	t.Helper()
	tile, err := jpeg.Decode(bytes.NewReader(assets.Sample()))
	if err != nil {
		t.Fatal(err)
	}
	img, size := image.NewRGBA(image.Rect(0, 0, w, h)), tile.Bounds().Size()
	for y := 0; y < h; y += size.Y {
		for x := 0; x < w; x += size.X {
			draw.Draw(img, image.Rect(x, y, x+size.X, y+size.Y), tile, image.Point{}, draw.Src)
		}
	}
	return testpic.WritePNG(t, "large.png", img)
}
