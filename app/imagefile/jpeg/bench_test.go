package jpeg

import (
	"bytes"
	"image"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"testing"

	"blik/processing"
)

// painting returns a JPEG of 18.7 megapixels that compresses like a photograph.
func painting(b *testing.B) *File {
	const w, h = 5292, 3528
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	rng := rand.New(rand.NewPCG(1, 2))
	for y := range h {
		for x := range w {
			v := (x*5/97+y*3/89)%96 + int(rng.Uint32()>>28)
			copy(m.Pix[m.PixOffset(x, y):], []uint8{uint8(60 + v), uint8(90 + v), uint8(v), 255})
		}
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, m, &jpeg.Options{Quality: 92}); err != nil {
		b.Fatal(err)
	}
	f, err := Open(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		b.Fatal(err)
	}
	return f
}

func BenchmarkDecode(b *testing.B) {
	f := painting(b)
	b.SetBytes(f.Info().Raw)
	for b.Loop() {
		if _, err := f.Decode(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRewrite changes 2,000 places.
func BenchmarkRewrite(b *testing.B) {
	f := painting(b)
	rng := rand.New(rand.NewPCG(3, 4))
	var patches []processing.Patch
	for range 2000 {
		patches = append(patches, blotch(rng.IntN(f.width-5), rng.IntN(f.height-5), 5, 90, 110, 70))
	}
	b.SetBytes(f.Info().Raw)
	for b.Loop() {
		if err := f.Rewrite(b.Context(), io.Discard, patches); err != nil {
			b.Fatal(err)
		}
	}
}
