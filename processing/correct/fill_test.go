package correct_test

import (
	"math"
	"testing"

	"blik/processing"
	"blik/processing/correct"
)

// clippedDiscs returns a copy of the picture with white discs at the given places, and the mask of the discs.
func clippedDiscs(pic *processing.Picture, radius float64, places ...[2]int) (*processing.Picture, *processing.Mask) {
	out := clonePicture(pic)
	m := marked(pic.Width, pic.Height, func(x, y int) bool {
		for _, p := range places {
			if math.Hypot(float64(x-p[0]), float64(y-p[1])) <= radius {
				return true
			}
		}
		return false
	})
	for i, v := range m.Pix {
		for k := range pic.Channels {
			if v != 0 {
				setValue(out, i*pic.Channels+k, 1)
			}
		}
	}
	return out, m
}

// An edge continues through the middle of a hole that is deeper than the usual squares for the direction of strokes.
func TestCorrectContinuesEdgesAcrossDeepHoles(t *testing.T) {
	t.Parallel()
	const w, h, edge, radius = 90, 80, 45, 11
	clean := texture(w, h, 3, 8, processing.NewMask(w, h), 4)
	for i := range w * h {
		for k := range 3 {
			level := 0.2
			if i%w >= edge {
				level = 0.6
			}
			setValue(clean, i*3+k, level+0.03*value(clean, i*3+k))
		}
	}
	glare, mask := clippedDiscs(clean, radius, [2]int{edge, 40})
	got, _ := correctOn(t, glare, mask, with(processing.MethodSubtract), correct.Options{})
	var sum, n float64
	for y := 36; y <= 44; y++ {
		for x := edge - 6; x < edge+6; x++ {
			i := (y*w + x) * 3
			d := value(got, i) - value(clean, i)
			sum, n = sum+d*d, n+1
		}
	}
	rms := math.Sqrt(sum / n)
	t.Logf("root mean square error about the edge: %.4f", rms)
	if rms > deepEdgeError {
		t.Errorf("the error about the edge is %.4f, want at most %g", rms, deepEdgeError)
	}
}

// deepEdgeError lies between the errors with large squares and with small ones.
const deepEdgeError = 0.11

// Fills by patches receive only the grain that the patches did not bring, and narrow gaps less of it than wide ones.
func TestCorrectGrainWhereItIsSeen(t *testing.T) {
	t.Parallel()
	const w, h = 120, 90
	clean := texture(w, h, 3, 8, processing.NewMask(w, h), 9)
	added := func(radius float64, m processing.Method) float64 {
		glare, mask := clippedDiscs(clean, radius, [2]int{40, 40}, [2]int{80, 45})
		p := with(m)
		p.Halo = 0
		p.Grain = 100
		rough, _ := correctOn(t, glare, mask, p, correct.Options{})
		p.Grain = 0
		smooth, _ := correctOn(t, glare, mask, p, correct.Options{})
		var sum, n float64
		for i, v := range mask.Pix {
			if v != 0 {
				sum, n = sum+math.Abs(value(rough, i*3)-value(smooth, i*3)), n+1
			}
		}
		return sum / n
	}
	narrow, wide := added(1, processing.MethodSubtract), added(8, processing.MethodSubtract)
	patches := added(8, processing.MethodExemplar)
	t.Logf("grain: narrow %.4f, wide %.4f, by patches %.4f", narrow, wide, patches)
	if narrow > wide/2 {
		t.Errorf("a narrow gap gets grain of %.4f, a wide one %.4f", narrow, wide)
	}
	if patches < wide/4 || patches > 3*wide/4 {
		t.Errorf("a fill by patches gets grain of %.4f, a smooth one %.4f", patches, wide)
	}
}
