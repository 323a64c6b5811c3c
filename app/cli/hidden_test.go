package cli

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"blik/app/imagefile"
	"blik/internal/test/testpic"
)

// Nothing is found in wholly transparent pixels, a mask there changes nothing, and their colours influence neither the
// findings nor the corrections of the others.
func TestHiddenColours(t *testing.T) {
	t.Parallel()
	const w, h = 160, 120
	hides := func(x, y int) bool { return x < 24 || y > 104 || x > 70 && x < 79 }
	dir := t.TempDir()
	var masks, results [][]byte
	for name, hidden := range map[string]func(x, y int) uint8{
		"glints": func(x, y int) uint8 { return uint8(60 + (x/3+y/3)%9/8*190) },
		"black":  func(int, int) uint8 { return 0 }, "white": func(int, int) uint8 { return 255 },
	} {
		m := image.NewNRGBA(image.Rect(0, 0, w, h))
		for i := range w * h {
			x, y := i%w, i/w
			v := uint8(60 + i*7919%5)
			for _, at := range glints() {
				if x >= at[0]-1 && x <= at[0]+1 && y >= at[1]-1 && y <= at[1]+1 {
					v = 250
				}
			}
			c := color.NRGBA{v, v, v, 255}
			if hides(x, y) {
				v := hidden(x, y)
				c = color.NRGBA{v, v, v, 0}
			}
			m.SetNRGBA(x, y, c)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		in, out := filepath.Join(dir, name+".png"), filepath.Join(dir, name)
		if err := os.WriteFile(in, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := call(t, "detect", "-q", "-o", out, in); got.status != exitDone {
			t.Fatalf("%s: %+v", name, got)
		}
		found, err := imagefile.ReadMask(t.Context(), filepath.Join(out, name+"_mask.png"), w, h, imagefile.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if found.Area() == 0 {
			t.Fatalf("%s: nothing is found", name)
		}
		for i, v := range found.Pix {
			if v > 0 && hides(i%w, i/w) {
				t.Fatalf("%s: %d, %d is found, but transparent", name, i%w, i/w)
			}
		}
		masks = append(masks, found.Pix)
		// The mask covers hidden pixels beside visible ones.
		given := bytes.Clone(found.Pix)
		for i := range given {
			if x, y := i%w, i/w; x > 20 && x < 26 && y > 40 && y < 44 || x > 77 && x < 83 && y > 57 && y < 63 {
				given[i] = 255
			}
		}
		mask := writeMask(t, filepath.Join(dir, name+"_given.png"), w, given...)
		if got := call(t, "correct", "-q", "--mask", mask, "-o", out, in); got.status != exitDone {
			t.Fatalf("%s: %+v", name, got)
		}
		fixed, err := png.Decode(bytes.NewReader(testpic.ReadFile(t, filepath.Join(out, name+"_corrected.png"))))
		if err != nil {
			t.Fatal(err)
		}
		var visible []byte
		for i := range w * h {
			c := color.NRGBAModel.Convert(fixed.At(i%w, i/w)).(color.NRGBA)
			if hides(i%w, i/w) {
				if c != m.NRGBAAt(i%w, i/w) {
					t.Fatalf("%s: the hidden colour of %d, %d changed", name, i%w, i/w)
				}
				continue
			}
			visible = append(visible, c.R, c.G, c.B, c.A)
		}
		results = append(results, visible)
	}
	for i := range masks {
		if !bytes.Equal(masks[0], masks[i]) {
			t.Error("the findings depend on hidden colours")
		}
		if !bytes.Equal(results[0], results[i]) {
			t.Error("the corrections depend on hidden colours")
		}
	}
}
