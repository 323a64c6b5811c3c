package processing_test

import (
	"testing"

	"blik/internal/testpic"
	"blik/processing"
	"blik/processing/fit"
	"blik/processing/score"
	"blik/processing/synth"
)

// TestClassicFindsInLessLight: the classical detector finds at least half as many glints of an underexposed picture as of
// the picture itself. Measured were 0.738 and 0.487 of the glints with half and a quarter of the light (0.863 with all);
// with fixed levels 0.425 and none.
func TestClassicFindsInLessLight(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	glare, err := synth.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	pic, _, truth, _, err := generate(900, 700, 8, 1, glare)
	if err != nil {
		t.Fatal(err)
	}
	p := processing.DefaultParams()
	p.Detector = processing.DetectClassic
	found := func(e fit.Exposure) float64 {
		return score.Compare(detect(t, e.Take(pic, 1), p, processing.Options{}).Mask, truth, 1).ObjR
	}
	all := found(fit.Exposure{Share: 1})
	for _, share := range []float64{0.5, 0.25} {
		got := found(fit.Exposure{Share: share})
		t.Logf("%g of the light: %.3f of the glints, %.3f with all of it", share, got, all)
		if got < all/2 {
			t.Errorf("%g of the light: %.3f of the glints are found, want half of the %.3f with all of it", share, got, all)
		}
	}
}
