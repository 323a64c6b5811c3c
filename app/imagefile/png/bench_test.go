package png

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"blik/app/imagefile/container"
	"blik/processing"
)

// painting returns a picture of 18.7 megapixels of 8 or 16 bits that compresses like a photograph: smooth colours with
// a little noise.
func painting(channels, depth int) *processing.Picture {
	const w, h = 5292, 3528
	p := &processing.Picture{Width: w, Height: h, Channels: channels}
	rng := rand.New(rand.NewPCG(1, 2))
	value := func(x, y, c int) int {
		return 60 + 30*c + (x*(3+c)/97+y*5/89)%96 + int(rng.Uint32()>>28) - 8
	}
	for y := range h {
		for x := range w {
			for c := range channels {
				if v := value(x, y, c); depth == 16 {
					p.U16 = append(p.U16, uint16(v<<8)+uint16(rng.Uint32()>>22))
				} else {
					p.U8 = append(p.U8, uint8(v))
				}
			}
		}
	}
	return p
}

func encoded(b *testing.B, p *processing.Picture) *File {
	var buf bytes.Buffer
	if err := Encode(b.Context(), &buf, p, container.Metadata{}); err != nil {
		b.Fatal(err)
	}
	f, err := Open(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// glints returns 2,000 small patches, like those of a correction.
func glints(p *processing.Picture) []processing.Patch {
	rng := rand.New(rand.NewPCG(3, 4))
	patches := make([]processing.Patch, 2000)
	for i := range patches {
		x, y := rng.IntN(p.Width-5), rng.IntN(p.Height-5)
		for dy := range 5 {
			patches[i].Runs = append(patches[i].Runs, processing.Run{Y: y + dy, X0: x, X1: x + 5})
		}
		if p.U16 != nil {
			patches[i].U16 = make([]uint16, 25*p.Channels)
		} else {
			patches[i].U8 = make([]uint8, 25*p.Channels)
		}
	}
	return patches
}

func benchmarkAll(b *testing.B, channels, depth int) {
	p := painting(channels, depth)
	size := int64(p.Width * p.Height * channels * depth / 8)
	f := encoded(b, p)
	b.Run("Decode", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			if _, err := f.Decode(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	patches := glints(p)
	b.Run("Rewrite", func(b *testing.B) {
		b.SetBytes(size)
		var n counter
		for b.Loop() {
			n = 0
			if err := f.Rewrite(b.Context(), &n, patches); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(n)/float64(f.size), "size-ratio")
	})
	b.Run("Encode", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			if err := Encode(b.Context(), io.Discard, p, container.Metadata{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// counter counts the bytes written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func BenchmarkRGB8(b *testing.B)  { benchmarkAll(b, 3, 8) }
func BenchmarkRGB16(b *testing.B) { benchmarkAll(b, 3, 16) }

// BenchmarkMask encodes a mask of 18.7 megapixels with 2,000 spots.
func BenchmarkMask(b *testing.B) {
	p := &processing.Picture{Width: 5292, Height: 3528, Channels: 1, U8: make([]uint8, 5292*3528)}
	for _, patch := range glints(p) {
		for _, r := range patch.Runs {
			for x := r.X0; x < r.X1; x++ {
				p.U8[r.Y*p.Width+x] = 255
			}
		}
	}
	b.SetBytes(int64(len(p.U8)))
	for b.Loop() {
		if err := Encode(b.Context(), io.Discard, p, container.Metadata{}); err != nil {
			b.Fatal(err)
		}
	}
}
