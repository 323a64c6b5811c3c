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

// prophoto returns pic, which is 8-bit sRGB, as 16 bits of ProPhoto RGB.
func prophoto(pic *processing.Picture) *processing.Picture {
	return wideGamut(pic, 1.8, processing.TransferGamma18,
		[9]float64{0.529317, 0.330092, 0.140588, 0.098368, 0.873465, 0.028169, 0.016879, 0.117663, 0.865457},
		[9]float64{2.03438610, -0.72763580, -0.30675030, -0.22882674, 1.23175390, -0.00292716, -0.00856509,
			-0.15327305, 1.16183814})
}

// wideGamut returns pic, which is 8-bit sRGB, as 16 bits of other primaries: to converts linear light from sRGB to
// these, back the other way.
func wideGamut(pic *processing.Picture, gamma float64, curve processing.Transfer, to, back [9]float64,
) *processing.Picture {
	out := &processing.Picture{Width: pic.Width, Height: pic.Height, Channels: 3, Transfer: curve, ToSRGB: &back,
		U16: make([]uint16, len(pic.U8))}
	for i := 0; i < len(pic.U8); i += 3 {
		var light [3]float64
		for k := range light {
			light[k] = processing.TransferSRGB.Linear(float64(pic.U8[i+k]) / 255)
		}
		for c := range 3 {
			v := to[3*c]*light[0] + to[3*c+1]*light[1] + to[3*c+2]*light[2]
			out.U16[i+c] = uint16(math.Round(65535 * math.Pow(min(max(v, 0), 1), 1/gamma)))
		}
	}
	return out
}
