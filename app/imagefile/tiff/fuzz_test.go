package tiff

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blik/app/imagefile/codec"
	"blik/processing"
)

// FuzzOpen: whatever the bytes are, there is no panic and no long wait; faults are told as such; and where a picture can
// be read and a pixel changed, that pixel changes and no other.
func FuzzOpen(f *testing.F) {
	rng := rand.New(rand.NewPCG(23, 24))
	for i, form := range forms(rng) {
		if i%9 == 0 {
			form.width, form.height = 9, 7
			f.Add(form.write(f, form.random(rng)))
		}
	}
	pages, _ := filepath.Glob(filepath.Join(malformedDir, "*.tif*"))
	for _, path := range pages {
		if data, err := os.ReadFile(path); err == nil && len(data) < 4096 {
			f.Add(data)
		}
	}
	f.Add(encode(f, randomPicture(rng, 5, 4, 3, 16), codec.Metadata{XMP: []byte("<x/>"), XResolution: 300, YResolution: 300, Unit: 1}, EncodeOptions{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		defer func() {
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("took %v", d)
			}
		}()
		file, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			isFault(t, err)
			return
		}
		i := file.Info()
		if int64(i.Width)*int64(i.Height) > 1<<20 || i.Raw > 1<<23 || i.Scratch > 1<<26 {
			return
		}
		pic, err := file.Decode(context.Background())
		if err != nil {
			isFault(t, err)
			return
		}
		if err := pic.Validate(); err != nil {
			t.Fatal(err)
		}
		patch := change(pic, i.Width/2, i.Height/2)
		m := &memory{bytes.Clone(data)}
		if err := file.Patch(context.Background(), m, []processing.Patch{patch}); err != nil {
			isFault(t, err)
			return
		}
		after, err := Open(bytes.NewReader(m.b), int64(len(m.b)))
		if err != nil {
			t.Fatalf("what was patched cannot be opened: %v", err)
		}
		got, err := after.Decode(context.Background())
		if err != nil {
			t.Fatalf("what was patched cannot be read: %v", err)
		}
		onlyChanged(t, pic, got, patch)
	})
}

func isFault(t *testing.T, err error) {
	t.Helper()
	var fault *codec.Fault
	if !errors.As(err, &fault) || fault.Text.EN == "" || fault.Text.RU == "" {
		t.Fatalf("%v is no fault in two languages", err)
	}
}

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
	if err := Encode(context.Background(), file, pic, codec.Metadata{}, EncodeOptions{}); err != nil {
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
