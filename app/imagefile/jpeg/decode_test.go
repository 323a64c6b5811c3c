package jpeg

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"blik/internal/test/containertest"
	"blik/internal/test/testpic"
)

func open(t *testing.T, data []byte) *File {
	t.Helper()
	return containertest.Open(t, Open, data)
}

// TestDecodeAsLibjpeg compares every kind of subsampling, and real files, with libjpeg-turbo: every sample must be the
// same.
func TestDecodeAsLibjpeg(t *testing.T) {
	testpic.NoRace(t)
	check := func(t *testing.T, data, want []byte) {
		t.Helper()
		f := open(t, data)
		pic, err := f.Decode(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(want) != len(pic.U8) {
			t.Fatalf("%d samples, libjpeg has %d", len(pic.U8), len(want))
		}
		for i, v := range pic.U8 {
			if v != want[i] {
				t.Fatalf("%v: pixel %d, %d, channel %d: %d, libjpeg has %d", f.components,
					i/pic.Channels%pic.Width, i/pic.Channels/pic.Width, i%pic.Channels, v, want[i])
			}
		}
	}
	var files [][]byte
	for _, list := range [][][][2]int{factors1, factors3, factors4} {
		for _, factors := range list {
			for _, size := range [][2]int{{50, 37}, {17, 16}, {5, 3}, {4, 4}, {1, 1}} {
				s := synthetic{File: File{width: size[0], height: size[1], frame: markerSOF0, adobe: -1}}
				if len(factors) == 4 {
					s.adobe = 2
				}
				var all []int
				for i, hv := range factors {
					s.components = append(s.components, component{id: uint8(i + 1), h: hv[0], v: hv[1], quant: uint8(i % 2)})
					all = append(all, i)
				}
				s.add(all, 0, 63, 0, 0)
				p := s.coefficients(rand.New(rand.NewPCG(uint64(size[0]), uint64(size[1]))))
				tame(p)
				files = append(files, s.file(t, p))
			}
		}
	}
	for i, want := range pillow(t, files...) {
		check(t, files[i], want)
	}
	for _, name := range testpic.SharedFiles(t, "io-samples/*.jpg", "glare-dev/*.jpg") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			check(t, data, pillow(t, data)[0])
		})
	}
}

// tame removes coefficients that no picture has: they would overflow the 16 bits of libjpeg's vector code.
func tame(p *picture) {
	for _, blocks := range p.blocks {
		for i := range blocks {
			for k, c := range blocks[i] {
				blocks[i][k] = min(max(c, -20), 20)
			}
		}
	}
}

// TestDecodeNearTheStandardLibrary needs no other programs: samples that are not subsampled may differ only by
// rounding.
func TestDecodeNearTheStandardLibrary(t *testing.T) {
	m := image.NewYCbCr(image.Rect(0, 0, 61, 43), image.YCbCrSubsampleRatio444)
	for y := range 43 {
		for x := range 61 {
			at := m.YOffset(x, y)
			m.Y[at], m.Cb[at], m.Cr[at] = uint8(4*x), uint8(5*y+x), uint8(255-3*x)
		}
	}
	rgba := image.NewRGBA(m.Rect)
	draw.Draw(rgba, m.Rect, m, image.Point{}, draw.Src)
	var file bytes.Buffer
	if err := jpeg.Encode(&file, rgba, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	want, err := jpeg.Decode(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	pic, err := open(t, file.Bytes()).Decode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for y := range pic.Height {
		for x := range pic.Width {
			r, g, b, _ := want.At(x, y).RGBA()
			for c, v := range []uint32{r, g, b} {
				d := int(pic.U8[(y*pic.Width+x)*3+c]) - int(v>>8)
				sum += max(d, -d)
			}
		}
	}
	// The library's encoder halves chroma, and its decoder repeats what this one interpolates.
	if mean := float64(sum) / float64(len(pic.U8)); mean > 4 {
		t.Errorf("samples differ by %.2f on average", mean)
	}
}
