package report

import (
	"context"

	"blik/processing"
)

// The outline leaves gap pixels free around a glint, so that the glint itself stays to be seen.
const gap = 2

// Marked returns an 8-bit RGB copy of pic for looking at, in which everything in the mask is outlined in red. The
// outline is a pixel wide, more on large pictures, and lies outside the mask.
func Marked(ctx context.Context, pic *processing.Picture, mask *processing.Mask) (*processing.Picture, error) {
	out, err := eightBit(ctx, pic)
	if err != nil {
		return nil, err
	}
	w, h := pic.Width, pic.Height
	thick := 1 + max(w, h)/3000
	free, err := widen(ctx, mask, gap)
	if err != nil {
		return nil, err
	}
	line, err := widen(ctx, mask, gap+thick)
	if err != nil {
		return nil, err
	}
	for i := range w * h {
		if line[i] && !free[i] {
			copy(out.U8[3*i:3*i+3], []uint8{255, 0, 0})
		}
	}
	return out, nil
}

// widen says for each pixel whether the mask holds one within r rows and columns. Masks are sparse, so it paints the
// widened runs of the mask one by one.
func widen(ctx context.Context, m *processing.Mask, r int) ([]bool, error) {
	w, h := m.Width, m.Height
	out := make([]bool, w*h)
	for y := range h {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := m.Pix[y*w : (y+1)*w]
		for x := 0; x < w; x++ {
			if row[x] < processing.MaskLevel {
				continue
			}
			x0 := max(x-r, 0)
			for x < w && row[x] >= processing.MaskLevel {
				x++
			}
			x1 := min(x+r, w)
			for v := max(y-r, 0); v <= min(y+r, h-1); v++ {
				line := out[v*w+x0 : v*w+x1]
				for i := range line {
					line[i] = true
				}
			}
		}
	}
	return out, nil
}

// eightBit converts to 8-bit RGB. Samples in linear light get the sRGB curve, without which they would look black; others
// are cut to their upper byte.
func eightBit(ctx context.Context, pic *processing.Picture) (*processing.Picture, error) {
	w, c := pic.Width, pic.Channels
	out := &processing.Picture{Width: w, Height: pic.Height, Channels: 3, U8: make([]uint8, 3*w*pic.Height)}
	var table [65536]uint8
	for i := range table {
		table[i] = uint8(i >> 8)
		if pic.Transfer == processing.TransferLinear {
			table[i] = uint8(processing.TransferSRGB.Encode(float64(i)/65535)*255 + 0.5)
		}
	}
	sample := func(i int) uint8 {
		switch {
		case pic.U8 != nil:
			return table[uint16(pic.U8[i])*257]
		case pic.U16 != nil:
			return table[pic.U16[i]]
		default:
			v := pic.F32[i]
			if !(v > 0) { // NaN too
				return table[0]
			}
			return table[uint16(min(v, 1)*65535+0.5)]
		}
	}
	for y := range pic.Height {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for x := range w {
			i := y*w + x
			dst := out.U8[3*i : 3*i+3]
			if c == 1 {
				v := sample(i)
				dst[0], dst[1], dst[2] = v, v, v
				continue
			}
			dst[0], dst[1], dst[2] = sample(3*i), sample(3*i+1), sample(3*i+2)
		}
	}
	return out, nil
}
