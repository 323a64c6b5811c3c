package processing_test

import (
	"image"
	"slices"
	"testing"

	"blik/internal/testpic"
	"blik/processing"
	"blik/processing/fit"
	"blik/processing/score"
	"blik/processing/synth"
)

// TestFindsInLessLight: with half and a quarter of the light, the classical detector finds at least half as many glints
// as with all of it, and the default one nearly as many. Measured shares of the glints: classical 0.855 and 0.556
// (0.960 with all light), default 0.911 and 0.831 (0.944); with fixed levels, 0.516 and none, 0.548 and 0.145.
func TestFindsInLessLight(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	glare, err := synth.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	pic, _, truth, _, err := generate(1100, 960, 8, 1, glare)
	if err != nil {
		t.Fatal(err)
	}
	for detector, least := range map[processing.Detector]float64{
		processing.DetectClassic: 0.5, processing.DetectJoined: 0.8,
	} {
		p := processing.DefaultParams()
		p.Detector = detector
		found := func(e fit.Exposure) float64 {
			return score.Compare(detect(t, e.Take(pic, 1), p, processing.Options{}).Mask, truth, 1).ObjR
		}
		all := found(fit.Exposure{Share: 1})
		for _, share := range []float64{0.5, 0.25} {
			got := found(fit.Exposure{Share: share})
			t.Logf("detector %v, %g of the light: %.3f of the glints, %.3f with all of it", detector, share, got, all)
			if got < least*all {
				t.Errorf("detector %v, %g of the light: %.3f of the glints are found, want %g of the %.3f with all of it",
					detector, share, got, least, all)
			}
		}
	}
}

// TestDarkParts: a part of a dark picture is brightened as in the whole, even if the white that counts lies far outside
// it, and whether or not a detection of the whole is known.
func TestDarkParts(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	const w, h = 2240, 640
	pic := fit.Exposure{Share: 0.4}.Take(glaring(t, w, h, 8, 3), 1)
	// Light falls on the left end.
	for y := 40; y < 44; y++ {
		for x := 20; x < 24; x++ {
			copy(pic.U8[3*(y*w+x):], []uint8{250, 250, 250})
		}
	}
	inside := image.Rect(1500, 200, 1700, 400)
	p := processing.DefaultParams()
	p.Detector = processing.DetectNetwork
	memory := &processing.Memory{}
	whole := detect(t, pic, p, processing.Options{Memory: memory})
	var areas []int
	for _, o := range []processing.Options{{}, {Memory: memory}} {
		part, ok, err := processing.NewPart(pic, p, o, inside)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		mask, at := part.Mask(detect(t, part.Picture, p, part.Options))
		if n := differing(whole.Mask, mask, at); n > 0 || slices.Max(mask.Pix) == 0 {
			t.Errorf("%d pixels differ, some marked: %t", n, slices.Max(mask.Pix) > 0)
		}
		areas = append(areas, part.Area.Dx())
	}
	if areas[0] != areas[1] {
		t.Errorf("parts are %d wide, and %d where the whole is known", areas[0], areas[1])
	}
}
