package assets

import (
	"bytes"
	"context"
	"flag"
	"image"
	"image/jpeg"
	_ "image/png"

	"os"
	"runtime"
	"testing"

	"blik/internal/test/testpic"
	"blik/lab/synth"
)

var update = flag.Bool("update", false, "write sample.jpg anew")

// generate makes the sample painting.
func generate(t *testing.T) image.Image {
	t.Helper()
	const seed = 9
	ctx := context.Background()
	clean, err := synth.Paint(ctx, 1600, 1100, 8, synth.PaintOptions{Scene: "coast", Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	o := synth.VariedRelief(seed)
	o.JPEGQuality = 0
	p, _, _, err := synth.RenderRelief(ctx, clean, o)
	if err != nil {
		t.Fatal(err)
	}
	rgba := image.NewRGBA(image.Rect(0, 0, p.Width, p.Height))
	for i := range p.Width * p.Height {
		copy(rgba.Pix[4*i:4*i+3], p.U8[3*i:3*i+3])
		rgba.Pix[4*i+3] = 255
	}
	return rgba
}

// The embedded sample is what the generator makes. After a change of the generator:
//
//	go test ./assets -run Sample -update
func TestSampleIsGenerated(t *testing.T) {
	testpic.Long(t)
	const name = "sample.jpg"
	var file bytes.Buffer
	if err := jpeg.Encode(&file, generate(t), &jpeg.Options{Quality: 94}); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	// Other architectures may fuse multiplications and additions and round differently.
	limit := 0
	if runtime.GOARCH != "amd64" {
		limit = 1600 * 1100 / 1000
	}
	stored, made := decode(t, name, Sample()), decode(t, name, file.Bytes())
	if stored.Bounds() != made.Bounds() {
		t.Fatalf("%s has %v, the generator makes %v", name, stored.Bounds(), made.Bounds())
	}
	differ := 0
	for y := range 1100 {
		for x := range 1600 {
			if stored.At(x, y) != made.At(x, y) {
				differ++
			}
		}
	}
	if differ > limit {
		t.Errorf("%s: %d pixels differ from what the generator makes; run go test ./assets -run Sample -update", name, differ)
	}
}

func decode(t *testing.T, name string, data []byte) image.Image {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return img
}

func TestIcon(t *testing.T) {
	if b := decode(t, "icon.png", Icon()).Bounds(); b.Dx() != 512 || b.Dy() != 512 {
		t.Errorf("the icon has %v", b)
	}
}

// The caller may write into what it got.
func TestAssetsAreCopies(t *testing.T) {
	for name, f := range map[string]func() []byte{"Sample": Sample, "Icon": Icon} {
		a := f()
		a[0]++
		if f()[0] == a[0] {
			t.Errorf("%s hands out the program's own bytes", name)
		}
	}
}
