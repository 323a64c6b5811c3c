//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"image"
	"slices"
	"testing"
	"time"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// TestPartTimes prints how long it takes to search what a window of 1600 × 1000 shows at 1:1, as when a slider moves:
// BenchmarkPart of processing on the device.
func TestPartTimes(t *testing.T) {
	b := gpu(t)
	testpic.Long(t)
	pic := glaring(t, 2400, 1900, 8, 1, 1)
	for _, mode := range []processing.Mode{processing.Manual, processing.Adaptive} {
		p := processing.DefaultParams()
		p.Mode = mode
		var took []float64
		for i := range 25 {
			start := time.Now()
			p.Window = 11 + 2*(i%5)
			part, _, err := detect.NewPart(pic, p, detect.Options{Network: testpic.Network()}, image.Rect(620, 520, 1770, 1370))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := detect.Detect(background, b, part.Picture, p, part.Options); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(start).Seconds()*1e3)
		}
		first := took[0]
		slices.Sort(took)
		t.Logf("%v: first %.1f ms, median %.1f, largest %.1f", mode, first, took[len(took)/2], took[len(took)-1])
	}
}
