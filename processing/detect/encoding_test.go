package detect_test

import (
	"math"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// recoded returns pic, which is 8-bit sRGB, as 16 bits of the same light encoded by the inverse of curve.
func recoded(pic *processing.Picture, linear, encode func(float64) float64) *processing.Picture {
	const steps = 4096
	out := &processing.Picture{Width: pic.Width, Height: pic.Height, Channels: pic.Channels,
		U16: make([]uint16, len(pic.U8))}
	for i := range steps + 1 {
		out.Curve = append(out.Curve, float32(linear(float64(i)/steps)))
	}
	var table [256]uint16
	for i := range table {
		table[i] = uint16(encode(processing.TransferSRGB.Linear(float64(i)/255))*65535 + 0.5)
	}
	for i, v := range pic.U8 {
		out.U16[i] = table[v]
	}
	return out
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

// TestDetectInAnyEncoding detects glare on the same painting in other encodings. The light is the same except for
// rounding, and so must be the mask except for a few borderline pixels.
func TestDetectInAnyEncoding(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	pic := testpic.RGB(t, testpic.Shared(t, "glare-dev/d02_goya_scatter_glare.png"))
	want := detected(t, pic).Mask
	area := want.Area()
	if area == 0 {
		t.Fatal("nothing is found on the painting itself")
	}
	pow := func(g float64) func(float64) float64 { return func(x float64) float64 { return math.Pow(x, g) } }
	for _, c := range []struct {
		name string
		pic  *processing.Picture
		// most is how many pixels the masks may differ by, in 1/1000 of the mask. Samples that were rounded differently
		// move findings over the threshold; in 8-bit CMYK black ink leaves the fewest levels.
		most int
	}{
		{"linear", recoded(pic, pow(1), pow(1)), 5},
		{"gamma 1.8", recoded(pic, pow(1.8), pow(1/1.8)), 5},
		{"gamma 2.2", recoded(pic, pow(2.2), pow(1/2.2)), 5},
		{"L*", recoded(pic, func(x float64) float64 {
			if x <= 0.08 {
				return x * 100 / 903.2963
			}
			return math.Pow((x+0.16)/1.16, 3)
		}, func(y float64) float64 {
			if y <= 216./24389 {
				return y * 9.032963
			}
			return 1.16*math.Cbrt(y) - 0.16
		}), 5},
		{"Adobe RGB of 16 bits", wideGamut(pic, 2.2, processing.TransferGamma22,
			[9]float64{0.7151256, 0.2848744, 0, 0, 1, 0, 0, 0.0411619, 0.9588381},
			[9]float64{1.39835574, -0.39835574, 0, 0, 1, 0, 0, -0.04292897, 1.04292897}), 5},
		{"ProPhoto RGB of 16 bits", prophoto(pic), 5},
		{"CMY of 8 bits", inks(pic, 0, 8), 0},
		{"CMYK of 16 bits", inks(pic, 0.8, 16), 5},
		{"CMYK of 8 bits", inks(pic, 0.8, 8), 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := detected(t, c.pic).Mask
			differ := 0
			for i := range got.Pix {
				if (got.Pix[i] >= processing.MaskLevel) != (want.Pix[i] >= processing.MaskLevel) {
					differ++
				}
			}
			t.Logf("%d of %d pixels differ", differ, area)
			if differ*1000 > c.most*area {
				t.Errorf("the mask differs in %d pixels, it has %d", differ, area)
			}
		})
	}
}

// prophoto returns pic, which is 8-bit sRGB, as 16 bits of ProPhoto RGB.
func prophoto(pic *processing.Picture) *processing.Picture {
	return wideGamut(pic, 1.8, processing.TransferGamma18,
		[9]float64{0.529317, 0.330092, 0.140588, 0.098368, 0.873465, 0.028169, 0.016879, 0.117663, 0.865457},
		[9]float64{2.03438610, -0.72763580, -0.30675030, -0.22882674, 1.23175390, -0.00292716, -0.00856509,
			-0.15327305, 1.16183814})
}

// inks returns an RGB picture as CMYK; black is the share of what all three inks have in common that is printed in
// black.
func inks(pic *processing.Picture, black float64, depth int) *processing.Picture {
	out := &processing.Picture{Width: pic.Width, Height: pic.Height, Channels: 4}
	for i := 0; i < len(pic.U8); i += 3 {
		r, g, b := float64(pic.U8[i])/255, float64(pic.U8[i+1])/255, float64(pic.U8[i+2])/255
		k := black * (1 - max(r, g, b))
		for _, v := range []float64{1 - r/(1-k), 1 - g/(1-k), 1 - b/(1-k), k} {
			if depth == 8 {
				out.U8 = append(out.U8, uint8(math.Round(v*255)))
			} else {
				out.U16 = append(out.U16, uint16(math.Round(v*65535)))
			}
		}
	}
	return out
}
