package tiff

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"blik/app/imagefile/container"
	"blik/internal/test/containertest"
	"blik/processing"

	"pgregory.net/rapid"
)

// FuzzOpen checks that no data cause a panic, that faults are reported as such, and that changing a pixel of a readable
// picture changes no other pixel.
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

// attempt opens, reads and patches data, whatever they are.
func attempt(t containertest.T, data []byte) {
	t.Helper()
	file, pic, ok := containertest.Attempt(t, Open, data, 1<<20)
	if !ok {
		return
	}
	patch := change(pic, pic.Width/2, pic.Height/2)
	m := &memory{bytes.Clone(data)}
	if err := file.Patch(context.Background(), m, []processing.Patch{patch}); err != nil {
		containertest.Fault(t, err)
		return
	}
	got := containertest.Decode(t, Open, m.b)
	onlyChanged(t, pic, got, patch)
}

// TestContradictions puts odd numbers into the tags of valid files, which the fuzzer seldom does.
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
