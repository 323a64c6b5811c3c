package cli

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"blik/app/imagefile"
	"blik/app/preset"
	"blik/internal/test/testpic"
	"blik/lab/synth"
	"blik/processing"
	"blik/processing/network"
)

// shining paints a picture with glare, and beside it the exact mask, NAME_mask.png.
func shining(t *testing.T, path string, w, h int, glare string, seed uint64) {
	t.Helper()
	o, err := synth.Preset(glare)
	if err != nil {
		t.Fatal(err)
	}
	pic, truth, _, err := synth.Generate(t.Context(), w, h, 8, seed, synth.PaintOptions{}, o)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(imagefile.WritePNG(t.Context(), path, imagefile.WriteOptions{}, pic),
		imagefile.WriteMask(t.Context(), strings.TrimSuffix(path, ".png")+"_mask.png", imagefile.WriteOptions{}, truth))
	if err != nil {
		t.Fatal(err)
	}
}

// If learning is impossible, one sentence says why, and nothing is written.
func TestLearnRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	picture := at("a=b.png")
	shining(t, picture, 110, 80, "dense", 1)
	mask := func(name string, w, h int, v uint8) string {
		m := &processing.Mask{Width: w, Height: h, Pix: make([]uint8, w*h)}
		for i := range m.Pix {
			m.Pix[i] = v
		}
		if err := imagefile.WriteMask(t.Context(), at(name), imagefile.WriteOptions{}, m); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	black, white := mask("black.png", 110, 80, 0), mask("white.png", 110, 80, 255)
	small, grey := mask("small.png", 22, 16, 0), mask("grey.png", 110, 80, 128)
	newer, out := at("newer.json"), at("out.json")
	if err := os.WriteFile(newer, []byte(`{"format": "blik preset", "version": 9}`), 0o666); err != nil {
		t.Fatal(err)
	}
	kept := at("kept.json")
	if err := preset.Write(t.Context(), kept, processing.DefaultParams()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"masks mark nothing", []string{"--from", picture + "=" + black}},
		{"leave nothing as paint", []string{"--from", picture + "=" + white}},
		{"masks mark nothing", []string{"--from", picture + "=" + grey}},
		{"22 × 16 pixels", []string{"--from", picture + "=" + small}},
		{"PICTURE=MASK", []string{"--from", black}},
		{"absent.png", []string{"--from", at("absent.png") + "=" + black}},
		{"--from is needed", nil},
		{"version 9", []string{"--from", picture + "=" + black, "--preset", newer}},
		{"not a preset", []string{"--from", picture + "=" + black, "-o", black}},
		{"--overwrite replaces it", []string{"--from", picture + "=" + black, "-o", kept}},
		{"is an input", []string{"--from", picture + "=" + black, "--preset", kept, "-o", kept, "--overwrite"}},
	} {
		got := call(t, append([]string{"learn", "-o", out, "--device", "cpu"}, c.args...)...)
		if got.status == exitDone || !strings.Contains(got.errors, c.says) || strings.Count(got.errors, "\n") > 2 {
			t.Errorf("%v: status %d, %q, want a sentence with %q", c.args, got.status, got.errors, c.says)
		}
	}
	if got := call(t, "learn", "--from", picture+"="+black); got.status != exitUsage {
		t.Errorf("without -o: %+v", got)
	}
	for _, name := range testpic.Listed(t, dir) {
		if name == "out.json" {
			t.Error("a preset was written")
		}
	}
}

// Learning prints how well each method decides, and writes a preset only if one is better than the default.
func TestLearn(t *testing.T) {
	dir := t.TempDir()
	picture, mask := filepath.Join(dir, "a.png"), filepath.Join(dir, "a_mask.png")
	shining(t, picture, 240, 180, "dense", 5)
	out := filepath.Join(dir, "my.json")
	got := call(t, "learn", "-o", out, "--from", picture+"="+mask, "--device", "cpu")
	for _, says := range []string{"learned from ", "default:", "linear shift:", "conjugacy indicator:"} {
		if got.status != exitDone || !strings.Contains(got.out, says) {
			t.Fatalf("%+v, want %q", got, says)
		}
	}
	p, _, err := preset.Read(out)
	if stays := strings.Contains(got.out, "which stays"); stays != (err != nil) || !stays && p.Learned == nil {
		t.Errorf("%q, but the preset: %+v, %v", got.out, p.Learned, err)
	}
}

// Detection applies the learned part of a preset within its limit, and --save-preset keeps it.
func TestLearnedPreset(t *testing.T) {
	dir := t.TempDir()
	picture := filepath.Join(dir, "a.png")
	shining(t, picture, 240, 180, "unclipped", 5)
	model, err := network.Default()
	if err != nil {
		t.Fatal(err)
	}
	basis, n := processing.LearnedBasis(model)
	ones := slices.Repeat([]float64{1}, n)
	found := map[float64]string{}
	for _, offset := range []float64{-9, 0, 9} {
		p := processing.DefaultParams()
		p.Learned = &processing.Learned{Basis: basis, Way: processing.WayShift, Mean: ones, Deviation: ones,
			Weights: make([]float64, n), Offset: offset}
		from, again := filepath.Join(dir, "from.json"), filepath.Join(dir, "again.json")
		if err := preset.Write(t.Context(), from, p); err != nil {
			t.Fatal(err)
		}
		got := call(t, "detect", "-o", dir, "--preset", from, "--save-preset", again, "--device", "cpu", "--overwrite",
			picture)
		if got.status != exitDone {
			t.Fatalf("%+v", got)
		}
		if q, _, err := preset.Read(again); err != nil || !reflect.DeepEqual(q, p) {
			t.Errorf("%+v, %v", q, err)
		}
		found[offset] = string(testpic.ReadFile(t, filepath.Join(dir, "a_mask.png")))
	}
	// Up to the limit, learning has the effect of a change of the sensitivity.
	for offset, sensitivity := range map[float64]string{-9: "-1", 0: "0", 9: "1"} {
		got := call(t, "detect", "-o", dir, "--sensitivity", sensitivity, "--device", "cpu", "--overwrite", picture)
		if got.status != exitDone {
			t.Fatalf("%+v", got)
		}
		if mask := string(testpic.ReadFile(t, filepath.Join(dir, "a_mask.png"))); mask != found[offset] {
			t.Errorf("an offset of %g gives another mask than the sensitivity %s", offset, sensitivity)
		}
	}
	if found[-9] == found[0] || found[0] == found[9] {
		t.Error("what was learned changes nothing")
	}
}
