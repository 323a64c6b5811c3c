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
