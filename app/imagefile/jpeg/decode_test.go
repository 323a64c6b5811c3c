package jpeg

import (
	"bytes"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"blik/app/imagefile/codec"
)

// samples is the folder of real pictures beside the repository; tests that need it are skipped where it is not.
const samples = "../../../../shared/data"

// jpegSamples returns the JPEG files of a folder of the samples.
func jpegSamples(t *testing.T, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(samples, folder, "*.jpg"))
	if err != nil || len(names) == 0 {
		t.Skipf("no sample pictures in %s", filepath.Join(samples, folder))
	}
	return names
}

func open(t *testing.T, data []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestDecodeAsTheStandardLibrary(t *testing.T) {
	for _, name := range jpegSamples(t, "io-samples") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f := open(t, data)
		pic, err := f.Decode(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		img, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for y := range pic.Height {
			for x := range pic.Width {
				got := pic.U8[(y*pic.Width+x)*pic.Channels:][:pic.Channels]
				want := []uint8{}
				if m, ok := img.(*image.CMYK); ok {
					c := m.CMYKAt(x, y)
					want = append(want, c.C, c.M, c.Y, c.K)
				} else {
					r, g, b, _ := img.At(x, y).RGBA()
					want = append(want, uint8(r>>8), uint8(g>>8), uint8(b>>8))
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("%s: pixel %d, %d: %v, want %v", name, x, y, got, want)
				}
			}
		}
		if i := f.Info(); i.Channels() != pic.Channels || i.Colour == codec.Grey {
			t.Errorf("%s: Info %+v", name, i)
		}
	}
}
