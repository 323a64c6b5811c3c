package processing_test

import (
	"testing"

	"blik/internal/testpic"
	"blik/processing"
)

// TestSensitivityLosesNothing: a higher sensitivity finds everything that a lower one does, for every detector.
func TestSensitivityLosesNothing(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	pic := glaring(t, 260, 200, 8, 5)
	steps := []float64{-5, -2, -0.5, 0, 0.1, 1.3, 2.5, 4.5, 5}
	if testing.Short() {
		steps = []float64{-2, 0, 2.5}
	}
	for _, detector := range []processing.Detector{
		processing.DetectNetwork, processing.DetectClassic, processing.DetectJoined,
	} {
		var before []processing.Finding
		count := 0
		for _, sensitivity := range steps {
			p := processing.DefaultParams()
			p.Detector, p.Sensitivity = detector, sensitivity
			found := detect(t, pic, p, processing.Options{})
			for _, f := range before {
				kept := false
				for _, r := range f.Runs {
					for x := r.X0; x < r.X1; x++ {
						kept = kept || found.Mask.Pix[r.Y*found.Mask.Width+x] >= processing.MaskLevel
					}
				}
				if !kept {
					t.Errorf("detector %d: the sensitivity %g loses the finding at %.0f, %.0f", detector, sensitivity, f.X, f.Y)
				}
			}
			before = found.Findings
			count += len(before)
		}
		if count == 0 {
			t.Errorf("detector %d found nothing: the test shows nothing", detector)
		}
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	s, _ := processing.SpecByID("sensitivity")
	for _, stop := range s.Stops {
		v, err := s.Parse(stop.ID)
		if err != nil || v != stop.Value || s.Check(v) != nil {
			t.Errorf("%s gave %g, %v", stop.ID, v, err)
		}
	}
	if _, err := s.Parse("everything"); err == nil {
		t.Error("a stop that does not exist was accepted")
	}
}
