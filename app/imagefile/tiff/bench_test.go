package tiff

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"blik/app/imagefile/container"
	"blik/processing"
)

// master is an uncompressed 16-bit picture of 50 megapixels.
func master(b *testing.B) string {
	b.Helper()
	pic := &processing.Picture{Width: 8192, Height: 6144, Channels: 3, U16: make([]uint16, 8192*6144*3)}
	for i := range pic.U16 {
		pic.U16[i] = uint16(i * 7)
	}
	path := filepath.Join(b.TempDir(), "master.tif")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if err := Encode(context.Background(), file, pic, container.Metadata{}); err != nil {
		b.Fatal(err)
	}
	return path
}

func openFile(b *testing.B, path string) (*File, *os.File) {
	b.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	info, err := file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	f, err := Open(file, info.Size())
	if err != nil {
		b.Fatal(err)
	}
	return f, file
}

func BenchmarkDecode50MP(b *testing.B) {
	f, _ := openFile(b, master(b))
	b.SetBytes(f.info.Raw)
	for b.Loop() {
		if _, err := f.Decode(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPatch50MP changes 2000 glints of 12 × 12 pixels.
func BenchmarkPatch50MP(b *testing.B) {
	f, file := openFile(b, master(b))
	rng := rand.New(rand.NewPCG(25, 26))
	patches := make([]processing.Patch, 2000)
	for i := range patches {
		p := &patches[i]
		x, y := rng.IntN(f.info.Width-12), rng.IntN(f.info.Height-12)
		for dy := range 12 {
			p.Runs = append(p.Runs, processing.Run{Y: y + dy, X0: x, X1: x + 12})
		}
		p.U16 = make([]uint16, 12*12*3)
	}
	for b.Loop() {
		if err := f.Patch(context.Background(), file, patches); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecodeCompressed reads 6 megapixels of 16 bits in strips of 32 rows, noise in the low bits as scans have it.
func BenchmarkDecodeCompressed(b *testing.B) {
	for _, comp := range []compression{compLZW, compDeflate, compPackBits} {
		b.Run(comp.String(), func(b *testing.B) {
			f := form{order: binary.LittleEndian, depth: 16, compression: comp, photometric: photometricRGB, width: 3000, height: 2000, segH: 32}
			if comp != compPackBits {
				f.predictor = predictHorizontal
			}
			rng := rand.New(rand.NewPCG(27, 28))
			samples := make([]uint32, f.width*f.height*3)
			for i := range samples {
				samples[i] = uint32(i/90)&0x7f00 + rng.Uint32()&0xff
			}
			g := open(b, f.write(b, samples))
			b.SetBytes(g.info.Raw)
			for b.Loop() {
				if _, err := g.Decode(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
