package report

import (
	"context"

	"blik/app/colour"
	"blik/app/thumbnail"
	"blik/processing"
)

// The outline leaves gap pixels free around a glint, so that the glint itself stays to be seen.
const gap = 2

// Marked returns an 8-bit RGB copy of pic for looking at, in which everything in the mask is outlined in red. The
// outline is a pixel wide, more on large pictures, and lies outside the mask. A nil profile stands for what a picture
// without one is taken for.
func Marked(ctx context.Context, pic *processing.Picture, profile *colour.Profile, mask *processing.Mask) (*processing.Picture, error) {
	out, err := eightBit(ctx, pic, thumbnail.Screen(pic, profile))
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

// eightBit converts to 8-bit RGB as the screen shows it.
func eightBit(ctx context.Context, pic *processing.Picture, screen *colour.Screen) (*processing.Picture, error) {
	w := pic.Width
	out := &processing.Picture{Width: w, Height: pic.Height, Channels: 3, U8: make([]uint8, 3*w*pic.Height)}
	row := make([]uint32, w)
	for y := range pic.Height {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		screen.Row(row, pic, y, 0)
		dst := out.U8[3*y*w : 3*(y+1)*w]
		for x, v := range row {
			dst[3*x], dst[3*x+1], dst[3*x+2] = uint8(v), uint8(v>>8), uint8(v>>16)
		}
	}
	return out, nil
}
