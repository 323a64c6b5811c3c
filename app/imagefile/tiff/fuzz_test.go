package tiff

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"blik/app/imagefile/container"
	"blik/processing"

	"pgregory.net/rapid"
)

// FuzzOpen: whatever the bytes are, there is no panic; faults are reported as such; and where a picture can
// be read and a pixel changed, that pixel changes and no other.
func FuzzOpen(f *testing.F) {
	rng := rand.New(rand.NewPCG(23, 24))
	for i, form := range forms(rng) {
		if i%9 == 0 {
			form.width, form.height = 9, 7
			f.Add(form.write(f, form.random(rng)))
		}
	}
	pages, _ := filepath.Glob("../../../../shared/data/malformed/*.tif*")
	for _, path := range pages {
		if data, err := os.ReadFile(path); err == nil && len(data) < 4096 {
			f.Add(data)
		}
	}
	f.Add(encode(f, randomPicture(rng, 5, 4, 3, 16), container.Metadata{XMP: []byte("<x/>"), XResolution: 300, YResolution: 300, Unit: 1}))
	f.Fuzz(func(t *testing.T, data []byte) { attempt(t, data) })
}

// fataler is what testing.T and rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// attempt opens, reads and patches data, whatever they are.
func attempt(t fataler, data []byte) {
	t.Helper()
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
		t.Fatalf("%v", err)
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
}

// TestContradictions puts odd numbers into the tags of good files, which chance alone seldom does.
func TestContradictions(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 30))
	all := forms(rng)
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(all).Draw(t, "form")
		f.width, f.height = rapid.IntRange(1, 40).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height")
		f.sharedStrips = rapid.IntRange(0, 3).Draw(t, "shared") == 0
		data := f.write(t, f.random(rng))
		file, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		odd := rapid.OneOf(rapid.Int64Range(0, 40), rapid.Int64Range(0, int64(len(data))), rapid.SampledFrom([]int64{1 << 16, 1<<31 - 1, 1<<32 - 1, math.MaxInt64}))
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			e := rapid.SampledFrom(file.dir.Entries).Draw(t, "entry")
			at, n := e.At, int64(2)
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				at += 2
			case 1:
				at, n = e.At+4, file.src.OffsetSize()
			default:
				n = max(e.Kind.Size(), 1)
				at = e.Value + n*rapid.Int64Range(0, int64(e.Count)-1).Draw(t, "value")
			}
			putInt(f.order, data[at:][:n], odd.Draw(t, "number"))
		}
		attempt(t, data)
	})
}

func isFault(t fataler, err error) {
	t.Helper()
	var fault *container.Fault
	if !errors.As(err, &fault) || fault.Text.IsZero() {
		t.Fatalf("%v is no fault in two languages", err)
	}
}
