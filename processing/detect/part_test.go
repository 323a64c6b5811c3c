package processing_test

import (
	"image"
	"slices"
	"testing"

	"blik/internal/testpic"
	"blik/processing"
	"blik/processing/cpu"
)

// detectPart detects in a part of a picture; nil if the region does not touch it.
func detectPart(t *testing.T, pic *processing.Picture, p processing.Params, o processing.Options,
	inside image.Rectangle,
) (*processing.Mask, image.Point) {
	t.Helper()
	part, ok, err := processing.NewPart(pic, p, o, inside)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return nil, image.Point{}
	}
	return part.Mask(detect(t, part.Picture, p, part.Options))
}

// differing counts the pixels in which a part differs from the whole mask.
func differing(whole, part *processing.Mask, at image.Point) (n int) {
	for y := range part.Height {
		for x := range part.Width {
			if part.Pix[y*part.Width+x] != whole.Pix[(at.Y+y)*whole.Width+at.X+x] {
				n++
			}
		}
	}
	return n
}

// A part with its surroundings gives the same mask as the whole picture, whatever the parameters and wherever the part
// lies.
func TestPartsAreThoseOfTheWhole(t *testing.T) {
	testpic.NoRace(t)
	const w, h = 600, 420
	pic := glaring(t, w, h, 8, 3)
	specs := processing.SpecsOf(processing.StageDetection)
	marked := 0
	for i, mode := range []processing.Mode{processing.Manual, processing.Adaptive, processing.Manual} {
		p := processing.DefaultParams()
		p.Mode, p.Margin = mode, i
		if i == 2 {
			// This rule needs the noise of the whole picture.
			p.MinZ, p.Scale = 1, 0.5
		}
		for _, id := range []string{"", "window", "contrast", "core"} {
			if mode == processing.Adaptive && id != "" {
				continue
			}
			for _, s := range specs {
				if s.ID == id {
					_ = s.Set(&p, s.Min+(s.Max-s.Min)/4)
				}
			}
			memory := &processing.Memory{}
			var region *processing.Region
			if id == "core" {
				region = &processing.Region{Shape: processing.EllipseShape,
					Points: []processing.Point{{X: 200, Y: 100}, {X: 690, Y: 400}}}
			}
			o := processing.Options{Memory: memory, Region: region}
			whole := detect(t, pic, p, o)
			for _, inside := range []image.Rectangle{image.Rect(301, 203, 420, 290), image.Rect(550, -9, 900, 33)} {
				part, at := detectPart(t, pic, p, o, inside)
				if part == nil {
					if region == nil {
						t.Fatalf("no part %v", inside)
					}
					continue
				}
				if n := differing(whole.Mask, part, at); n > 0 {
					t.Errorf("%v with %q: %d pixels of %v differ", mode, id, n, inside)
				}
				for _, v := range part.Pix {
					marked += int(v) / 255
				}
			}
		}
	}
	if marked == 0 {
		t.Error("no part has glare")
	}
	if _, ok, err := processing.NewPart(pic, processing.DefaultParams(), processing.Options{},
		image.Rect(800, 0, 900, 9)); ok || err != nil {
		t.Errorf("a part beside the picture: %v, %v", ok, err)
	}
}

// TestPartOfALargePicture: a part that lies far from every border, so that each size is searched around it only, gives
// the mask of the whole picture.
func TestPartOfALargePicture(t *testing.T) {
	testpic.NoRace(t)
	testpic.Long(t)
	const w, h = 1700, 1200
	pic := glaring(t, w, h, 16, 2)
	p := processing.DefaultParams()
	whole := detect(t, pic, p, processing.Options{})
	inside := image.Rect(751, 503, 920, 660)
	part, ok, err := processing.NewPart(pic, p, processing.Options{}, inside)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if area := part.Area; area.Dx() > w/2 || area.Dy() > h*2/3 {
		t.Errorf("%v is read for %v", area, inside)
	}
	mask, at := part.Mask(detect(t, part.Picture, p, part.Options))
	if n := differing(whole.Mask, mask, at); n > 0 || slices.Max(mask.Pix) == 0 {
		t.Errorf("%d pixels differ, some marked: %t", n, slices.Max(mask.Pix) > 0)
	}
}

// BenchmarkPart searches what a window of 1600 × 1000 shows at 1:1, 1150 × 850 pixels beside the panel, each time with
// another background window, as when a slider moves.
func BenchmarkPart(b *testing.B) {
	pic := glaring(b, 2400, 1900, 8, 1)
	be := cpu.New()
	defer be.Close()
	for name, mode := range map[string]processing.Mode{"manual": processing.Manual, "adaptive": processing.Adaptive} {
		b.Run(name, func(b *testing.B) {
			p := processing.DefaultParams()
			p.Mode = mode
			inside := image.Rect(620, 520, 1770, 1370)
			for i := 0; b.Loop(); i++ {
				p.Window = 11 + 2*(i%5)
				part, _, err := processing.NewPart(pic, p, processing.Options{}, inside)
				if err == nil {
					_, err = processing.Detect(b.Context(), be, part.Picture, p, part.Options)
				}
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(part.Area.Dx() * part.Area.Dy()))
			}
		})
	}
}
