package cpu

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/testpic"
	"blik/processing"
)

// picture draws a picture of any depth and number of channels, with out-of-range floats among the samples.
func picture(t *rapid.T) *processing.Picture {
	w, h := size(t)
	p := &processing.Picture{Width: w, Height: h, Channels: rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels")}
	n := w * h * p.Channels
	switch rapid.SampledFrom([]int{8, 16, 32}).Draw(t, "depth") {
	case 8:
		p.U8 = noise[uint8](t, n, math.MaxUint8)
	case 16:
		p.U16 = noise[uint16](t, n, math.MaxUint16)
	default:
		p.F32 = make([]float32, n)
		odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -1e-9, 1.0000001, 1e-30}
		for i, v := range noise[uint16](t, n, math.MaxUint16) {
			p.F32[i] = float32(v)/50000 - 0.1
			if v%97 == 0 {
				p.F32[i] = odd[int(v)/97%len(odd)]
			}
		}
	}
	return p
}

// sampleOf is the sample of a channel without inks, of 0…255 or 0…65535: 0 is red or grey.
func sampleOf(p *processing.Picture, pixel, channel int) float64 {
	x, most := testpic.Sample(p, p.Channels*pixel+channel)
	if p.Channels == 4 {
		ink, _ := testpic.Sample(p, 4*pixel+3)
		x = math.Floor(((most-x)*(most-ink) + math.Floor(most/2)) / most)
	}
	return x
}

// slowColours are the planes for the network, a pixel at a time.
func slowColours(p *processing.Picture, t *processing.LuminanceTables) (rgb [3][]uint8) {
	for i := range p.Width * p.Height {
		for c := range rgb {
			channel := c
			if p.Channels == 1 {
				channel = 0
			}
			rgb[c] = append(rgb[c], t.Display[int(sampleOf(p, i, channel))])
		}
	}
	return rgb
}

// slowLuma is the arithmetic of processing.LuminanceTables, a pixel at a time.
func slowLuma(p *processing.Picture, t *processing.LuminanceTables) (y []uint16, v []uint8) {
	table := t.Linear16
	if p.U8 != nil {
		table = t.Linear8
	}
	// linear returns light and value of a channel: 0 is red or grey.
	linear := func(pixel, channel int) (light uint32, order float64) {
		x := sampleOf(p, pixel, channel)
		return uint32(table[int(x)]), x
	}
	for i := range p.Width * p.Height {
		if p.Channels == 1 {
			l, _ := linear(i, 0)
			y = append(y, uint16(l))
			v = append(v, uint8((uint32(t.Encode8[l])+uint32(t.Encode8[l]))>>1))
			continue
		}
		r, a := linear(i, 0)
		g, b := linear(i, 1)
		u, c := linear(i, 2)
		light := (processing.LuminanceRed*r + processing.LuminanceGreen*g + processing.LuminanceBlue*u + 32768) >> 16
		low := r
		if b <= a && b <= c {
			low = g
		} else if c <= a && c <= b {
			low = u
		}
		y = append(y, uint16(light))
		v = append(v, uint8((uint32(t.Encode8[light])+uint32(t.Encode8[low]))>>1))
	}
	return y, v
}

func TestLuma(t *testing.T) {
	transfers := []processing.Transfer{processing.TransferSRGB, processing.TransferLinear, processing.TransferGamma22}
	tables := map[[2]int]*processing.LuminanceTables{}
	for i, tr := range transfers {
		for _, depth := range []int{8, 16, 32} {
			tables[[2]int{depth, i}] = processing.NewLuminanceTables(depth, tr)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := picture(t)
		table := tables[[2]int{p.Depth(), rapid.IntRange(0, len(transfers)-1).Draw(t, "transfer")}]
		wantY, wantV := slowLuma(p, table)
		each(t, func(b *Backend) {
			y := empty(t, b, processing.U16, p.Width, p.Height)
			v := empty(t, b, processing.U8, p.Width, p.Height)
			must(t, b.Do(context.Background(), processing.Luminance{Y: y, V: v, Picture: p, Tables: table}))
			wantEqual(t, "Y", p.Width, down[uint16](t, y), wantY)
			wantEqual(t, "v", p.Width, down[uint8](t, v), wantV)
			var colours [3]processing.Plane
			for i := range colours {
				colours[i] = empty(t, b, processing.U8, p.Width, p.Height)
			}
			op := processing.Luminance{Y: y, V: v, Red: colours[0], Green: colours[1], Blue: colours[2], Picture: p,
				Tables: table}
			must(t, b.Do(context.Background(), op))
			wantEqual(t, "Y with colours", p.Width, down[uint16](t, y), wantY)
			for i, want := range slowColours(p, table) {
				wantEqual(t, "colour", p.Width, down[uint8](t, colours[i]), want)
				must(t, b.Upload(context.Background(), colours[i], processing.Samples{U8: make([]uint8, len(want))}))
			}
			op.Y, op.V = nil, nil
			must(t, b.Do(context.Background(), op))
			for i, want := range slowColours(p, table) {
				wantEqual(t, "colour alone", p.Width, down[uint8](t, colours[i]), want)
				colours[i].Release()
			}
			release(y, v)
		})
	})
}

// More pixels than in one of the pieces in which floats and inks are converted.
func TestLumaWide(t *testing.T) {
	for _, channels := range []int{3, 4} {
		for _, depth := range []int{8, 16, 32} {
			p := &processing.Picture{Width: 5003, Height: 9, Channels: channels}
			n := channels * p.Width * p.Height
			switch depth {
			case 8:
				p.U8 = make([]uint8, n)
			case 16:
				p.U16 = make([]uint16, n)
			default:
				p.F32 = make([]float32, n)
			}
			for i := range n {
				switch depth {
				case 8:
					p.U8[i] = uint8(i % 253)
				case 16:
					p.U16[i] = uint16(i * 97)
				default:
					p.F32[i] = float32(i%1009) / 1000
				}
			}
			table := p.Tables()
			wantY, wantV := slowLuma(p, table)
			b := New(Workers(2))
			y, v := empty(t, b, processing.U16, p.Width, p.Height), empty(t, b, processing.U8, p.Width, p.Height)
			must(t, b.Do(context.Background(), processing.Luminance{Y: y, V: v, Picture: p, Tables: table}))
			wantEqual(t, "Y", p.Width, down[uint16](t, y), wantY)
			wantEqual(t, "v", p.Width, down[uint8](t, v), wantV)
		}
	}
}
