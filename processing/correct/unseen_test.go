package correct_test

import (
	"context"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/internal/test/testpic"
	"blik/lab/synth"
	"blik/processing"
	"blik/processing/correct"
)

// unseenPaintings are paintings without part in the development set, in two halves: on the first, constants of the
// correction may be chosen; the second only measures them.
func unseenPaintings(t *testing.T) (halves [2][]string) {
	files := slices.Concat(testpic.SharedFiles(t, "paintings-more/*.jpg"),
		testpic.SharedFiles(t, "negatives/n12*.png"), testpic.SharedFiles(t, "paintings/p038*.jpg"))
	for _, f := range files {
		name, _, _ := strings.Cut(filepath.Base(f), "_")
		half := 1
		if slices.Contains([]string{"p002", "p011", "p014", "p016", "p031", "n12"}, name) {
			half = 0
		}
		halves[half] = append(halves[half], f)
	}
	return halves
}

// renderUnseen renders the standard spots on the middle of a painting, like the development pictures: three lamps, six
// mixes of places, and half of the pictures through a JPEG file of quality 90.
func renderUnseen(t *testing.T, file string, number, w, h int) (clean, glare *processing.Picture,
	truth *processing.Mask) {
	t.Helper()
	whole := testpic.RGB(t, file)
	clean = excerpt(whole, min(w, whole.Width), min(h, whole.Height))
	o, err := synth.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	o.Seed = uint64(31000 + number)
	o.Lights = [][][3]float64{{{1, 0.99, 0.98}}, {{1, 0.94, 0.86}}, {{0.92, 0.97, 1}}}[number%3]
	o.Placement = []synth.Placement{{Weave: 0.7, Ridge: 0.1, Scatter: 0.2}, {Weave: 0.15, Ridge: 0.15, Scatter: 0.7},
		{Weave: 0.5, Ridge: 0.25, Scatter: 0.25}, {Weave: 0.05, Ridge: 0.8, Scatter: 0.15},
		{Weave: 0.2, Ridge: 0.5, Scatter: 0.3}, {Weave: 0.45, Ridge: 0.35, Scatter: 0.2}}[number%6]
	if number/2%2 == 1 {
		o.JPEGQuality = 90
	}
	if glare, truth, _, err = synth.RenderGlare(context.Background(), clean, o); err != nil {
		t.Fatal(err)
	}
	return clean, glare, truth
}

// TestCorrectUnseenPaintings corrects a painting that no constant was chosen on. With BLIK_UNSEEN naming a folder it
// writes all pictures of both halves there instead: scripts/unseen.py measures them.
func TestCorrectUnseenPaintings(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	halves := unseenPaintings(t)
	if dir := os.Getenv("BLIK_UNSEEN"); dir != "" {
		number := 0
		for k, files := range halves {
			writeUnseen(t, filepath.Join(dir, []string{"chosen", "measured"}[k]), files, number)
			number += len(files)
		}
		return
	}
	clean, glare, truth := renderUnseen(t, halves[1][0], 10, 400, 300)
	got, _ := correctOn(t, glare, widen(truth, true), processing.DefaultParams(), correct.Options{})
	f := measured(t, got, clean, truth)
	t.Logf("PSNR %.2f SSIM %.3f", f.PSNR, f.SSIM)
	if f.PSNR < unseenPSNR {
		t.Errorf("PSNR %.2f, want at least %g", f.PSNR, unseenPSNR)
	}
}

// unseenPSNR is a little less than what is reached on the part of the painting that the test takes.
const unseenPSNR = 29.6

// writeUnseen writes pictures with glare, without, and masks of the glare, as ../shared/tools/score.py reads them.
func writeUnseen(t *testing.T, dir string, files []string, number int) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name string, m image.Image) {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := png.Encode(f, m); err != nil {
			t.Fatal(err)
		}
	}
	colours := func(p *processing.Picture) image.Image {
		m := image.NewNRGBA(image.Rect(0, 0, p.Width, p.Height))
		for i := range p.Width * p.Height {
			copy(m.Pix[4*i:], p.U8[3*i:3*i+3])
			m.Pix[4*i+3] = 255
		}
		return m
	}
	type item struct {
		Name  string `json:"name"`
		Glare string `json:"glare"`
		Mask  string `json:"mask"`
		Clean string `json:"clean"`
	}
	var items []item
	for i, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		clean, glare, truth := renderUnseen(t, file, number+i, 1000, 750)
		it := item{name, name + "_glare.png", name + "_mask.png", name + "_clean.png"}
		write(it.Glare, colours(glare))
		write(it.Clean, colours(clean))
		write(it.Mask, &image.Gray{Pix: truth.Pix, Stride: truth.Width, Rect: image.Rect(0, 0, truth.Width, truth.Height)})
		items = append(items, it)
	}
	list, err := json.Marshal(map[string]any{"items": items})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), list, 0o644); err != nil {
		t.Fatal(err)
	}
}
