package synth

import (
	"bytes"
	"context"
	"math"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

func vary(
	t *testing.T, p *processing.Picture, m *processing.Mask, v Variation,
) (*processing.Picture, *processing.Mask) {
	t.Helper()
	out, mask, err := Vary(context.Background(), p, m, v)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Validate(); err != nil {
		t.Fatal(err)
	}
	if mask.Width != out.Width || mask.Height != out.Height || len(mask.Pix) != out.Width*out.Height {
		t.Fatalf("mask of %d × %d for a picture of %d × %d", mask.Width, mask.Height, out.Width, out.Height)
	}
	return out, mask
}

func TestVaryNothing(t *testing.T) {
	t.Parallel()
	p := pattern(31, 17, 3, 8, processing.TransferSRGB)
	m := processing.NewMask(31, 17)
	m.Pix[40], m.Pix[41] = 255, 127
	out, mask := vary(t, p, m, Variation{})
	if !bytes.Equal(out.U8, p.U8) || mask.Pix[40] != 255 || mask.Area() != 1 {
		t.Error("the zero variation changes something")
	}
}

func TestVaryHalf(t *testing.T) {
	t.Parallel()
	// A row of five grey pixels in linear 16 bit: two means and the odd one out; the mask is the majority.
	p := &processing.Picture{Width: 5, Height: 1, Channels: 1, Transfer: processing.TransferLinear,
		U16: []uint16{100, 200, 3000, 5000, 7}}
	m := &processing.Mask{Width: 5, Height: 1, Pix: []uint8{255, 0, 0, 0, 255}}
	out, mask := vary(t, p, m, Variation{Scale: 0.5})
	for i, want := range []uint16{150, 4000, 7} {
		if out.U16[i] != want {
			t.Errorf("sample %d is %d, want %d", i, out.U16[i], want)
		}
	}
	if !bytes.Equal(mask.Pix, []uint8{255, 0, 255}) {
		t.Errorf("mask %v", mask.Pix)
	}
}

func TestVaryDouble(t *testing.T) {
	t.Parallel()
	p := &processing.Picture{Width: 2, Height: 2, Channels: 1, Transfer: processing.TransferLinear,
		F32: []float32{0.5, 0.5, 0.5, 0.5}}
	m := &processing.Mask{Width: 2, Height: 2, Pix: []uint8{255, 0, 0, 0}}
	out, mask := vary(t, p, m, Variation{Scale: 2})
	for i, v := range out.F32 {
		if math.Abs(float64(v)-0.5) > 1e-6 {
			t.Errorf("a constant picture got sample %d at %g", i, v)
		}
	}
	if mask.Area() != 4 || mask.Pix[0] != 255 || mask.Pix[5] != 255 {
		t.Errorf("mask %v", mask.Pix)
	}
	// Cubic convolution keeps straight lines straight away from the border.
	ramp := &processing.Picture{Width: 16, Height: 1, Channels: 1, Transfer: processing.TransferLinear,
		F32: make([]float32, 16)}
	for i := range ramp.F32 {
		ramp.F32[i] = float32(i) / 20
	}
	out, _ = vary(t, ramp, processing.NewMask(16, 1), Variation{Scale: 2})
	for x := 4; x < 28; x++ {
		want := (float64(x)+0.5)/2 - 0.5
		if got := float64(out.F32[x]) * 20; math.Abs(got-want) > 1e-4 {
			t.Errorf("x = %d: %g, want %g", x, got, want)
		}
	}
}

// With the clean picture, the truth of a blurred picture is close to that of a blurred rendering; the two differ where
// the sensor clipped before the blur.
func TestVaryTruthAfterBlur(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	clean := pattern(400, 300, 3, 16, processing.TransferSRGB)
	o := preset(t, "unclipped")
	o.Seed, o.Count, o.NoiseGain, o.NoiseRead = 4, 50, 0, 0
	o.Peak = Range{0.3, 0.4}
	glare, mask, _ := render(t, clean, o)
	o.PictureBlur = 1.2
	_, want, _ := render(t, clean, o)
	_, got := vary(t, glare, mask, Variation{BlurSigma: 1.2, Clean: clean})
	wrong := 0
	for i := range want.Pix {
		if want.Pix[i] != got.Pix[i] {
			wrong++
		}
	}
	if wrong*50 > want.Area() || want.Area() == mask.Area() {
		t.Errorf("%d of %d pixels differ (sharp: %d)", wrong, want.Area(), mask.Area())
	}
	if _, kept := vary(t, glare, mask, Variation{BlurSigma: 1.2}); !bytes.Equal(kept.Pix, mask.Pix) {
		t.Error("without the clean picture a blur moves the mask")
	}
}

func TestVaryDepthGreyAndJPEG(t *testing.T) {
	t.Parallel()
	p := pattern(33, 20, 3, 8, processing.TransferSRGB)
	m := processing.NewMask(33, 20)
	wide, _ := vary(t, p, m, Variation{Depth: 16})
	for i, v := range p.U8 {
		if wide.U16[i] != uint16(v)*257 {
			t.Fatalf("sample %d: %d became %d", i, v, wide.U16[i])
		}
	}
	grey, _ := vary(t, p, m, Variation{Grey: true, Depth: 32})
	lin := func(v uint8) float64 { return processing.TransferSRGB.Linear(float64(v) / 255) }
	for i, v := range grey.F32 {
		want := processing.TransferSRGB.Encode(0.2126*lin(p.U8[3*i]) + 0.7152*lin(p.U8[3*i+1]) +
			0.0722*lin(p.U8[3*i+2]))
		if grey.Channels != 1 || math.Abs(float64(v)-want) > 1e-4 {
			t.Fatalf("pixel %d: %g, want %g", i, v, want)
		}
	}
	for _, v := range []Variation{{JPEGQuality: 90}, {JPEGQuality: 90, Grey: true}} {
		packed, _ := vary(t, p, m, v)
		plain, _ := vary(t, p, m, Variation{Grey: v.Grey})
		var sum float64
		for i := range plain.U8 {
			sum += math.Abs(float64(plain.U8[i]) - float64(packed.U8[i]))
		}
		if mean := sum / float64(len(plain.U8)); mean == 0 || mean > 6 {
			t.Errorf("JPEG moved the samples by %.2f on average", mean)
		}
	}
}

func TestWrongVariations(t *testing.T) {
	t.Parallel()
	p := pattern(8, 8, 3, 8, processing.TransferSRGB)
	m := processing.NewMask(8, 8)
	for name, v := range map[string]Variation{
		"scale":           {Scale: 3},
		"blur":            {BlurSigma: -1},
		"NaN blur":        {BlurSigma: math.NaN()},
		"depth":           {Depth: 12},
		"JPEG of 16 bits": {Depth: 16, JPEGQuality: 90},
		"JPEG quality":    {JPEGQuality: -3},
		"clean":           {Clean: pattern(7, 8, 3, 8, processing.TransferSRGB)},
	} {
		if _, _, err := Vary(context.Background(), p, m, v); err == nil {
			t.Errorf("wrong %s is accepted", name)
		}
	}
	if _, _, err := Vary(context.Background(), p, processing.NewMask(8, 7), Variation{}); err == nil {
		t.Error("a mask of another size is accepted")
	}
}
