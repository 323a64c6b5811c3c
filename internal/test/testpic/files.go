package testpic

import (
	"errors"
	"image"
	_ "image/jpeg" // for Image
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"blik/processing"
)

// ReadFile returns the content of a file.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// WriteFile writes a file of the given name to a folder of the test, and returns its path.
func WriteFile(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Listed returns the names in a folder; none if it does not exist.
func Listed(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Image decodes a PNG or JPEG file with the standard library.
func Image(t testing.TB, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return img
}

// RGB decodes a PNG or JPEG file as 8-bit RGB.
func RGB(t testing.TB, path string) *processing.Picture {
	t.Helper()
	img := Image(t, path)
	b := img.Bounds()
	pic := &processing.Picture{Width: b.Dx(), Height: b.Dy(), Channels: 3, U8: make([]uint8, 0, 3*b.Dx()*b.Dy())}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			pic.U8 = append(pic.U8, uint8(r>>8), uint8(g>>8), uint8(bl>>8))
		}
	}
	return pic
}

// WritePNG writes an image to a file of the given name in a folder of the test, and returns its path.
func WritePNG(t testing.TB, name string, img image.Image) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(f, img); err != nil {
		t.Fatal(err)
	}
	return path
}

// Spec returns the description of a parameter.
func Spec(t testing.TB, id string) processing.Spec {
	t.Helper()
	s, ok := processing.SpecByID(id)
	if !ok {
		t.Fatalf("no parameter %s", id)
	}
	return s
}

// Extremes runs a test for each valid set of parameters in which one is at its minimum or maximum.
func Extremes(t *testing.T, test func(t *testing.T, p processing.Params)) {
	t.Helper()
	for _, s := range processing.Specs() {
		for _, v := range []float64{s.Min, s.Max} {
			p := processing.DefaultParams()
			if s.Manual {
				p.Mode = processing.Manual
			}
			if err := s.Set(&p, v); err != nil || p.Validate() != nil {
				continue
			}
			t.Run(s.ID, func(t *testing.T) { test(t, p) })
		}
	}
}
