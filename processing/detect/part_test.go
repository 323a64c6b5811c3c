package detect_test

import (
	"image"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// A part with its surroundings gives the same mask as the whole picture, whatever the parameters and wherever the part
// lies.
func TestPartsAreThoseOfTheWhole(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	const w, h = 600, 420
	pic := glaring(t, w, h, 8, 3)
	marked := 0
	for name, p := range detectors() {
		for _, change := range []func(*processing.Params, *detect.Options){
			func(*processing.Params, *detect.Options) {},
			func(p *processing.Params, _ *detect.Options) { p.Margin, p.Close, p.Sensitivity = 3, 1, 2 },
			func(_ *processing.Params, o *detect.Options) {
				o.Region = &processing.Region{Shape: processing.EllipseShape,
					Points: []processing.Point{{X: 200, Y: 100}, {X: 690, Y: 400}}}
			},
			func(p *processing.Params, _ *detect.Options) { p.Mode, p.Window, p.Core = processing.Manual, 19, 30 },
		} {
			p, o := p, options()
			change(&p, &o)
			whole := found(t, pic, p, o)
			for _, inside := range []image.Rectangle{image.Rect(301, 203, 420, 290), image.Rect(550, -9, 900, 33)} {
				part, ok, err := detect.NewPart(pic, p, o, inside)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					if o.Region == nil {
						t.Fatalf("%s: no part %v", name, inside)
					}
					continue
				}
				mask, from := part.Mask(found(t, part.Picture, p, part.Options))
				differ := 0
				for y := range mask.Height {
					for x := range mask.Width {
						v := mask.Pix[y*mask.Width+x]
						if v != whole.Mask.Pix[(from.Y+y)*w+from.X+x] {
							differ++
						}
						marked += int(v) / 255
					}
				}
				if differ > 0 {
					t.Errorf("%s with %+v: %d pixels of %v differ", name, p, differ, inside)
				}
			}
		}
	}
	if marked == 0 {
		t.Error("no part has glare")
	}
	if _, ok, err := detect.NewPart(pic, processing.DefaultParams(), options(), image.Rect(800, 0, 900, 9)); ok ||
		err != nil {
		t.Errorf("a part beside the picture: %v, %v", ok, err)
	}
}
