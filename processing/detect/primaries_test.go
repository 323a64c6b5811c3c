package detect_test

import (
	"math"
	"reflect"
	"testing"

	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// A glint on saturated paint is followed alike in every encoding of the same colours, but not if its primaries are
// taken for those of sRGB.
func TestTouchInOtherPrimaries(t *testing.T) {
	t.Parallel()
	const side = 64
	be, p := cpu.New(), processing.DefaultParams()
	mistaken := 0
	for k := range 12 {
		ground, light := [3]float64{170, 120 + 4*float64(k), 10}, [3]float64{225, 215, 60 + 10*float64(k)}
		pic := &processing.Picture{Width: side, Height: side, Channels: 3}
		for i := range side * side {
			d := math.Hypot(float64(i%side)-32, float64(i/side)-31)
			share := math.Exp(-d * d / (8 + float64(k)))
			for c := range 3 {
				pic.U8 = append(pic.U8, uint8(math.Round(ground[c]+share*(light[c]-ground[c]))))
			}
		}
		o := detect.TouchOptions{X: 32, Y: 31, Slack: 3}
		touch := func(pic *processing.Picture) []processing.Run {
			got, err := detect.Touch(t.Context(), be, pic, p, o)
			if err != nil {
				t.Fatal(err)
			}
			return got.Runs
		}
		want, wide := touch(pic), prophoto(pic)
		if got := touch(wide); !reflect.DeepEqual(got, want) {
			t.Errorf("ground %v, light %v: %v, want %v", ground, light, got, want)
		}
		wide.ToSRGB = nil
		if !reflect.DeepEqual(touch(wide), want) {
			mistaken++
		}
	}
	if mistaken == 0 {
		t.Error("the glints are followed alike with wrong primaries: they show nothing")
	}
}
