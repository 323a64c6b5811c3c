package processing

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// adobe and prophoto convert linear light of Adobe RGB (1998) and ROMM RGB to that of sRGB.
func adobe() *[9]float64 {
	return &[9]float64{1.39835574, -0.39835574, 0, 0, 1, 0, 0, -0.04292897, 1.04292897}
}

func prophoto() *[9]float64 {
	return &[9]float64{
		2.03438610, -0.72763580, -0.30675030, -0.22882674, 1.23175390, -0.00292716, -0.00856509, -0.15327305, 1.16183814,
	}
}

// TestInSRGB compares with a computation in floats, for all kinds of samples and sizes.
func TestInSRGB(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for i, size := range [][2]int{{1, 1}, {3, 1}, {37, 53}, {301, 223}} {
		n := 3 * size[0] * size[1]
		m := adobe()
		if i%2 != 0 {
			m = prophoto()
		}
		eight := &Picture{Width: size[0], Height: size[1], Channels: 3, Transfer: TransferGamma22, ToSRGB: m}
		deep, floats := *eight, *eight
		for k := range n {
			v := r.Float64()
			if k%6 > 2 { // neutral
				v = float64(k/6%256) / 255
			}
			eight.U8 = append(eight.U8, uint8(v*255))
			deep.U16 = append(deep.U16, uint16(v*65535))
			floats.F32 = append(floats.F32, float32(float64(deep.U16[k])/65535))
		}
		for _, p := range []*Picture{eight, &deep, &floats} {
			got, err := p.InSRGB(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if err := got.Validate(); err != nil || got.ToSRGB != nil || got.Width != p.Width || got.Depth() == 32 {
				t.Fatalf("%d bits: %d bits of %d × %d, primaries %v, %v", p.Depth(), got.Depth(), got.Width, got.Height,
					got.ToSRGB, err)
			}
			checkLight(t, p, got)
		}
		if got, _ := floats.InSRGB(context.Background()); i > 0 {
			same, _ := deep.InSRGB(context.Background())
			for k, v := range got.U16 {
				if v != same.U16[k] {
					t.Fatalf("sample %d is %d of floats, %d of 16 bits", k, v, same.U16[k])
				}
			}
		}
	}
}

// checkLight compares the light of got with that of p.
func checkLight(t *testing.T, p, got *Picture) {
	t.Helper()
	sample := func(p *Picture, i int) float64 {
		switch {
		case p.U8 != nil:
			return float64(p.U8[i]) / 255
		case p.U16 != nil:
			return float64(p.U16[i]) / 65535
		default:
			return float64(p.F32[i])
		}
	}
	for i := 0; i < 3*p.Width*p.Height; i += 3 {
		var light [3]float64
		for k := range light {
			light[k] = p.Linear(sample(p, i+k))
		}
		neutral := light[0] == light[1] && light[1] == light[2]
		for c := range 3 {
			want := 0.0
			for k, l := range light {
				want += p.ToSRGB[3*c+k] * l
			}
			want = min(max(want, 0), 1)
			most := 3.0 / 65535
			if got.U8 != nil {
				// Half a level, and what remains of it in 16 bits of light in dark colours.
				want, most = TransferSRGB.Encode(want), 0.6/255
			}
			if v := sample(got, i+c); math.Abs(v-want) > most {
				t.Fatalf("%d bits: light %v has %g in channel %d, want %g", p.Depth(), light, v, c, want)
			}
			if neutral && sample(got, i+c) != sample(got, i) {
				t.Fatalf("%d bits: grey of %g did not stay grey", p.Depth(), light)
			}
		}
	}
}

func TestInSRGBLimits(t *testing.T) {
	t.Parallel()
	plain := &Picture{Width: 1, Height: 1, Channels: 3, U8: []uint8{1, 2, 3}}
	if got, err := plain.InSRGB(context.Background()); got != plain || err != nil {
		t.Errorf("a picture without primaries was converted: %v, %v", got, err)
	}
	nan := float32(math.NaN())
	wild := &Picture{Width: 2, Height: 1, Channels: 3, F32: []float32{nan, -4, 7, float32(math.Inf(1)), 0, nan},
		ToSRGB: prophoto()}
	got, err := wild.InSRGB(context.Background())
	if err != nil || got.Validate() != nil || got.U16[3] != 65535 || got.U16[4] != 0 {
		t.Errorf("samples without bounds became %v, %v", got.U16, err)
	}
	big := &Picture{Width: 1000, Height: 1000, Channels: 3, U8: make([]uint8, 3e6), ToSRGB: adobe()}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := big.InSRGB(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for name, p := range map[string]*Picture{
		"grey":     {Width: 1, Height: 1, Channels: 1, U8: []uint8{1}, ToSRGB: adobe()},
		"NaN":      {Width: 1, Height: 1, Channels: 3, U8: []uint8{1, 2, 3}, ToSRGB: &[9]float64{8: math.NaN()}},
		"infinite": {Width: 1, Height: 1, Channels: 3, U8: []uint8{1, 2, 3}, ToSRGB: &[9]float64{math.Inf(-1)}},
	} {
		if p.Validate() == nil {
			t.Errorf("%s: such primaries are accepted", name)
		}
	}
	if part := big.Part(3, 4, 5, 6); part.ToSRGB != big.ToSRGB {
		t.Error("a part has lost its primaries")
	}
}
